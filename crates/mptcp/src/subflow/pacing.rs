//! Spacing packets at the controller's rate (Linux `tcp_update_skb_after_send`).

use units::{Bitrate, Duration, Instant};

/// Lets a quantum leave back to back, then waits until the rate has caught up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pacer {
    /// The rate admits the next burst from here on.
    next: Instant,
    /// The present burst ends when `next` reaches this.
    burst_end: Instant,
}

impl Pacer {
    /// Whether a packet may leave now. `quantum_bytes` at `rate` make one burst.
    pub fn allows(&mut self, now: Instant, rate: Bitrate, quantum_bytes: u64) -> bool {
        if self.next <= now {
            self.next = now;
            self.burst_end = now + time_for(rate, quantum_bytes);
        }
        self.next < self.burst_end
    }

    /// A packet of `bytes` left.
    pub fn on_sent(&mut self, rate: Bitrate, bytes: u64) {
        self.next += time_for(rate, bytes);
    }

    /// When the next burst may begin.
    pub fn next(&self) -> Instant {
        self.next
    }
}

fn time_for(rate: Bitrate, bytes: u64) -> Duration {
    // A rate of zero would never let a packet leave; one bit per second is as good as that and
    // needs no case.
    let bps = rate.as_bps().max(1);
    let nanos = match bytes.checked_mul(8_000_000_000) {
        Some(work) => work / bps,
        None => u64::MAX / 2,
    };
    Duration::from_nanos(nanos)
}
