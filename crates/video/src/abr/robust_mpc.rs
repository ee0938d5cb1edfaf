//! RobustMPC: MPC whose rate is lowered by the worst recent error of its own predictions (Yin et al. 2015,
//! §4.3; Pensieve, `robust_mpc_server.py`).

use super::mpc::{HORIZON, RECENT, harmonic_mean, last};
use super::plan::{Steady, best};
use super::{Abr, View, Wanted};
use parameters::{Info, Values};

pub const INFO: Info = Info {
    name: "robust-mpc",
    title: "RobustMPC",
    source: "Yin et al. 2015, §4.3; Pensieve, robust_mpc_server.py",
    parameters: &[HORIZON],
};

#[derive(Debug)]
pub struct RobustMpc {
    horizon: usize,
    /// The rate that the last choice was made with, before it was lowered.
    predicted_mbps: Option<f64>,
    /// Relative errors of the last predictions, in turn.
    errors: [f64; RECENT],
    place: usize,
}

impl RobustMpc {
    pub fn new(values: &Values) -> Self {
        let horizon = values.whole("horizon_chunks") as usize;
        Self { horizon, predicted_mbps: None, errors: [0.0; RECENT], place: 0 }
    }

    fn learn(&mut self, actual_mbps: f64) {
        if let Some(predicted) = self.predicted_mbps {
            self.errors[self.place] = (predicted - actual_mbps).abs() / actual_mbps.max(1e-9);
            self.place = (self.place + 1) % RECENT;
        }
    }
}

impl Abr for RobustMpc {
    fn choose(&mut self, view: &View<'_>) -> Wanted {
        let (Some(mean), Some(newest)) = (harmonic_mean(view.past), view.past.last()) else {
            return Wanted::now(0);
        };
        self.learn(newest.mbps_with_latency());
        self.predicted_mbps = Some(mean);
        let worst = self.errors.into_iter().fold(0.0, f64::max);
        let mbps = mean / (1.0 + worst);
        Wanted::now(best(view, last(view), self.horizon, &Steady { mbps }))
    }
}
