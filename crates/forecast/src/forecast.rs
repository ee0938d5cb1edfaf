use crate::{Boundary, Probability, Series};
use units::{Bitrate, Duration, Instant, Window, union};

/// An outage that is foreseen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Foreseen {
    /// When nothing gets through, if it comes.
    pub window: Window,
    /// How likely it comes.
    pub probability: Probability,
}

impl Foreseen {
    /// An outage that is certain.
    pub fn certain(window: Window) -> Self {
        Self { window, probability: Probability::CERTAIN }
    }
}

/// What was foreseen of a path at one moment. Beyond `valid_until` nothing is said.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    /// When it was made.
    pub issued_at: Instant,
    /// Its end: outages that begin later are not in it, series say nothing from here on.
    pub valid_until: Instant,
    /// Outages in any order; they may overlap.
    pub outages: Vec<Foreseen>,
    /// Moments at which it may change, in any order.
    pub boundaries: Vec<Boundary>,
    /// What the path will carry from server to client, in megabits (10^6) per second.
    pub down_mbps: Option<Series>,
    /// What it will carry from client to server.
    pub up_mbps: Option<Series>,
    /// Its round-trip time, in milliseconds.
    pub rtt_ms: Option<Series>,
}

impl Forecast {
    /// That these outages come for certain, as known from the beginning of the run on.
    pub fn certain(outages: impl IntoIterator<Item = Window>) -> Self {
        Self::of_outages(outages.into_iter().map(Foreseen::certain).collect())
    }

    /// Outages and nothing else, as known from the beginning of the run on.
    pub fn of_outages(outages: Vec<Foreseen>) -> Self {
        Self {
            issued_at: Instant::ZERO,
            valid_until: Instant::FAR_FUTURE,
            outages,
            boundaries: Vec::new(),
            down_mbps: None,
            up_mbps: None,
            rtt_ms: None,
        }
    }

    /// The same for a run that began so much later.
    #[must_use]
    pub fn later_by(self, shift: Duration) -> Self {
        let outage = |Foreseen { window: Window { start, end }, probability }| Foreseen {
            window: Window { start: start + shift, end: end + shift },
            probability,
        };
        let series = |series: Option<Series>| series.map(|one| one.later_by(shift));
        Self {
            issued_at: self.issued_at + shift,
            valid_until: self.valid_until + shift,
            outages: self.outages.into_iter().map(outage).collect(),
            boundaries: self.boundaries.into_iter().map(|one| one.later_by(shift)).collect(),
            down_mbps: series(self.down_mbps),
            up_mbps: series(self.up_mbps),
            rtt_ms: series(self.rtt_ms),
        }
    }

    /// Whether it has nothing more to say at `now`.
    pub fn is_over(&self, now: Instant) -> bool {
        self.valid_until <= now
    }

    /// The outages of at least this probability, in order of time and apart: those that meet are
    /// one, as likely as the likeliest of them.
    pub fn outages(&self, least: Probability) -> Vec<Foreseen> {
        let within = |one: &&Foreseen| one.window.start < self.valid_until;
        let likely = self.outages.iter().filter(within).filter(|one| one.probability >= least);
        let joined = union(likely.map(|one| (one.window, one.probability)), |a, b| a.max(b));
        joined.into_iter().map(|(window, probability)| Foreseen { window, probability }).collect()
    }

    /// The outage of at least this probability that is under way at `now` or comes next.
    pub fn outage(&self, now: Instant, least: Probability) -> Option<Foreseen> {
        self.outages(least).into_iter().find(|one| now < one.window.end)
    }

    /// The moments at which the path may change, in order, up to the end of what is said.
    pub fn boundaries(&self) -> Vec<Boundary> {
        let said = self.boundaries.iter().filter(|one| one.at < self.valid_until);
        let mut boundaries: Vec<Boundary> = said.copied().collect();
        boundaries.sort_by_key(|one| one.at);
        boundaries
    }

    /// The capacity from server to client at `at` that is exceeded with probability 1 −
    /// `quantile`; `None` where nothing is said.
    pub fn down(&self, at: Instant, quantile: Probability) -> Option<Bitrate> {
        self.value(self.down_mbps.as_ref(), at, quantile).map(Bitrate::from_mbps)
    }

    /// The same from client to server.
    pub fn up(&self, at: Instant, quantile: Probability) -> Option<Bitrate> {
        self.value(self.up_mbps.as_ref(), at, quantile).map(Bitrate::from_mbps)
    }

    /// The round-trip time at `at` that is exceeded with probability 1 − `quantile`.
    pub fn rtt(&self, at: Instant, quantile: Probability) -> Option<Duration> {
        let ms = self.value(self.rtt_ms.as_ref(), at, quantile)?;
        Duration::try_from_secs_f64(ms / 1e3).ok()
    }

    fn value(&self, series: Option<&Series>, at: Instant, quantile: Probability) -> Option<f64> {
        series.filter(|_| !self.is_over(at))?.value(at, quantile)
    }
}
