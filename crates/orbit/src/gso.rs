//! The geostationary arc as it is seen from a place.

use crate::place::Site;
use crate::vector::{Vec3, dot, minus, norm};

/// Radius of the geostationary orbit (ITU-R S.1503-3: 42,164.2 km).
const RADIUS_KM: f64 = 42_164.2;
/// Distance of neighbouring points of the arc; at an angle of 1° or more that errs by less than
/// 0.005°.
const SPACING_DEG: f64 = 0.2;

/// Directions from a place to the part of the arc that is above its horizon.
#[derive(Clone, Debug)]
pub struct GsoArc {
    directions: Vec<Vec3>,
}

impl GsoArc {
    /// The arc from a place; empty near the poles.
    pub fn seen_from(site: &Site) -> Self {
        let count = (360.0 / SPACING_DEG) as usize;
        let directions = (0..count).filter_map(|index| {
            let (sin, cos) = (index as f64 * SPACING_DEG).to_radians().sin_cos();
            let line = minus([RADIUS_KM * cos, RADIUS_KM * sin, 0.0], site.ecef_km);
            let length = norm(line);
            (dot(line, site.up) > 0.0).then(|| line.map(|part| part / length))
        });
        Self { directions: directions.collect() }
    }

    /// The smallest angle between the line to a position and the arc (the α of ITU-R S.1503), 180
    /// where no arc is above the horizon.
    pub fn angle_deg(&self, site: &Site, ecef_km: Vec3) -> f64 {
        let line = minus(ecef_km, site.ecef_km);
        let nearest = self.directions.iter().map(|direction| dot(*direction, line));
        let largest = nearest.fold(f64::NEG_INFINITY, f64::max);
        if self.directions.is_empty() {
            return 180.0;
        }
        (largest / norm(line)).clamp(-1.0, 1.0).acos().to_degrees()
    }
}
