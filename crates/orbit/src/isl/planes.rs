//! Who flies in which plane: known for constellations made from parameters, found for catalogues.

use crate::constellation::Constellation;
use crate::satellite::{Satellite, Seat, State};
use crate::time::Utc;
use crate::vector::{cross, dot, norm};
use std::collections::BTreeMap;

/// Satellites within this many km of the commonest altitude of their inclination are one shell:
/// kept orbits differ by 2 km, satellites that climb or sink pass through.
const SHELL_HALF_HEIGHT_KM: f64 = 5.0;
/// Inclinations of one shell leave no gap larger than this.
const INCLINATION_GAP_DEG: f64 = 0.05;
/// Right ascensions of one plane leave no gap larger than this; the planes of Starlink, the densest
/// ones, are 5° apart and within 1.2° each (snapshots of 2025).
const PLANE_GAP_DEG: f64 = 1.0;
/// Fewer satellites than this at one altitude are on their way to somewhere else.
const LEAST_SHELL: usize = 20;

/// A satellite in its plane at one moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) satellite: usize,
    pub(super) raan_deg: f64,
    /// Argument of latitude: how far it is past the ascending node.
    pub(super) phase_deg: f64,
    inclination_deg: f64,
    axis_km: f64,
}

/// The members of one plane by phase.
pub(super) type Plane = Vec<Member>;

/// The planes of each shell by right ascension.
pub(super) fn shells(constellation: &Constellation, at: Utc) -> Vec<Vec<Plane>> {
    let satellites = constellation.satellites();
    let mut seated: BTreeMap<Seat, Plane> = BTreeMap::new();
    let mut free = Vec::new();
    for (index, satellite) in satellites.iter().enumerate() {
        let Some(state) = satellite.state(at) else { continue };
        let member = member(index, satellite, &state);
        match satellite.seat {
            Some(seat) => seated.entry(seat).or_default().push(member),
            None => free.push(member),
        }
    }
    let mut shells: BTreeMap<usize, Vec<Plane>> = BTreeMap::new();
    for (seat, plane) in seated {
        shells.entry(seat.shell).or_default().push(by_phase(plane));
    }
    let found = find_shells(free).into_iter().map(find_planes);
    shells.into_values().chain(found).collect()
}

/// Elements of the orbit as it is at the moment (Vallado 2013, algorithm 9).
fn member(index: usize, satellite: &Satellite, state: &State) -> Member {
    let momentum = cross(state.position_km, state.velocity_km_s);
    let normal = momentum.map(|part| part / norm(momentum));
    // The node's direction; above the equator itself any will do.
    let raan = normal[0].atan2(-normal[1]);
    let node = [raan.cos(), raan.sin(), 0.0];
    let across = dot(state.position_km, cross(normal, node));
    let phase = across.atan2(dot(state.position_km, node));
    Member {
        satellite: index,
        raan_deg: raan.to_degrees().rem_euclid(360.0),
        phase_deg: phase.to_degrees().rem_euclid(360.0),
        inclination_deg: satellite.elements().inclination,
        axis_km: satellite.semi_major_axis_km(),
    }
}

fn by_phase(mut plane: Plane) -> Plane {
    plane.sort_by(|a, b| a.phase_deg.total_cmp(&b.phase_deg));
    plane
}

/// Splits by inclination, then takes the fullest altitude out again and again.
fn find_shells(mut members: Vec<Member>) -> Vec<Vec<Member>> {
    members.sort_by(|a, b| a.inclination_deg.total_cmp(&b.inclination_deg));
    let gap = |a: &Member, b: &Member| b.inclination_deg - a.inclination_deg <= INCLINATION_GAP_DEG;
    let mut shells = Vec::new();
    for group in members.chunk_by(gap) {
        let mut left = group.to_vec();
        left.sort_by(|a, b| a.axis_km.total_cmp(&b.axis_km));
        loop {
            let (start, end) = fullest(&left);
            if end - start < LEAST_SHELL {
                break;
            }
            shells.push(left.drain(start..end).collect());
        }
    }
    shells
}

/// The range of the sorted members with the most of them in one height of a shell.
fn fullest(members: &[Member]) -> (usize, usize) {
    let mut best = (0, 0);
    let mut start = 0;
    for end in 1..=members.len() {
        while members[end - 1].axis_km - members[start].axis_km > 2.0 * SHELL_HALF_HEIGHT_KM {
            start += 1;
        }
        if end - start > best.1 - best.0 {
            best = (start, end);
        }
    }
    best
}

fn find_planes(mut shell: Vec<Member>) -> Vec<Plane> {
    shell.sort_by(|a, b| a.raan_deg.total_cmp(&b.raan_deg));
    let near = |a: &Member, b: &Member| b.raan_deg - a.raan_deg <= PLANE_GAP_DEG;
    let mut planes: Vec<Plane> = shell.chunk_by(near).map(<[Member]>::to_vec).collect();
    // A plane at 0° may lie on both ends.
    if let [first, .., last] = planes.as_slice()
        && first[0].raan_deg + 360.0 - last[last.len() - 1].raan_deg <= PLANE_GAP_DEG
    {
        let mut last = planes.pop().unwrap_or_default();
        planes[0].append(&mut last);
    }
    planes.into_iter().map(by_phase).collect()
}
