//! When a satellite can be used from a place.

use crate::error::OrbitError;
use crate::frames::Earth;
use crate::gso::GsoArc;
use crate::place::{Look, Place, Site};
use crate::satellite::Satellite;
use crate::time::Utc;
use crate::vector::{Vec3, angle_rad, norm};

/// Turn of the Earth, rad/s (WGS84).
const EARTH_RAD_PER_S: f64 = 7.292_115e-5;
/// The bounds hold for elements that SGP4 perturbs and that drag quickens within weeks.
const MARGIN: f64 = 1.02;
/// The largest angle between the normal of the ellipsoid and the line from the Earth's centre.
const VERTICAL_DEG: f64 = 0.2;
/// No step is shorter: a pass of less than this may be missed.
const LEAST_STEP_S: f64 = 0.5;
/// Longest step beside the arc of the geostationary satellites: what is shorter may be missed.
const GSO_STEP_S: f64 = 2.0;
/// Rise and set are known to this.
const EDGE_S: f64 = 0.01;

/// What a place can use of the sky.
#[derive(Clone, Debug)]
pub struct View {
    /// The place.
    pub site: Site,
    sin_mask: f64,
    mask_deg: f64,
    gso: Option<(GsoArc, f64)>,
}

/// A satellite above the mask, without a break.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pass {
    /// Place of the satellite in its constellation.
    pub satellite: usize,
    /// From here; the start of the search if it was up already.
    pub rise: Utc,
    /// Highest here.
    pub culmination: Utc,
    /// So high.
    pub culmination_deg: f64,
    /// Until here; the end of the search if it stays up.
    pub set: Utc,
}

impl View {
    /// What is seen above `min_elevation_deg` and at least `gso_avoidance_deg` (0: no matter) from
    /// the geostationary arc.
    ///
    /// # Errors
    /// [`OrbitError::OutOfRange`] for a place or an angle that makes no sense.
    pub fn new(
        place: &Place,
        min_elevation_deg: f64,
        gso_avoidance_deg: f64,
    ) -> Result<Self, OrbitError> {
        let site = Site::new(place)?;
        OrbitError::check("min_elevation_deg", min_elevation_deg, 0.0..=90.0)?;
        OrbitError::check("gso_avoidance_deg", gso_avoidance_deg, 0.0..=90.0)?;
        let gso = (gso_avoidance_deg > 0.0).then(|| (GsoArc::seen_from(&site), gso_avoidance_deg));
        let (sin_mask, mask_deg) = (min_elevation_deg.to_radians().sin(), min_elevation_deg);
        Ok(Self { site, sin_mask, mask_deg, gso })
    }

    /// The range if the position can be used.
    pub fn sees(&self, ecef_km: Vec3) -> Option<f64> {
        let (range_km, sin_elevation) = self.site.sight(ecef_km);
        let clear = |(arc, least): &(GsoArc, f64)| arc.angle_deg(&self.site, ecef_km) >= *least;
        let usable = sin_elevation >= self.sin_mask && self.gso.as_ref().is_none_or(clear);
        usable.then_some(range_km)
    }

    /// The passes of one satellite between two moments. A satellite that decays sets.
    pub fn passes(&self, (index, satellite): (usize, &Satellite), from: Utc, to: Utc) -> Vec<Pass> {
        Search::new(self, satellite).passes(index, from, to)
    }
}

/// One satellite over one place. Far away it is looked at seldom: at central angle θ it cannot be
/// in view before (θ − θmax) / (largest angular rate), nor out of view before (θmax − θ) / rate.
struct Search<'a> {
    view: &'a View,
    satellite: &'a Satellite,
    /// Beyond this central angle it is below the mask for certain.
    outer_rad: f64,
    /// Within this one it is above the mask for certain.
    inner_rad: f64,
    rate_rad_per_s: f64,
}

