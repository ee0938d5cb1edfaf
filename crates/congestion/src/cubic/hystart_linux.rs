//! HyStart as Linux has it (`net/ipv4/tcp_cubic.c`, `hystart_update`, 6.18): leave slow start when a
//! train of ACKs is half as long as the path, or when the RTT has risen.

use crate::AckSample;
use units::{Duration, Instant};

const LOW_WINDOW: f64 = 16.0; // hystart_low_window
const MIN_SAMPLES: u32 = 8; // HYSTART_MIN_SAMPLES
const DELAY_MIN: Duration = Duration::from_millis(4); // HYSTART_DELAY_MIN
const DELAY_MAX: Duration = Duration::from_millis(16); // HYSTART_DELAY_MAX
const ACK_DELTA: Duration = Duration::from_millis(2); // hystart_ack_delta_us
/// What a receiver's offloads hold back: `hystart_ack_delay`, at its limit below 2 Gbit/s.
const ACK_DELAY: Duration = Duration::from_millis(1);

/// The rounds of the first slow start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HyStartLinux {
    /// Delivered bytes at which the round ends.
    round_end_bytes: u64,
    round_start: Instant,
    /// End of the train so far: ACKs that follow each other closely.
    last_ack: Instant,
    round_min: Option<Duration>,
    samples: u32,
}

impl HyStartLinux {
    /// Reads one acknowledgement at a window of `packets`; true when slow start is over.
    pub(super) fn on_ack(&mut self, now: Instant, ack: &AckSample, packets: f64) -> bool {
        let Some(rtt) = ack.rtt else { return false };
        if ack.prior_delivered_bytes >= self.round_end_bytes {
            self.round_end_bytes = ack.delivered_bytes;
            (self.round_start, self.last_ack) = (now, now);
            (self.round_min, self.samples) = (None, 0);
        }
        packets >= LOW_WINDOW && (self.train(now, ack.min_rtt) | self.delay(rtt, ack.min_rtt))
    }

    /// A train that is longer than half the smallest RTT fills the path (a sender that does not pace).
    fn train(&mut self, now: Instant, min_rtt: Duration) -> bool {
        if now - self.last_ack > ACK_DELTA {
            return false;
        }
        self.last_ack = now;
        now - self.round_start > (min_rtt + ACK_DELAY) / 2
    }

    /// The smallest RTT of the round has risen above that of the path.
    fn delay(&mut self, rtt: Duration, min_rtt: Duration) -> bool {
        let round_min = self.round_min.map_or(rtt, |min| min.min(rtt));
        self.round_min = Some(round_min);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        round_min > min_rtt + (min_rtt / 8).clamp(DELAY_MIN, DELAY_MAX)
    }
}
