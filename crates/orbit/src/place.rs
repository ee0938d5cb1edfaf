//! Places on the Earth and what is seen from them.

use crate::error::OrbitError;
use crate::vector::{Vec3, angle_rad, dot, minus, norm};
use serde::{Deserialize, Serialize};

/// WGS84 (NIMA TR8350.2): equatorial radius and flattening.
pub const EARTH_RADIUS_KM: f64 = 6378.137;
const FLATTENING: f64 = 1.0 / 298.257_223_563;
const ECCENTRICITY_SQUARED: f64 = FLATTENING * (2.0 - FLATTENING);
/// Mean radius R1 of the same ellipsoid (Moritz 1980), for great circles.
const MEAN_RADIUS_KM: f64 = 6371.0088;

/// A place by its WGS84 coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// Geodetic latitude, north positive.
    pub lat_deg: f64,
    /// Longitude, east positive.
    pub lon_deg: f64,
    /// Height above the ellipsoid.
    #[serde(default)]
    pub height_m: f64,
}

impl Place {
    /// The place in ECEF.
    pub fn ecef_km(&self) -> Vec3 {
        let (sin_lat, cos_lat) = self.lat_deg.to_radians().sin_cos();
        let (sin_lon, cos_lon) = self.lon_deg.to_radians().sin_cos();
        let height_km = self.height_m / 1e3;
        let normal = EARTH_RADIUS_KM / (1.0 - ECCENTRICITY_SQUARED * sin_lat * sin_lat).sqrt();
        let across = (normal + height_km) * cos_lat;
        let z = (normal * (1.0 - ECCENTRICITY_SQUARED) + height_km) * sin_lat;
        [across * cos_lon, across * sin_lon, z]
    }

    /// The place of an ECEF position (Bowring 1976, iterated): below 1e-9 degrees from the ground
    /// to beyond the geostationary orbit. On the axis the longitude is 0.
    pub fn from_ecef_km([x, y, z]: Vec3) -> Self {
        let across = x.hypot(y);
        let minor = 1.0 - FLATTENING;
        let mut reduced = z.atan2(minor * across); // parametric latitude
        let mut lat = reduced;
        for _ in 0..3 {
            let (sin, cos) = reduced.sin_cos();
            let second = ECCENTRICITY_SQUARED / (minor * minor); // e'^2
            let up = z + second * minor * EARTH_RADIUS_KM * sin.powi(3);
            let out = across - ECCENTRICITY_SQUARED * EARTH_RADIUS_KM * cos.powi(3);
            lat = up.atan2(out);
            reduced = (minor * lat.sin()).atan2(lat.cos());
        }
        let (sin, cos) = lat.sin_cos();
        // Height along the normal; this form holds at the poles too.
        let root = (1.0 - ECCENTRICITY_SQUARED * sin * sin).sqrt();
        let height_km = across * cos + z * sin - EARTH_RADIUS_KM * root;
        Self {
            lat_deg: lat.to_degrees(),
            lon_deg: y.atan2(x).to_degrees(),
            height_m: height_km * 1e3,
        }
    }

    /// Length of the great circle to another place on a sphere of the mean radius; up to 0.6 %
    /// off the geodesic. Heights do not count.
    pub fn great_circle_km(&self, other: &Self) -> f64 {
        angle_rad(self.direction(), other.direction()) * MEAN_RADIUS_KM
    }

    fn direction(&self) -> Vec3 {
        let (sin_lat, cos_lat) = self.lat_deg.to_radians().sin_cos();
        let (sin_lon, cos_lon) = self.lon_deg.to_radians().sin_cos();
        [cos_lat * cos_lon, cos_lat * sin_lon, sin_lat]
    }

    /// # Errors
    /// [`OrbitError::OutOfRange`] for coordinates that are none, or a height that no terminal has.
    pub fn check(&self) -> Result<(), OrbitError> {
        OrbitError::check("lat_deg", self.lat_deg, -90.0..=90.0)?;
        OrbitError::check("lon_deg", self.lon_deg, -180.0..=360.0)?;
        OrbitError::check("height_m", self.height_m, -500.0..=100_000.0)
    }
}

/// Where something stands in the sky.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// From north through east, 0 to 360; in the zenith 0.
    pub azimuth_deg: f64,
    /// Above the horizontal of the ellipsoid; no refraction.
    pub elevation_deg: f64,
    /// Straight-line distance.
    pub range_km: f64,
}

/// A place with its axes, ready to look at many satellites. At a pole north is where the place's
/// longitude points: away from its meridian at the north pole, along it at the south pole.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    /// Position in ECEF.
    pub ecef_km: Vec3,
    /// The direction that is up, the normal of the ellipsoid.
    pub up: Vec3,
    east: Vec3,
    north: Vec3,
}

impl Site {
    /// A place that was checked.
    ///
    /// # Errors
    /// As [`Place::check`].
    pub fn new(place: &Place) -> Result<Self, OrbitError> {
        place.check()?;
        let (sin_lat, cos_lat) = place.lat_deg.to_radians().sin_cos();
        let (sin_lon, cos_lon) = place.lon_deg.to_radians().sin_cos();
        Ok(Self {
            ecef_km: place.ecef_km(),
            up: place.direction(),
            east: [-sin_lon, cos_lon, 0.0],
            north: [-sin_lat * cos_lon, -sin_lat * sin_lon, cos_lat],
        })
    }

    /// Azimuth, elevation and range of an ECEF position.
    pub fn look(&self, ecef_km: Vec3) -> Look {
        let line = minus(ecef_km, self.ecef_km);
        let range_km = norm(line);
        let (east, north) = (dot(line, self.east), dot(line, self.north));
        let elevation = dot(line, self.up).atan2(east.hypot(north));
        // Far below a degree of azimuth at the zenith, the direction is noise.
        let azimuth = if east.hypot(north) < 1e-9 * range_km { 0.0 } else { east.atan2(north) };
        Look {
            azimuth_deg: azimuth.to_degrees().rem_euclid(360.0),
            elevation_deg: elevation.to_degrees(),
            range_km,
        }
    }

    /// Range and sine of the elevation: all that most questions need.
    pub(crate) fn sight(&self, ecef_km: Vec3) -> (f64, f64) {
        let line = minus(ecef_km, self.ecef_km);
        let range_km = norm(line);
        (range_km, dot(line, self.up) / range_km)
    }
}
