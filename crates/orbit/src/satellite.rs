//! One satellite: its mean elements, ready for SGP4.

use crate::error::Fault;
use crate::frames::Earth;
use crate::time::Utc;
use crate::vector::{Vec3, dot};
use sgp4::{Constants, Elements, MinutesSinceEpoch, Orbit, WGS72};
use std::f64::consts::PI;

/// Where a satellite flies in a constellation that was made from parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seat {
    /// Shell, counted within the constellation.
    pub shell: usize,
    /// Plane, counted within the shell.
    pub plane: usize,
}

/// Position and velocity in TEME.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// km.
    pub position_km: Vec3,
    /// km/s.
    pub velocity_km_s: Vec3,
}

/// A satellite.
#[derive(Clone, Debug)]
pub struct Satellite {
    name: String,
    epoch: Utc,
    elements: Elements,
    constants: Constants,
    pub(crate) seat: Option<Seat>,
}

impl Satellite {
    /// Prepares the propagation with the constants of WGS72 and the IAU sidereal time, as the
    /// reference implementation does by default ("improved" mode; Vallado et al., AIAA 2006-6753).
    ///
    /// # Errors
    /// [`Fault`] for elements that no satellite has.
    pub fn new(elements: Elements) -> Result<Self, Fault> {
        let bounded = [
            ("the mean motion", elements.mean_motion, 1e-3, 20.0),
            ("the eccentricity", elements.eccentricity, 0.0, 0.999_999),
            ("the inclination", elements.inclination, 0.0, 180.0),
            ("the right ascension", elements.right_ascension, -360.0, 360.0),
            ("the argument of perigee", elements.argument_of_perigee, -360.0, 360.0),
            ("the mean anomaly", elements.mean_anomaly, -360.0, 360.0),
            ("the drag term", elements.drag_term, -100.0, 100.0),
        ];
        for (what, found, least, most) in bounded {
            if !(least..=most).contains(&found) {
                return Err(Fault::Impossible { what, found });
            }
        }
        let said = |error: &dyn std::fmt::Display| Fault::Field(error.to_string());
        let epoch = Utc::from_datetime(&elements.datetime)
            .ok_or_else(|| Fault::Field(format!("the epoch {} is too far", elements.datetime)))?;
        let orbit = Orbit::from_kozai_elements(
            &WGS72,
            elements.inclination.to_radians(),
            elements.right_ascension.to_radians(),
            elements.eccentricity,
            elements.argument_of_perigee.to_radians(),
            elements.mean_anomaly.to_radians(),
            elements.mean_motion * (PI / 720.0), // revolutions a day to radians a minute
        )
        .map_err(|error| said(&error))?;
        let sidereal = sgp4::iau_epoch_to_sidereal_time;
        let constants =
            Constants::new(WGS72, sidereal, elements.epoch(), elements.drag_term, orbit)
                .map_err(|error| said(&error))?;
        let name = match elements.object_name.as_deref().map(str::trim) {
            None | Some("") => elements.norad_id.to_string(),
            Some(name) => name.to_owned(),
        };
        Ok(Self { name, epoch, elements, constants, seat: None })
    }

    /// Its name, or its catalogue number if it has none.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Catalogue number.
    pub fn id(&self) -> u64 {
        self.elements.norad_id
    }

    /// The moment that the elements describe.
    pub fn epoch(&self) -> Utc {
        self.epoch
    }

    /// The mean elements.
    pub fn elements(&self) -> &Elements {
        &self.elements
    }

    /// Semi-major axis (Kepler's third law with the constants of WGS72).
    pub fn semi_major_axis_km(&self) -> f64 {
        let per_min = self.elements.mean_motion * (PI / 720.0);
        WGS72.ae * (WGS72.ke / per_min).powf(2.0 / 3.0)
    }

    /// Position and velocity; `None` if SGP4 gives none or it lies below the ground: the satellite
    /// has decayed by then.
    pub fn state(&self, at: Utc) -> Option<State> {
        let minutes = MinutesSinceEpoch(at.since_s(self.epoch) / 60.0);
        let prediction = self.constants.propagate(minutes).ok()?;
        // Vallado et al. 2006, error 6: the radius is below one Earth radius. NaN fails as well.
        let aloft = dot(prediction.position, prediction.position) >= WGS72.ae * WGS72.ae;
        aloft.then_some(State {
            position_km: prediction.position,
            velocity_km_s: prediction.velocity,
        })
    }

    /// Position on the turning Earth, `None` as in [`state`](Self::state).
    pub fn ecef_km(&self, earth: &Earth) -> Option<Vec3> {
        self.state(earth.time()).map(|state| earth.ecef(state.position_km))
    }
}
