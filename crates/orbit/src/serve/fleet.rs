//! Which satellites can be relied on for a run.

use super::config::ServeConfig;
use crate::constellation::Constellation;
use crate::error::OrbitError;
use crate::time::Utc;

/// The satellites of a constellation, sorted out for one run.
pub(super) struct Fleet {
    pub(super) usable: Vec<bool>,
    /// Used, but older than the limit for a warning.
    pub(super) stale: usize,
    /// Not used: elements too far from the run.
    pub(super) too_old: usize,
    /// Not used: SGP4 gives no orbit at the start or at the end.
    pub(super) decayed: usize,
}

impl Fleet {
    pub(super) fn sort_out(
        constellation: &Constellation,
        config: &ServeConfig,
        (start, end): (Utc, Utc),
    ) -> Result<Self, OrbitError> {
        let at_end = constellation.ages_days(end);
        let at_start = constellation.ages_days(start);
        let ages: Vec<f64> = at_start.iter().zip(at_end).map(|(a, b)| a.max(b)).collect();
        let mut fleet = Self { usable: Vec::new(), stale: 0, too_old: 0, decayed: 0 };
        for (satellite, age) in constellation.satellites().iter().zip(&ages) {
            let fresh = *age <= config.max_age_days;
            let aloft = satellite.state(start).is_some() && satellite.state(end).is_some();
            let usable = fresh && aloft;
            fleet.usable.push(usable);
            fleet.too_old += usize::from(!fresh);
            fleet.decayed += usize::from(fresh && !aloft);
            fleet.stale += usize::from(usable && *age > config.stale_days);
        }
        if fleet.too_old == ages.len() {
            let nearest_days = ages.iter().copied().fold(f64::INFINITY, f64::min);
            return Err(OrbitError::TooOld { nearest_days, limit_days: config.max_age_days });
        }
        if !fleet.usable.contains(&true) {
            return Err(OrbitError::AllDecayed);
        }
        Ok(fleet)
    }
}
