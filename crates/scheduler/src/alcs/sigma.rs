//! The correction factors of ALCS: sigma, and what was expected against what happened
//! (docs/model.md §5.1, §5.3).

use std::cmp::Ordering;
use units::{Duration, Instant};

/// sigma is kept in millionths.
pub(crate) const ONE: u128 = 1_000_000;

/// How sigma moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// alpha in millionths: 0.99.
    pub alpha_micro: u128,
    /// Smallest sigma in millionths.
    pub min_micro: u128,
    /// Largest sigma in millionths.
    pub max_micro: u128,
}

/// What an interval expects to be delivered (§5.3 item 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Etp {
    /// What the window carries in that time by the estimate.
    Window,
    /// What was dispatched in it.
    Dispatched,
}

/// A path at the beginning T_0 of an interval: what the expectation is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frozen {
    pub cwnd_packets: u64,
    pub mss_bytes: u64,
    /// RTT and its variation: rtt_i + Delta_i.
    pub round: Duration,
}

/// sigma of one path with the counters of its present interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sigma {
    pub micro: u128,
    frozen: Option<Frozen>,
    sent_bytes: u64,
    acked_bytes: u64,
    /// The window was full at a decision of this interval.
    limited: bool,
    /// Something was in flight at the last decision, since then, and before that for this long in
    /// this interval.
    busy: bool,
    busy_since: Instant,
    busy_for: Duration,
}

impl Default for Sigma {
    fn default() -> Self {
        Self {
            micro: ONE, // §5.1: sigma starts at 1.0
            frozen: None,
            sent_bytes: 0,
            acked_bytes: 0,
            limited: false,
            busy: false,
            busy_since: Instant::ZERO,
            busy_for: Duration::ZERO,
        }
    }
}

impl Sigma {
    pub fn on_sent(&mut self, bytes: u64) {
        self.sent_bytes = self.sent_bytes.saturating_add(bytes);
    }

    pub fn on_acked(&mut self, bytes: u64) {
        self.acked_bytes = self.acked_bytes.saturating_add(bytes);
    }

    /// Notes at a decision whether the path is in use.
    pub fn observe(&mut self, now: Instant, is_full: bool, in_flight: bool) {
        self.limited |= is_full;
        if self.busy != in_flight {
            self.settle(now);
            self.busy = in_flight;
        }
    }

    /// Adds the busy time up to now.
    fn settle(&mut self, now: Instant) {
        if self.busy {
            self.busy_for += now - self.busy_since;
        }
        self.busy_since = now;
    }

    /// §5.3 item 6: an interval says something only when the window was the limit, or something was
    /// in flight for nine tenths of it. Else: waiting → nothing delivered → wait even more.
    fn is_idle(&self, elapsed: Duration) -> bool {
        !self.limited && self.busy_for * 10 < elapsed * 9
    }

    /// Ends the interval `(now, elapsed)`, moves sigma, and begins the next one with the path as it
    /// is now.
    pub fn update(
        &mut self,
        (now, elapsed): (Instant, Duration),
        etp: Etp,
        guard: bool,
        limits: &Limits,
        next: Frozen,
    ) {
        self.settle(now);
        if let Some(frozen) = self.frozen {
            let order = match etp {
                Etp::Dispatched => self.acked_bytes.cmp(&self.sent_bytes),
                Etp::Window if guard && self.is_idle(elapsed) => Ordering::Equal,
                Etp::Window => against_window(self.micro, self.acked_bytes, elapsed, &frozen),
            };
            self.micro = moved(self.micro, order, limits);
        }
        self.frozen = Some(next);
        self.sent_bytes = 0;
        self.acked_bytes = 0;
        self.limited = false;
        self.busy_for = Duration::ZERO;
    }
}

/// atp against etp = elapsed * w / ((rtt + Delta) * sigma), compared without dividing (§5.3 item 4).
pub(crate) fn against_window(
    sigma_micro: u128,
    acked_bytes: u64,
    elapsed: Duration,
    frozen: &Frozen,
) -> Ordering {
    let window_bytes = u128::from(frozen.cwnd_packets) * u128::from(frozen.mss_bytes);
    let expected = u128::from(elapsed.as_micros()).saturating_mul(window_bytes).saturating_mul(ONE);
    let actual = u128::from(acked_bytes).saturating_mul(u128::from(frozen.round.as_micros()));
    actual.saturating_mul(sigma_micro).cmp(&expected)
}

/// §5.1: atp > etp → sigma * alpha, atp < etp → sigma / alpha, equal → sigma; within its limits.
pub(crate) fn moved(sigma_micro: u128, atp_to_etp: Ordering, limits: &Limits) -> u128 {
    let moved = match atp_to_etp {
        Ordering::Greater => sigma_micro * limits.alpha_micro / ONE,
        Ordering::Less => sigma_micro * ONE / limits.alpha_micro,
        Ordering::Equal => sigma_micro,
    };
    moved.max(limits.min_micro).min(limits.max_micro)
}
