//! Links that gather ACKs and release them at once (Wi-Fi, LTE, LEO frames) need more in flight
//! than the BDP: by as much as arrives beyond the expected.
//! (tcp_bbr.c `bbr_update_ack_aggregation`)

use units::{Bitrate, Duration, Instant};

/// Rounds in one half of the window (tcp_bbr.c `bbr_extra_acked_win_rtts`).
pub(crate) const HALF_WINDOW_ROUNDS: u32 = 5;
/// Packets after which an epoch is too old to compare (tcp_bbr.c
/// `bbr_ack_epoch_acked_reset_thresh`).
const EPOCH_PACKETS: u64 = 1 << 20;
/// No more extra than arrives in this time (tcp_bbr.c `bbr_extra_acked_max_us`).
const MAX_EXTRA_TIME: Duration = Duration::from_millis(100);

/// Largest surplus of acknowledged bytes in the last one to two half windows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AckAggregation {
    epoch_start: Instant,
    epoch_bytes: u64,
    /// Largest surplus of each half window.
    extra_bytes: [u64; 2],
    half: usize,
    rounds: u32,
}

/// What one acknowledgement adds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) acked_bytes: u64,
    pub(crate) round_started: bool,
    pub(crate) bandwidth: Bitrate,
    pub(crate) window_bytes: u64,
    /// Rounds after which the older half of the window is forgotten.
    pub(crate) half_window_rounds: u32,
}

impl AckAggregation {
    /// A new epoch begins: sending resumes after idle (tcp_bbr.c `bbr_cwnd_event`).
    pub(crate) fn restart(&mut self, now: Instant) {
        self.epoch_start = now;
        self.epoch_bytes = 0;
    }

    pub(crate) fn on_acked(&mut self, now: Instant, arrival: Arrival, mss_bytes: u64) {
        if arrival.round_started {
            self.rounds += 1;
            if self.rounds >= arrival.half_window_rounds {
                self.rounds = 0;
                self.half = 1 - self.half;
                self.extra_bytes[self.half] = 0;
            }
        }
        let mut expected = arrival.bandwidth.bytes_in(now - self.epoch_start);
        let total = self.epoch_bytes.saturating_add(arrival.acked_bytes);
        if self.epoch_bytes <= expected || total >= EPOCH_PACKETS.saturating_mul(mss_bytes) {
            self.restart(now);
            expected = 0;
        }
        self.epoch_bytes = self.epoch_bytes.saturating_add(arrival.acked_bytes);
        let extra = self.epoch_bytes.saturating_sub(expected).min(arrival.window_bytes);
        self.extra_bytes[self.half] = self.extra_bytes[self.half].max(extra);
    }

    /// Bytes to add to the window (tcp_bbr.c `bbr_ack_aggregation_cwnd`, gain 1).
    pub(crate) fn extra_bytes(&self, bandwidth: Bitrate) -> u64 {
        let extra = self.extra_bytes[0].max(self.extra_bytes[1]);
        extra.min(bandwidth.bytes_in(MAX_EXTRA_TIME))
    }
}
