//! RobustMPC that knows of handovers ahead: nothing comes while one lasts, and less may come after it.
//! Without a handover ahead it plans as RobustMPC does.

use super::errors::Errors;
use super::foreseen::Foreseen;
use super::mpc::{HORIZON, harmonic_mean, last};
use super::plan::{Steady, best};
use super::{Abr, View, Wanted};
use parameters::{Info, Parameter, Values, number};

pub const INFO: Info = Info {
    name: "mpc-handovers",
    title: "RobustMPC that knows of handovers ahead",
    source: "ours, after Yin et al. 2015, §4.3 and T3P",
    parameters: &[
        HORIZON,
        Parameter {
            name: "least_probability",
            unit: "",
            kind: number(0.5, 0.01, 1.0),
            meaning: "handovers less likely than this are left out",
            source: "ours",
        },
        Parameter {
            name: "left",
            unit: "",
            kind: number(1.0, 0.05, 1.0),
            meaning: "share of the rate that is planned with beyond the next handover",
            source: "ours",
        },
    ],
};

#[derive(Debug)]
pub struct MpcHandovers {
    horizon: usize,
    least_probability: f64,
    left: f64,
    errors: Errors,
}

impl MpcHandovers {
    pub fn new(values: &Values) -> Self {
        Self {
            horizon: values.whole("horizon_chunks") as usize,
            least_probability: values.number("least_probability"),
            left: values.number("left"),
            errors: Errors::default(),
        }
    }
}

impl Abr for MpcHandovers {
    fn choose(&mut self, view: &View<'_>) -> Wanted {
        let (Some(mean), Some(newest)) = (harmonic_mean(view.past), view.past.last()) else {
            return Wanted::now(0);
        };
        self.errors.came(newest.mbps_with_latency());
        let discount = self.errors.discount();
        let Some(ahead) = Foreseen::around_outages(view, mean, self.least_probability, self.left)
        else {
            self.errors.expect(mean);
            let steady = Steady { mbps: mean * discount };
            return Wanted::now(best(view, last(view), self.horizon, &steady));
        };
        let quality = best(view, last(view), self.horizon, &ahead.scaled(discount));
        // An outage that was foreseen is no error of the rate.
        self.errors.expect(ahead.mbps_of(view.ladder.megabits(view.chunk, quality)));
        Wanted::now(quality)
    }
}