impl<'a> Search<'a> {
    fn new(view: &'a View, satellite: &'a Satellite) -> Self {
        let axis_km = satellite.semi_major_axis_km();
        let e = satellite.elements().eccentricity;
        let per_s = satellite.elements().mean_motion * std::f64::consts::TAU / 86_400.0;
        // Angular rate at perigee: n (1 + e)² / (1 − e²)^1.5 (Vallado 2013, §2.2).
        let fastest = per_s * (1.0 + e).powi(2) / (1.0 - e * e).powf(1.5);
        let reach = |radius_km: f64, elevation_deg: f64| {
            let elevation = elevation_deg.to_radians();
            let ratio = norm(view.site.ecef_km) * elevation.cos() / radius_km;
            // Law of sines in the triangle Earth's centre, place, satellite.
            (ratio < 1.0).then(|| ratio.acos() - elevation)
        };
        let wobble_km = 30.0; // short-period terms of J2 stay below 10 km, drag lowers by some more
        let highest = axis_km * (1.0 + e) + wobble_km;
        let lowest = axis_km * (1.0 - e) - wobble_km;
        Self {
            view,
            satellite,
            outer_rad: reach(highest, view.mask_deg - VERTICAL_DEG).unwrap_or(0.0),
            inner_rad: reach(lowest, view.mask_deg + VERTICAL_DEG).unwrap_or(0.0),
            rate_rad_per_s: (fastest + EARTH_RAD_PER_S) * MARGIN,
        }
    }

    /// Whether it is seen, and for how long that cannot change.
    fn probe(&self, at: Utc) -> (bool, f64) {
        let Some(position) = self.satellite.ecef_km(&Earth::at(at)) else {
            return (false, 600.0); // what has decayed does not come back
        };
        let theta = angle_rad(position, self.view.site.ecef_km);
        let seen = theta <= self.outer_rad && self.view.sees(position).is_some();
        let away = if theta > self.outer_rad {
            theta - self.outer_rad
        } else if seen {
            self.inner_rad - theta
        } else {
            0.0
        };
        let near_arc = self.view.gso.is_some() && theta <= self.outer_rad;
        let most = if near_arc { GSO_STEP_S } else { f64::INFINITY };
        (seen, (away / self.rate_rad_per_s).clamp(LEAST_STEP_S, most))
    }

    fn passes(&self, index: usize, from: Utc, to: Utc) -> Vec<Pass> {
        let mut passes = Vec::new();
        let (mut at, mut rise) = (from, None);
        let (mut seen, mut hold_s) = self.probe(from);
        loop {
            if seen && rise.is_none() {
                rise = Some(at);
            }
            if at >= to {
                break;
            }
            let next = at.plus_s(hold_s).min(to);
            let (then_seen, then_hold_s) = self.probe(next);
            if then_seen != seen {
                let edge = self.edge(at, next, seen);
                match rise.take() {
                    Some(rise) => passes.push(self.pass(index, rise, edge)),
                    None => rise = Some(edge),
                }
            }
            (at, seen, hold_s) = (next, then_seen, then_hold_s);
        }
        passes.extend(rise.map(|rise| self.pass(index, rise, to)));
        passes
    }

    /// The moment between two at which `seen` turns, by halving; the later side of it.
    fn edge(&self, mut before: Utc, mut after: Utc, seen: bool) -> Utc {
        while after.since_s(before) > EDGE_S {
            let middle = before.plus_s(after.since_s(before) / 2.0);
            if self.probe(middle).0 == seen { before = middle } else { after = middle }
        }
        // A pass includes its rise and ends before its set.
        after
    }

    fn look(&self, at: Utc) -> Option<Look> {
        self.satellite.ecef_km(&Earth::at(at)).map(|position| self.view.site.look(position))
    }

    /// The highest point by ternary search: the elevation has one maximum in a pass.
    fn pass(&self, satellite: usize, rise: Utc, set: Utc) -> Pass {
        let elevation = |at| self.look(at).map_or(-90.0, |look| look.elevation_deg);
        let (mut low, mut high) = (rise, set);
        while high.since_s(low) > EDGE_S {
            let third = high.since_s(low) / 3.0;
            let (left, right) = (low.plus_s(third), high.plus_s(-third));
            if elevation(left) < elevation(right) { low = left } else { high = right }
        }
        let culmination = low.plus_s(high.since_s(low) / 2.0);
        Pass { satellite, rise, culmination, culmination_deg: elevation(culmination), set }
    }
}
