//! What a path was like for a while: its largest rate and its smallest RTT.

use crate::AckSample;
use units::{Bitrate, Duration, Instant};

/// The past that is compared with what follows a boundary goes back this far, to twice as far.
const SPAN: Duration = Duration::from_millis(500);

/// Extremes of some acknowledgements.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    /// The largest rate that the application did not limit.
    pub(crate) rate: Option<Bitrate>,
    /// The smallest RTT.
    pub(crate) rtt: Option<Duration>,
}

impl Seen {
    pub(super) fn note(&mut self, ack: &AckSample) {
        let rate = ack.rate.filter(|rate| !rate.app_limited && rate.rate > Bitrate::ZERO);
        self.join(Self { rate: rate.map(|rate| rate.rate), rtt: ack.rtt });
    }

    fn join(&mut self, other: Self) {
        self.rate = self.rate.max(other.rate);
        self.rtt = self.rtt.into_iter().chain(other.rtt).min();
    }

    /// Both are known.
    pub(super) fn is_whole(self) -> bool {
        self.rate.is_some() && self.rtt.is_some()
    }

    /// Whether rate and RTT differ by no more than a share; what is not known does not differ.
    pub(super) fn agrees(self, other: Self, share: f64) -> bool {
        let near = |a: f64, b: f64| (a - b <= share * a) && (b - a <= share * a);
        let rates = self.rate.zip(other.rate);
        let rtts = self.rtt.zip(other.rtt);
        rates.is_none_or(|(a, b)| near(a.as_bps() as f64, b.as_bps() as f64))
            && rtts.is_none_or(|(a, b)| near(a.as_secs_f64(), b.as_secs_f64()))
    }
}

/// The last one or two spans.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recent {
    since: Instant,
    current: Seen,
    last: Seen,
}

impl Recent {
    pub(super) fn note(&mut self, now: Instant, ack: &AckSample) {
        if now - self.since > SPAN {
            self.last = self.current;
            self.current = Seen::default();
            self.since = now;
        }
        self.current.note(ack);
    }

    pub(super) fn seen(&self) -> Seen {
        let mut seen = self.current;
        seen.join(self.last);
        seen
    }
}
