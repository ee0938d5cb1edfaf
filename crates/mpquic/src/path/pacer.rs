use units::{Bitrate, Duration, Instant};

/// Spaces packets at a rate (RFC 9002 §7.7).
#[derive(Debug, Default)]
pub(crate) struct Pacer {
    /// What was sent is paid for at this moment.
    paid_at: Instant,
    /// What falls due within this time may leave at once.
    grain: Duration,
    /// Nothing leaves before, so that a batch is worth its costs.
    held_until: Instant,
}

impl Pacer {
    pub fn new(grain: Duration) -> Self {
        Self { grain, ..Self::default() }
    }

    /// When the next packet may leave, and `burst_bytes` back to back with it.
    pub fn ready_at(&self, rate: Bitrate, burst_bytes: u64) -> Instant {
        let burst = rate.time_for(burst_bytes).unwrap_or(Duration::ZERO);
        self.paid_at.saturating_sub(burst.max(self.grain)).max(self.held_until)
    }

    /// The next packet may leave now.
    pub fn is_ready(&self, now: Instant, rate: Bitrate, burst_bytes: u64) -> bool {
        let is_paid = self.paid_at <= now && self.held_until <= now; // whatever the rate
        is_paid || self.ready_at(rate, burst_bytes) <= now
    }

    /// The next packet has to wait: with others, for half of what may leave at once. The rate stays
    /// what it is.
    pub fn hold(&mut self, now: Instant) {
        if self.held_until <= now {
            self.held_until = now + self.grain / 2;
        }
    }

    pub fn on_sent(&mut self, now: Instant, rate: Bitrate, bytes: u64) {
        let cost = rate.time_for(bytes).unwrap_or(Duration::ZERO);
        self.paid_at = self.paid_at.max(now) + cost;
    }
}
