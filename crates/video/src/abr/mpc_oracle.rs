//! MPC that knows the rate: the bound of what a forecast can bring. It takes the forecast of the run for
//! the truth, so it is an oracle only where the run gives it the capacity itself.

use super::foreseen::Foreseen;
use super::mpc::{HORIZON, last};
use super::plan::best;
use super::robust_mpc::RobustMpc;
use super::{Abr, View, Wanted};
use parameters::{Info, Values};

pub const INFO: Info = Info {
    name: "mpc-oracle",
    title: "MPC with the rate known",
    source: "ours, after Yin et al. 2015, §4 and T3P, MPC-O",
    parameters: &[HORIZON],
};

#[derive(Debug)]
pub struct MpcOracle {
    horizon: usize,
    without: RobustMpc,
}

impl MpcOracle {
    pub fn new(values: &Values) -> Self {
        Self { horizon: values.whole("horizon_chunks") as usize, without: RobustMpc::new(values) }
    }
}

impl Abr for MpcOracle {
    fn choose(&mut self, view: &View<'_>) -> Wanted {
        let without = self.without.choose(view);
        match Foreseen::of(view, 0.5, 1.0) {
            Some(foreseen) => Wanted::now(best(view, last(view), self.horizon, &foreseen)),
            None => without,
        }
    }
}
