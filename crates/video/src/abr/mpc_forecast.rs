//! MPC with a forecast of the rate: a series with quantiles, in which nothing comes during the outages
//! that are foreseen. Where nothing is foreseen it plans as RobustMPC does.

use super::errors::Errors;
use super::foreseen::Foreseen;
use super::mpc::{HORIZON, last};
use super::plan::best;
use super::robust_mpc::RobustMpc;
use super::{Abr, View, Wanted};
use parameters::{Info, Parameter, Values, flag, number};

pub const INFO: Info = Info {
    name: "mpc-forecast",
    title: "MPC with a forecast of the rate",
    source: "ours, after Yin et al. 2015, §4 and T3P, MPC-L",
    parameters: &[
        HORIZON,
        Parameter {
            name: "quantile",
            unit: "",
            kind: number(0.5, 0.01, 0.99),
            meaning: "quantile of the forecast that is planned with",
            source: "ours",
        },
        Parameter {
            name: "least_probability",
            unit: "",
            kind: number(0.5, 0.01, 1.0),
            meaning: "outages less likely than this are left out",
            source: "ours",
        },
        Parameter {
            name: "robust",
            unit: "",
            kind: flag(false),
            meaning: "lower the forecast by the worst of its last five relative errors, as RobustMPC does",
            source: "ours, after Yin et al. 2015, §4.3",
        },
    ],
};

#[derive(Debug)]
pub struct MpcForecast {
    horizon: usize,
    quantile: f64,
    least_probability: f64,
    robust: bool,
    errors: Errors,
    without: RobustMpc,
}

impl MpcForecast {
    pub fn new(values: &Values) -> Self {
        Self {
            horizon: values.whole("horizon_chunks") as usize,
            quantile: values.number("quantile"),
            least_probability: values.number("least_probability"),
            robust: values.flag("robust"),
            errors: Errors::default(),
            without: RobustMpc::new(values),
        }
    }
}

impl Abr for MpcForecast {
    fn choose(&mut self, view: &View<'_>) -> Wanted {
        let without = self.without.choose(view);
        if let Some(newest) = view.past.last() {
            self.errors.came(newest.mbps_with_latency());
        }
        let Some(foreseen) = Foreseen::of(view, self.quantile, self.least_probability) else {
            return without;
        };
        let share = if self.robust { self.errors.discount() } else { 1.0 };
        let quality = best(view, last(view), self.horizon, &foreseen.scaled(share));
        self.errors.expect(foreseen.mbps_of(view.ladder.megabits(view.chunk, quality)));
        Wanted::now(quality)
    }
}
