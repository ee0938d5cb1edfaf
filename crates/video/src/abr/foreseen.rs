//! What a forecast says that the network will carry: a plan's outlook.

use super::View;
use super::plan::Outlook;
use forecast::{Foreseen as Outage, Probability};
use units::{Duration, Instant, Window};

/// Seconds ahead that are read from a forecast, and steps in which they are.
const AHEAD_S: f64 = 120.0;
const STEP_S: f64 = 0.25;

/// Megabits that will have come after each step from now.
pub struct Foreseen {
    megabits: Vec<f64>,
}

impl Foreseen {
    /// The rates that a forecast says; `None` where it says nothing of the rate now.
    pub fn of(view: &View<'_>, quantile: f64, least_probability: f64) -> Option<Self> {
        let forecast = view.forecast?;
        let quantile = Probability::new(quantile)?;
        let outages = forecast.outages(Probability::new(least_probability)?);
        let mut rate = forecast.down(view.now, quantile)?.as_mbps();
        Some(Self::with(view.now, &outages, |at| {
            // Beyond its end the last rate is kept.
            rate = forecast.down(at, quantile).map_or(rate, |found| found.as_mbps());
            rate
        }))
    }

    /// A rate, of which a share is left after the next outage; `None` without an outage ahead.
    pub fn around_outages(
        view: &View<'_>,
        mbps: f64,
        least_probability: f64,
        left: f64,
    ) -> Option<Self> {
        let least = Probability::new(least_probability)?;
        let next = view.forecast?.outage(view.now, least)?;
        let outages = view.forecast?.outages(least);
        let rate = |at| if at < next.window.end { mbps } else { mbps * left };
        Some(Self::with(view.now, &outages, rate))
    }

    fn with(now: Instant, outages: &[Outage], mut mbps: impl FnMut(Instant) -> f64) -> Self {
        let mut megabits = vec![0.0];
        let mut sum = 0.0;
        for step in 0..(AHEAD_S / STEP_S) as u32 {
            let start = now + Duration::from_secs_f64(f64::from(step) * STEP_S);
            let end = start + Duration::from_secs_f64(STEP_S);
            let out_s: f64 = outages.iter().map(|one| shared_s(one.window, start, end)).sum();
            sum += mbps(start) * (STEP_S - out_s).max(0.0);
            megabits.push(sum);
        }
        Self { megabits }
    }

    /// The same with less of everything.
    #[must_use]
    pub fn scaled(&self, share: f64) -> Self {
        Self { megabits: self.megabits.iter().map(|one| one * share).collect() }
    }

    /// Mean rate of a chunk that is asked for now.
    pub fn mbps_of(&self, megabits: f64) -> f64 {
        megabits / self.seconds_for(0.0, megabits).max(1e-9)
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

fn shared_s(window: Window, start: Instant, end: Instant) -> f64 {
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
