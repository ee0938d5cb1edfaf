//! Constellations made from parameters (Walker 1984; Wertz 2001, §13.1).

use crate::constellation::Constellation;
use crate::error::OrbitError;
use crate::satellite::{Satellite, Seat};
use crate::shells::{Shell, shell_names, shells_of};
use crate::time::Utc;
use sgp4::{Classification, Elements, WGS72};
use std::f64::consts::PI;

/// The satellites of a built-in constellation or shell, with all elements at `epoch` and no drag,
/// so that they may be propagated over years.
///
/// # Errors
/// [`OrbitError::NoSuchShell`] with the names that there are.
pub fn built_in(name: &str, epoch: Utc) -> Result<Constellation, OrbitError> {
    let shells = shells_of(name);
    if shells.is_empty() {
        let known = shell_names().join(", ");
        return Err(OrbitError::NoSuchShell { found: name.to_owned(), known });
    }
    let mut satellites = Vec::new();
    for (index, shell) in shells.iter().enumerate() {
        for plane in 0..shell.planes {
            for slot in 0..shell.per_plane {
                let elements = elements(shell, (plane, slot), satellites.len() as u64 + 1, epoch);
                let made = Satellite::new(elements);
                // Every row of the table is an orbit: a test makes them all.
                let Ok(mut satellite) = made else { continue };
                satellite.seat = Some(Seat { shell: index, plane });
                satellites.push(satellite);
            }
        }
    }
    Ok(Constellation::ideal(satellites))
}

/// The elements of one seat: planes evenly over the spread, satellites evenly in the plane, and
/// plane p ahead of plane 0 by p·F·360°/T (Walker's pattern T/P/F).
fn elements(shell: &Shell, (plane, slot): (usize, usize), id: u64, epoch: Utc) -> Elements {
    let total = (shell.planes * shell.per_plane) as f64;
    let ahead = (plane * shell.phasing) as f64 * 360.0 / total;
    let anomaly = slot as f64 * 360.0 / shell.per_plane as f64 + ahead;
    let axis = (WGS72.ae + shell.altitude_km) / WGS72.ae;
    let brouwer = WGS72.ke / axis.powf(1.5);
    Elements {
        object_name: Some(format!("{}-{:02}-{:02}", shell.name, plane + 1, slot + 1)),
        international_designator: None,
        norad_id: id,
        classification: Classification::Unclassified,
        datetime: epoch.to_datetime(),
        mean_motion_dot: 0.0,
        mean_motion_ddot: 0.0,
        drag_term: 0.0,
        element_set_number: 0,
        inclination: shell.inclination_deg,
        right_ascension: plane as f64 * shell.spread_deg / shell.planes as f64,
        eccentricity: 0.0,
        argument_of_perigee: 0.0,
        mean_anomaly: anomaly.rem_euclid(360.0),
        mean_motion: kozai(brouwer, shell.inclination_deg.to_radians()) * (720.0 / PI),
        revolution_number: 0,
        ephemeris_type: 0,
    }
}

/// The mean motion that element sets hold (Kozai's) for the one that the orbit has (Brouwer's), in
/// radians a minute: the inverse of the first step of SGP4 (Hoots & Roehrich 1980, §6), for e = 0.
fn kozai(brouwer: f64, inclination: f64) -> f64 {
    let factor = 0.75 * WGS72.j2 * (3.0 * inclination.cos().powi(2) - 1.0);
    let mut kozai = brouwer;
    for _ in 0..5 {
        let a1 = (WGS72.ke / kozai).powf(2.0 / 3.0);
        let d1 = factor / (a1 * a1);
        let a0 = a1 * (1.0 - d1 / 3.0 - d1 * d1 - 134.0 / 81.0 * d1.powi(3));
        kozai = brouwer * (1.0 + factor / (a0 * a0));
    }
    kozai
}
