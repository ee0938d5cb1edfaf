//! MPC: plans with the harmonic mean of the last rates (Yin et al. 2015, §4; Pensieve, `mpc.py`).

use super::plan::{MAX_HORIZON, Steady, best};
use super::{Abr, Download, View, Wanted};
use parameters::{Info, Parameter, Values, integer};

pub const INFO: Info = Info {
    name: "mpc",
    title: "Model predictive control",
    source: "Yin et al. 2015, §4",
    parameters: &[HORIZON],
};

pub(super) const HORIZON: Parameter = Parameter {
    name: "horizon_chunks",
    unit: "chunks",
    kind: integer(5.0, 1.0, MAX_HORIZON as f64),
    meaning: "chunks that a plan looks ahead",
    source: "Yin et al. 2015, §7.1.2",
};

/// Rates, and errors of predictions, that count.
pub(super) const RECENT: usize = 5;

#[derive(Debug)]
pub struct Mpc {
    horizon: usize,
}

impl Mpc {
    pub fn new(values: &Values) -> Self {
        Self { horizon: values.whole("horizon_chunks") as usize }
    }
}

impl Abr for Mpc {
    fn choose(&mut self, view: &View<'_>) -> Wanted {
        let Some(mbps) = harmonic_mean(view.past) else { return Wanted::now(0) };
        Wanted::now(best(view, last(view), self.horizon, &Steady { mbps }))
    }
}

/// Quality of the chunk before.
pub(super) fn last(view: &View<'_>) -> Option<usize> {
    view.past.last().map(|one| one.quality)
}

/// Harmonic mean of the last rates, latency included.
pub(super) fn harmonic_mean(past: &[Download]) -> Option<f64> {
    let recent = &past[past.len().saturating_sub(RECENT)..];
    let inverse: f64 = recent.iter().map(|one| 1.0 / one.mbps_with_latency().max(1e-9)).sum();
    (!recent.is_empty()).then(|| recent.len() as f64 / inverse)
}
