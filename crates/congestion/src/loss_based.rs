//! The window of a controller that takes loss as its signal: what NewReno, CUBIC, Hybla and the
//! coupled controls share.

use crate::{AckSample, Config, Phase};
use units::Duration;

/// What the path is repairing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repair {
    Nothing,
    LossEpisode,
    Timeout,
}

/// Window and threshold of before a reduction, in packets.
#[derive(Clone, Copy, Debug)]
struct Undo {
    packets: f64,
    ssthresh: f64,
}

/// Window, threshold and their reductions, in packets of one MSS.
///
/// Fractions of a packet are kept between ACKs (Linux keeps them as `snd_cwnd_cnt`), but only whole
/// packets may be in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    packets: f64,
    ssthresh: f64,
    mss_bytes: u64,
    initial: f64,
    least_ssthresh: f64,
    repair: Repair,
    undo: Option<Undo>,
}

impl Window {
    pub(crate) fn new(config: Config) -> Self {
        let initial = config.initial_window_packets.max(1) as f64;
        Self {
            packets: initial,
            ssthresh: f64::INFINITY, // RFC 5681 §3.1: initially arbitrarily high
            mss_bytes: config.mss(),
            initial,
            least_ssthresh: 2.0, // RFC 5681 §3.1 eq. 4
            repair: Repair::Nothing,
            undo: None,
        }
    }

    pub(crate) fn phase(&self) -> Phase {
        if self.in_slow_start() { Phase::SlowStart } else { Phase::Avoidance }
    }

    pub(crate) fn packets(&self) -> f64 {
        self.packets
    }

    /// Whole packets, in bytes; at least one.
    pub(crate) fn bytes(&self) -> u64 {
        whole_bytes(self.packets.max(1.0), self.mss_bytes)
    }

    pub(crate) fn ssthresh_bytes(&self) -> u64 {
        if self.ssthresh.is_infinite() {
            return u64::MAX;
        }
        whole_bytes(self.ssthresh, self.mss_bytes)
    }

    pub(crate) fn in_slow_start(&self) -> bool {
        self.packets < self.ssthresh // RFC 5681 §3.1; Linux tcp_in_slow_start
    }

    /// True before anything has set a threshold: the only slow start that HyStart++ governs.
    pub(crate) fn in_first_slow_start(&self) -> bool {
        self.ssthresh.is_infinite()
    }

    pub(crate) fn acked_packets(&self, ack: &AckSample) -> f64 {
        ack.acked_bytes as f64 / self.mss_bytes as f64
    }

    /// Growth needs a window that is the limit (RFC 7661 §3), and no loss episode: that is PRR's
    /// (RFC 6937 §3). The repair after a timeout does grow: Linux `tcp_cong_control` withholds
    /// growth in CWR and Recovery only.
    pub(crate) fn may_grow(&self, ack: &AckSample) -> bool {
        ack.window_limited && (!ack.in_recovery || self.repair == Repair::Timeout)
    }

    /// Adds `packets` up to the threshold, and returns what is left for congestion avoidance
    /// (Linux `tcp_slow_start`: appropriate byte counting without limit).
    pub(crate) fn grow_in_slow_start(&mut self, packets: f64) -> f64 {
        let grown = self.packets + packets; // RFC 5681 §3.1 eq. 2
        if grown <= self.ssthresh {
            self.packets = grown;
            return 0.0;
        }
        self.packets = self.ssthresh;
        grown - self.ssthresh
    }

    /// Congestion avoidance sets the window; it never shrinks by an acknowledgement.
    pub(crate) fn grow_to(&mut self, packets: f64) {
        self.packets = self.packets.max(packets);
    }

    /// Congestion avoidance of a control that may also shrink by an acknowledgement; at least one
    /// packet stays.
    pub(crate) fn move_by(&mut self, packets: f64) {
        self.packets = (self.packets + packets).max(1.0);
    }

    /// At most `packets`, at least one.
    pub(crate) fn shrink_to(&mut self, packets: f64) {
        self.packets = self.packets.min(packets).max(1.0);
    }

    /// Sets the threshold without a loss.
    pub(crate) fn set_ssthresh(&mut self, packets: f64) {
        self.ssthresh = packets.max(self.least_ssthresh);
    }

