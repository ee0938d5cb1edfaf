//! The shortest way through the satellites.

use super::grid::Grid;
use crate::constellation::Constellation;
use crate::frames::Earth;
use crate::place::EARTH_RADIUS_KM;
use crate::time::Utc;
use crate::vector::{Vec3, distance, dot, minus, norm};
use crate::visibility::View;
use pathfinding::directed::astar::astar;
use std::cell::Cell;

/// What a link between satellites can bridge.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The longest link.
    pub max_range_km: f64,
    /// Least height of the beam above the ground.
    pub atmosphere_km: f64,
}

impl Limits {
    fn allow(&self, a: Vec3, b: Vec3) -> Option<f64> {
        let length = distance(a, b);
        if length > self.max_range_km || length == 0.0 {
            return None;
        }
        let along = minus(b, a);
        let nearest = (-dot(a, along) / (length * length)).clamp(0.0, 1.0);
        let closest = [0, 1, 2].map(|axis| a[axis] + nearest * along[axis]);
        (norm(closest) >= EARTH_RADIUS_KM + self.atmosphere_km).then_some(length)
    }
}

/// The positions of a constellation at one moment, computed when they are asked for.
#[derive(Debug)]
pub struct Sky<'a> {
    constellation: &'a Constellation,
    usable: Vec<bool>,
    earth: Earth,
    turn: u32,
    known: Vec<Cell<(u32, Option<Vec3>)>>,
}

impl<'a> Sky<'a> {
    /// The sky at a moment; satellites that are not `usable` are not there.
    pub fn new(constellation: &'a Constellation, usable: Vec<bool>, at: Utc) -> Self {
        let known = vec![Cell::new((0, None)); constellation.satellites().len()];
        Self { constellation, usable, earth: Earth::at(at), turn: 1, known }
    }

    /// Goes to another moment.
    pub fn turn_to(&mut self, at: Utc) {
        if at != self.earth.time() {
            self.earth = Earth::at(at);
            self.turn += 1;
        }
    }

    /// ECEF position of a satellite, if it is there.
    pub fn ecef_km(&self, satellite: usize) -> Option<Vec3> {
        let (turn, position) = self.known[satellite].get();
        if turn == self.turn {
            return position;
        }
        let of = &self.constellation.satellites()[satellite];
        let position = if self.usable[satellite] { of.ecef_km(&self.earth) } else { None };
        self.known[satellite].set((self.turn, position));
        position
    }
}

/// A way from one of the first satellites to the far end.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// Its length, from the near end to the far end.
    pub length_km: f64,
    /// The satellites in order.
    pub satellites: Vec<usize>,
}

/// Lengths are compared as whole millimetres.
const PER_KM: f64 = 1e6;

fn cost(length_km: f64) -> u64 {
    (length_km * PER_KM).round() as u64
}

/// A stop on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Stop {
    Near,
    At(usize),
    Far,
}

impl Grid {
    /// The shortest route that begins with one of `first` (satellite and its distance from the near
    /// end) and ends with one that `far` sees: A* with the straight line as estimate.
    pub fn route(
        &self,
        sky: &Sky<'_>,
        first: &[(usize, f64)],
        far: &View,
        limits: &Limits,
    ) -> Option<Route> {
        let successors = |stop: &Stop| -> Vec<(Stop, u64)> {
            match *stop {
                Stop::Near => first.iter().map(|(s, km)| (Stop::At(*s), cost(*km))).collect(),
                Stop::At(satellite) => self.onward(sky, satellite, far, limits),
                Stop::Far => Vec::new(),
            }
        };
        let estimate = |stop: &Stop| match *stop {
            Stop::At(satellite) => sky
                .ecef_km(satellite)
                .map_or(0, |position| cost(distance(position, far.site.ecef_km))),
            Stop::Near | Stop::Far => 0,
        };
        let (stops, length) = astar(&Stop::Near, successors, estimate, |stop| *stop == Stop::Far)?;
        let satellites = stops.iter().filter_map(|stop| match stop {
            Stop::At(satellite) => Some(*satellite),
            Stop::Near | Stop::Far => None,
        });
        Some(Route { length_km: length as f64 / PER_KM, satellites: satellites.collect() })
    }

    fn onward(
        &self,
        sky: &Sky<'_>,
        satellite: usize,
        far: &View,
        limits: &Limits,
    ) -> Vec<(Stop, u64)> {
        let Some(here) = sky.ecef_km(satellite) else { return Vec::new() };
        let linked = self.neighbours(satellite).iter().filter_map(|next| {
            let length = limits.allow(here, sky.ecef_km(*next)?)?;
            Some((Stop::At(*next), cost(length)))
        });
        let down = far.sees(here).map(|range| (Stop::Far, cost(range)));
        linked.chain(down).collect()
    }
}
