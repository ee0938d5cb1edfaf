use units::{Bitrate, Duration, Instant};

/// Packets that may leave back to back (RFC 9002 §7.7: no more than the initial window).
const BURST_PACKETS: u64 = 10;

/// Spaces packets at a rate (RFC 9002 §7.7).
#[derive(Debug, Default)]
pub(crate) struct Pacer {
    /// What was sent is paid for at this moment.
    paid_at: Instant,
}

impl Pacer {
    /// When the next packet may leave.
    pub fn ready_at(&self, rate: Bitrate, packet_bytes: u64) -> Instant {
        let credit = rate.time_for(packet_bytes * (BURST_PACKETS - 1)).unwrap_or(Duration::ZERO);
        self.paid_at.saturating_sub(credit)
    }

    pub fn on_sent(&mut self, now: Instant, rate: Bitrate, bytes: u64) {
        let cost = rate.time_for(bytes).unwrap_or(Duration::ZERO);
        self.paid_at = self.paid_at.max(now) + cost;
    }
}