    pub(crate) fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    /// The first window, known with the RTT of the handshake.
    pub(crate) fn start_with(&mut self, packets: f64) {
        self.packets = packets.max(1.0);
    }

    /// The smallest threshold that a reduction leaves.
    pub(crate) fn set_least_ssthresh(&mut self, packets: f64) {
        self.least_ssthresh = packets;
    }

    /// A loss episode or a timeout is being repaired.
    pub(crate) fn is_repairing(&self) -> bool {
        self.repair != Repair::Nothing
    }

    /// Slow start ends here without a loss (RFC 9406 §4.2), above the least threshold: a window of one
    /// packet is what a timeout leaves.
    pub(crate) fn leave_slow_start(&mut self) {
        self.set_ssthresh(self.packets);
    }

    /// A loss episode begins: the window becomes `factor` of itself, the threshold at least two
    /// packets.
    ///
    /// Of the window, not of FlightSize as in RFC 5681 §3.1 eq. 4: like Linux `tcp_reno_ssthresh`;
    /// safe because a window that is not the limit never grew (RFC 9438 §4.6 asks for that).
    pub(crate) fn reduce(&mut self, factor: f64) {
        self.reduce_to((self.packets * factor).max(self.least_ssthresh));
    }

    /// A loss episode begins: the window becomes this threshold.
    pub(crate) fn reduce_to(&mut self, ssthresh: f64) {
        self.undo = Some(Undo { packets: self.packets, ssthresh: self.ssthresh });
        self.ssthresh = ssthresh;
        self.packets = self.packets.min(self.ssthresh); // a window of one does not grow by a loss
        self.repair = Repair::LossEpisode;
    }

    /// The retransmission timer fired: one packet (RFC 5681 §3.1, loss window).
    ///
    /// The threshold is set once: not by back-offs of the same timeout (RFC 5681 §3.1), nor within
    /// a loss episode that has set it already (Linux `tcp_enter_loss`; RFC 5681 would set it
    /// again).
    pub(crate) fn collapse(&mut self, factor: f64, repeated: bool) {
        if !repeated {
            self.undo = Some(Undo { packets: self.packets, ssthresh: self.ssthresh });
            if self.repair != Repair::LossEpisode {
                self.ssthresh = (self.packets * factor).max(self.least_ssthresh);
            }
        }
        self.packets = 1.0;
        self.repair = Repair::Timeout;
    }

    pub(crate) fn recovered(&mut self) {
        self.repair = Repair::Nothing;
    }

    /// Takes the last reduction back; false when there is none
    /// (RFC 4015 §3.2; Linux `tcp_undo_cwnd_reduction`: never below what has grown since).
    pub(crate) fn undo(&mut self) -> bool {
        let Some(before) = self.undo.take() else { return false };
        self.packets = self.packets.max(before.packets);
        self.ssthresh = self.ssthresh.max(before.ssthresh);
        self.repair = Repair::Nothing;
        true
    }

    /// Halves once per RTO of idleness, down to the initial window, in whole packets; true when that
    /// changed it (RFC 5681 §4.1 with the decay of RFC 2861 §3.1; Linux `tcp_cwnd_restart`).
    pub(crate) fn restart_after_idle(&mut self, idle: Duration, rto: Duration) -> bool {
        if idle <= rto {
            return false;
        }
        let (floor, before) = (self.initial.min(self.packets), self.packets);
        // Linux tcp_current_ssthresh
        self.ssthresh = self.ssthresh.max((before * 0.5).floor() + (before * 0.25).floor());
        let mut left = idle;
        while left > rto && self.packets > floor {
            left -= rto;
            self.packets = (self.packets * 0.5).floor().max(floor);
        }
        self.packets < before
    }

    /// Half the window, and half the threshold unless in slow start
    /// (MPTCP v0.96 `mptcp_sched.c` `mptcp_rcv_buf_optimization`; docs/model.md §2.6).
    pub(crate) fn penalise(&mut self) {
        if !self.in_slow_start() {
            self.ssthresh = (self.ssthresh * 0.5).max(2.0);
        }
        self.packets = (self.packets * 0.5).max(1.0);
    }
}

/// Bytes of the whole packets in `packets` (the cast saturates).
fn whole_bytes(packets: f64, mss_bytes: u64) -> u64 {
    (packets as u64).saturating_mul(mss_bytes)
}
