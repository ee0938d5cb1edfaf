//! What to serve and how. The same names stand in `python/skyweave/orbit`; it crosses as JSON.

use crate::error::OrbitError;
use crate::place::Place;
use serde::{Deserialize, Serialize};

/// A terminal, its way into the network, and the rules by which satellites follow each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServeConfig {
    /// Second 0 of the run, in Unix time.
    pub start_unix_s: f64,
    /// How long the run lasts.
    pub duration_s: f64,
    /// The satellites move this many times faster: at run second t they stand as at start +
    /// t·factor. Slots, gaps and steps stay in run seconds.
    pub acceleration: f64,
    /// Where the terminal is.
    pub terminal: Place,
    /// It uses nothing below.
    pub min_elevation_deg: f64,
    /// It uses nothing closer to the geostationary arc; 0: no matter.
    pub gso_avoidance_deg: f64,
    /// How a satellite passes on what the terminal sends.
    pub via: ViaConfig,
    /// Which satellite is taken when there is a choice.
    pub policy: Policy,
    /// Length of a scheduling slot: satellites change at its edges only. Without it a satellite is
    /// kept until it is lost, looked at each step.
    pub slot_s: Option<f64>,
    /// Slot edges are where Unix time leaves this remainder.
    pub slot_offset_s: f64,
    /// How long nothing gets through after a handover.
    pub gap_s: f64,
    /// Spacing of the series of round-trip times.
    pub step_s: f64,
    /// Added to each round-trip time of propagation.
    pub extra_rtt_ms: f64,
    /// Decides what the policy `random` takes.
    pub seed: u64,
    /// Element sets farther than this from the run are counted as stale.
    pub stale_days: f64,
    /// Element sets farther than this are not used.
    pub max_age_days: f64,
}

/// What is behind the serving satellite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ViaConfig {
    /// Bent pipe: the nearest gateway that sees it.
    Gateway {
        /// Where they are.
        gateways: Vec<Place>,
        /// They use nothing below.
        min_elevation_deg: f64,
    },
    /// Links between satellites, down to the far end.
    Isl {
        /// The far end.
        to: Place,
        /// It uses nothing below.
        min_elevation_deg: f64,
        /// The longest link between satellites.
        max_range_km: f64,
        /// Least height of links above the ground.
        atmosphere_km: f64,
    },
}

/// Which satellite is taken among those that can serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// The one highest in the sky.
    HighestElevation,
    /// The one that stays above the mask for longest.
    LongestVisibility,
    /// The one with the shortest way to the gateway or the far end.
    ShortestPath,
    /// Any, each as likely, from a stream of its own.
    Random,
}

/// A run of a year at 5 s; more is a mistake in a unit.
const MOST_STEPS: f64 = 1e7;
const YEAR_S: f64 = 366.0 * 86_400.0;

impl ServeConfig {
    /// # Errors
    /// [`OrbitError`] with the first setting that makes no sense. Places and angles are checked
    /// where they are used.
    pub(super) fn check(&self) -> Result<(), OrbitError> {
        let year_2262 = 9.2e9;
        OrbitError::check("start_unix_s", self.start_unix_s, 0.0..=year_2262)?;
        OrbitError::check("duration_s", self.duration_s, 1e-3..=YEAR_S)?;
        OrbitError::check("acceleration", self.acceleration, 1e-3..=1e5)?;
        let moved_s = self.duration_s * self.acceleration;
        OrbitError::check("duration_s x acceleration", moved_s, 0.0..=YEAR_S)?;
        if let Some(slot_s) = self.slot_s {
            OrbitError::check("slot_s", slot_s, 0.1..=YEAR_S)?;
        }
        OrbitError::check("slot_offset_s", self.slot_offset_s, -YEAR_S..=YEAR_S)?;
        OrbitError::check("gap_s", self.gap_s, 0.0..=YEAR_S)?;
        OrbitError::check("step_s", self.step_s, 1e-3..=YEAR_S)?;
        OrbitError::check("extra_rtt_ms", self.extra_rtt_ms, 0.0..=1e6)?;
        OrbitError::check("stale_days", self.stale_days, 0.0..=1e6)?;
        OrbitError::check("max_age_days", self.max_age_days, 0.0..=1e6)?;
        let shortest = self.slot_s.map_or(self.step_s, |slot_s| slot_s.min(self.step_s));
        let count = self.duration_s / shortest;
        if count > MOST_STEPS {
            return Err(OrbitError::TooManySteps { count, most: MOST_STEPS });
        }
        Ok(())
    }
}
