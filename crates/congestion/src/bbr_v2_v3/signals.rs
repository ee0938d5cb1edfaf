//! What the last round trip delivered and lost, and the lower bounds that loss sets while the path
//! is not being probed.

use super::Ack;
use units::Bitrate;

/// Bounds on what is sent: the upper one from probes, the lower ones from losses between them. The
/// largest number means that there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    /// More in flight than this was too much (tcp_bbr2.c `inflight_hi`).
    pub(super) in_flight_hi: u64,
    /// tcp_bbr2.c `inflight_lo`.
    pub(super) in_flight_lo: u64,
    /// tcp_bbr2.c `bw_lo`.
    pub(super) bandwidth_lo: Bitrate,
}

impl Bounds {
    pub(super) const NONE: Self = Self {
        in_flight_hi: u64::MAX,
        in_flight_lo: u64::MAX,
        bandwidth_lo: Bitrate::from_bps(u64::MAX),
    };
    /// Changes nothing when an episode is undone.
    pub(super) const ZERO: Self =
        Self { in_flight_hi: 0, in_flight_lo: 0, bandwidth_lo: Bitrate::ZERO };

    /// The next probe begins without lower bounds (tcp_bbr2.c `bbr2_reset_lower_bounds`).
    pub(super) fn reset_lower(&mut self) {
        self.in_flight_lo = Self::NONE.in_flight_lo;
        self.bandwidth_lo = Self::NONE.bandwidth_lo;
    }

    /// The reductions since `before` were spurious (tcp_bbr2.c `bbr2_undo_cwnd`).
    pub(super) fn undo(&mut self, before: Self) {
        self.in_flight_hi = self.in_flight_hi.max(before.in_flight_hi);
        self.in_flight_lo = self.in_flight_lo.max(before.in_flight_lo);
        self.bandwidth_lo = self.bandwidth_lo.max(before.bandwidth_lo);
    }
}

/// Delivery and loss of the round trip in hand.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Signals {
    /// Delivered bytes at which the round ends; another count than that of the cycle, because a
    /// loss restarts it.
    round_end_bytes: u64,
    /// The acknowledgement in hand began a round.
    pub(super) round_started: bool,
    pub(super) lost: bool,
    /// Largest rate of the round.
    pub(super) bandwidth: Bitrate,
    /// Largest delivery within one sample of the round.
    pub(super) delivered_bytes: u64,
}

impl Signals {
    /// A loss: note the delivery over the full round trip from here
    /// (tcp_bbr2.c `bbr2_skb_marked_lost`).
    pub(super) fn on_lost(&mut self, delivered_bytes: u64) {
        if !self.lost {
            self.round_end_bytes = delivered_bytes;
        }
        self.lost = true;
    }

    /// tcp_bbr2.c `bbr2_reset_congestion_signals`.
    pub(super) fn reset(&mut self) {
        self.lost = false;
        self.bandwidth = Bitrate::ZERO;
        self.delivered_bytes = 0;
    }

    /// The losses of this round were none.
    pub(super) fn undo(&mut self) {
        self.lost = false;
    }

    pub(super) fn note(&mut self, ack: &Ack<'_>, rate: Bitrate, delivered_bytes: u64) {
        self.lost |= ack.sample.lost_bytes > 0;
        self.bandwidth = self.bandwidth.max(rate);
        self.delivered_bytes = self.delivered_bytes.max(delivered_bytes);
        self.round_started = ack.sample.prior_delivered_bytes >= self.round_end_bytes;
        if self.round_started {
            self.round_end_bytes = ack.sample.delivered_bytes;
        }
    }

    /// A new round knows its first sample only (tcp_bbr.c v3
    /// `bbr_advance_latest_delivery_signals`).
    pub(super) fn advance(&mut self, rate: Bitrate, delivered_bytes: u64) {
        self.bandwidth = rate;
        self.delivered_bytes = delivered_bytes;
    }
}
