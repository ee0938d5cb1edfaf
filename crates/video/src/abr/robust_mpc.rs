//! RobustMPC: MPC whose rate is lowered by the worst recent error of its own predictions (Yin et al. 2015,
//! §4.3; Pensieve, `robust_mpc_server.py`).

use super::errors::Errors;
use super::mpc::{HORIZON, harmonic_mean, last};
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
    errors: Errors,
}

impl RobustMpc {
    pub fn new(values: &Values) -> Self {
        Self { horizon: values.whole("horizon_chunks") as usize, errors: Errors::default() }
    }
}

impl Abr for RobustMpc {
    fn choose(&mut self, view: &View<'_>) -> Wanted {
        let (Some(mean), Some(newest)) = (harmonic_mean(view.past), view.past.last()) else {
            return Wanted::now(0);
        };
        self.errors.came(newest.mbps_with_latency());
        self.errors.expect(mean);
        let mbps = mean * self.errors.discount();
        Wanted::now(best(view, last(view), self.horizon, &Steady { mbps }))
    }
}
