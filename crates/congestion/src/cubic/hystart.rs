//! HyStart++ (RFC 9406): leave slow start when the round-trip time rises, but not by a blip.

use crate::AckSample;
use units::Duration;

const MIN_RTT_THRESH: Duration = Duration::from_millis(4); // RFC 9406 §4.3
const MAX_RTT_THRESH: Duration = Duration::from_millis(16); // RFC 9406 §4.3
const MIN_RTT_DIVISOR: u32 = 8; // RFC 9406 §4.3
const N_RTT_SAMPLE: u32 = 8; // RFC 9406 §4.3
const CSS_GROWTH_DIVISOR: f64 = 4.0; // RFC 9406 §4.3
const CSS_ROUNDS: u32 = 5; // RFC 9406 §4.3
/// Packets of one ACK that count, for a sender that does not pace (RFC 9406 §4.3).
const L: f64 = 8.0;

/// Conservative slow start: the doubt before leaving.
#[derive(Clone, Copy, Debug)]
struct Css {
    /// Smallest RTT of the round that raised the doubt.
    baseline: Duration,
    /// Rounds begun, the partial one included.
    rounds: u32,
}

/// What one acknowledgement does to the window in slow start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Step {
    /// Packets to add.
    pub(super) grow: f64,
    /// Slow start is over: the window is the threshold.
    pub(super) leave: bool,
}

/// Watches the rounds of the first slow start; later ones have a threshold (RFC 9406 §4.2).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HyStart {
    /// Delivered bytes at which the round ends.
    round_end_bytes: u64,
    last_round_min: Option<Duration>,
    current_round_min: Option<Duration>,
    samples: u32,
    css: Option<Css>,
}

impl HyStart {
    /// In doubt: growing slowly before leaving.
    pub(super) fn is_conservative(&self) -> bool {
        self.css.is_some()
    }

    /// Reads one acknowledgement of `acked` packets.
    pub(super) fn on_ack(&mut self, ack: &AckSample, acked: f64) -> Step {
        let mut leave = false;
        if acked > 0.0 && ack.prior_delivered_bytes >= self.round_end_bytes {
            leave = self.begin_round(ack);
        }
        self.sample(ack.rtt);
        let counted = acked.min(L); // RFC 9406 §4.2
        let grow = if self.css.is_some() { counted / CSS_GROWTH_DIVISOR } else { counted };
        Step { grow, leave }
    }

    /// A round trip began; true when the last one of conservative slow start is over.
    fn begin_round(&mut self, ack: &AckSample) -> bool {
        self.round_end_bytes = ack.delivered_bytes;
        self.last_round_min = self.current_round_min.take(); // RFC 9406 §4.2
        self.samples = 0;
        let Some(css) = &mut self.css else { return false };
        css.rounds += 1;
        css.rounds > CSS_ROUNDS
    }

    fn sample(&mut self, rtt: Option<Duration>) {
        let Some(rtt) = rtt else { return };
        let current = self.current_round_min.map_or(rtt, |min| min.min(rtt));
        self.current_round_min = Some(current);
        self.samples += 1;
        if self.samples < N_RTT_SAMPLE {
            return;
        }
        match self.css {
            Some(css) if current < css.baseline => self.css = None, // RFC 9406 §4.2: a blip; resume
            Some(_) => {}
            None if self.last_round_min.is_some_and(|last| current >= last + threshold(last)) => {
                self.css = Some(Css { baseline: current, rounds: 1 }); // RFC 9406 §4.2
            }
            None => {}
        }
    }
}

/// How much more than the last round's RTT is a queue (RFC 9406 §4.2: RttThresh).
fn threshold(last: Duration) -> Duration {
    (last / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH)
}
