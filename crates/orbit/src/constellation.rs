//! A set of satellites and where they are.

use crate::frames::Earth;
use crate::satellite::Satellite;
use crate::time::Utc;
use crate::vector::Vec3;
use crate::visibility::{Pass, View};

/// Satellites in the order of their file or their planes.
#[derive(Clone, Debug)]
pub struct Constellation {
    satellites: Vec<Satellite>,
    ideal: bool,
}

impl Constellation {
    pub(crate) fn new(satellites: Vec<Satellite>) -> Self {
        Self { satellites, ideal: false }
    }

    pub(crate) fn ideal(satellites: Vec<Satellite>) -> Self {
        Self { satellites, ideal: true }
    }

    /// The satellites.
    pub fn satellites(&self) -> &[Satellite] {
        &self.satellites
    }

    /// Whether it was made from parameters: then its elements do not age.
    pub fn is_ideal(&self) -> bool {
        self.ideal
    }

    /// How far each element set is from a moment, in days, before or after; 0 for ideal orbits.
    /// SGP4 errs by a few km after some days (Vallado et al. 2006, §IV) and by anything after months.
    pub fn ages_days(&self, at: Utc) -> Vec<f64> {
        let age = |satellite: &Satellite| at.since_days(satellite.epoch()).abs();
        self.satellites.iter().map(|s| if self.ideal { 0.0 } else { age(s) }).collect()
    }

    /// The median epoch: the moment at which the elements as a whole are freshest.
    pub fn median_epoch(&self) -> Utc {
        let mut epochs: Vec<Utc> = self.satellites.iter().map(Satellite::epoch).collect();
        let middle = epochs.len() / 2;
        // A constellation is never empty: both makers refuse that.
        *epochs.select_nth_unstable(middle).1
    }

    /// Positions in ECEF; `None` for a satellite that has decayed by then.
    pub fn ecef_km(&self, at: Utc) -> Vec<Option<Vec3>> {
        let earth = Earth::at(at);
        self.satellites.iter().map(|satellite| satellite.ecef_km(&earth)).collect()
    }

    /// The passes of all satellites between two moments, in order of their rise.
    pub fn passes(&self, view: &View, from: Utc, to: Utc) -> Vec<Pass> {
        self.passes_of(view, (from, to), |_| true)
    }

    /// The passes of those satellites that are `wanted`.
    pub(crate) fn passes_of(
        &self,
        view: &View,
        (from, to): (Utc, Utc),
        wanted: impl Fn(usize) -> bool,
    ) -> Vec<Pass> {
        let satellites = self.satellites.iter().enumerate().filter(|(index, _)| wanted(*index));
        let mut passes: Vec<Pass> =
            satellites.flat_map(|satellite| view.passes(satellite, from, to)).collect();
        passes.sort_by_key(|pass| (pass.rise, pass.satellite));
        passes
    }
}
