//! MPC with a forecast of the rate: a series with quantiles, in which nothing comes during the outages
//! that are foreseen. Where nothing is foreseen it plans as RobustMPC does.

use super::mpc::{HORIZON, last};
use super::plan::{Outlook, best};
use super::robust_mpc::RobustMpc;
use super::{Abr, View, Wanted};
use forecast::Probability;
use parameters::{Info, Parameter, Values, number};
use units::{Duration, Window};

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
    ],
};

/// Seconds ahead that are read from a forecast, and steps in which they are.
const AHEAD_S: f64 = 120.0;
const STEP_S: f64 = 0.25;

#[derive(Debug)]
pub struct MpcForecast {
    horizon: usize,
    quantile: f64,
    least_probability: f64,
    without: RobustMpc,
}

impl MpcForecast {
    pub fn new(values: &Values) -> Self {
        Self {
            horizon: values.whole("horizon_chunks") as usize,
            quantile: values.number("quantile"),
            least_probability: values.number("least_probability"),
            without: RobustMpc::new(values),
        }
    }
}

impl Abr for MpcForecast {
    fn choose(&mut self, view: &View<'_>) -> Wanted {
        let without = self.without.choose(view);
        match Foreseen::of(view, self.quantile, self.least_probability) {
            Some(foreseen) => Wanted::now(best(view, last(view), self.horizon, &foreseen)),
            None => without,
        }
    }
}

/// Megabits that will have come after each step from now.
pub(super) struct Foreseen {
    megabits: Vec<f64>,
}

impl Foreseen {
    /// `None` where the forecast says nothing of the rate now.
    pub fn of(view: &View<'_>, quantile: f64, least_probability: f64) -> Option<Self> {
        let forecast = view.forecast?;
        let quantile = Probability::new(quantile)?;
        let outages = forecast.outages(Probability::new(least_probability)?);
        let mut megabits = vec![0.0];
        let (mut sum, mut rate) = (0.0, forecast.down(view.now, quantile)?.as_mbps());
        for step in 0..(AHEAD_S / STEP_S) as u32 {
            let start = view.now + Duration::from_secs_f64(f64::from(step) * STEP_S);
            // Beyond its end the last rate is kept.
            rate = forecast.down(start, quantile).map_or(rate, |found| found.as_mbps());
            let end = start + Duration::from_secs_f64(STEP_S);
            let out_s: f64 = outages.iter().map(|one| shared_s(one.window, start, end)).sum();
            sum += rate * (STEP_S - out_s).max(0.0);
            megabits.push(sum);
        }
        Some(Self { megabits })
    }

    /// Megabits that will have come by then.
    fn by(&self, at_s: f64) -> f64 {
        let last = self.megabits.len() - 1;
        let place = (at_s / STEP_S).min(last as f64);
        let below = (place as usize).min(last - 1);
        let (from, to) = (self.megabits[below], self.megabits[below + 1]);
        from + (place - below as f64) * (to - from)
    }
}

fn shared_s(window: Window, start: units::Instant, end: units::Instant) -> f64 {
    (window.end.min(end) - window.start.max(start)).as_secs_f64()
}

impl Outlook for Foreseen {
    fn seconds_for(&self, from_s: f64, megabits: f64) -> f64 {
        let wanted = self.by(from_s) + megabits;
        let above = self.megabits.partition_point(|one| *one < wanted);
        let end_s = match (above.checked_sub(1), self.megabits.get(above)) {
            (Some(below), Some(to)) => {
                let from = self.megabits[below];
                (below as f64 + (wanted - from) / (to - from)) * STEP_S
            }
            (None, _) => 0.0,
            // Beyond what is foreseen the mean rate holds.
            (Some(_), None) => {
                let last = (self.megabits.len() - 1) as f64 * STEP_S;
                let sum = self.megabits.last().copied().unwrap_or(0.0);
                last.max(from_s) + (wanted - sum) * last / sum.max(1e-9)
            }
        };
        (end_s - from_s).max(0.0)
    }

    fn changes(&self) -> bool {
        true
    }
}
