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

/// The rounds of a slow start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LinuxHyStart {
    /// Delivered bytes at which the round ends.
    round_end_bytes: u64,
    round_start: Instant,
    /// End of the train so far: ACKs that follow each other closely.
    last_ack: Instant,
    round_min: Option<Duration>,
    samples: u32,
}

impl LinuxHyStart {
    /// Reads one acknowledgement at a window of `packets` on a path of `delay_min`; true when slow
    /// start is over.
    pub(super) fn on_ack(
        &mut self,
        now: Instant,
        ack: &AckSample,
        packets: f64,
        delay_min: Duration,
    ) -> bool {
        let Some(rtt) = ack.rtt else { return false };
        if ack.prior_delivered_bytes >= self.round_end_bytes {
            *self = Self {
                round_end_bytes: ack.delivered_bytes,
                round_start: now,
                last_ack: now,
                ..Self::default()
            };
        }
        packets >= LOW_WINDOW && (self.train(now, delay_min) | self.delay(rtt, delay_min))
    }

    /// A train longer than half the smallest RTT fills the path (of a sender that does not pace).
    fn train(&mut self, now: Instant, delay_min: Duration) -> bool {
        if now - self.last_ack > ACK_DELTA {
            return false;
        }
        self.last_ack = now;
        now - self.round_start > (delay_min + ACK_DELAY) / 2
    }

    /// The smallest RTT of the round has risen above that of the path.
    fn delay(&mut self, rtt: Duration, delay_min: Duration) -> bool {
        let round_min = self.round_min.map_or(rtt, |min| min.min(rtt));
        self.round_min = Some(round_min);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        round_min > delay_min + (delay_min / 8).clamp(DELAY_MIN, DELAY_MAX)
    }
}
