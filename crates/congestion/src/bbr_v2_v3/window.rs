//! How much may be in flight: targets from the model, the way there, and the bounds.

use super::{Ack, BbrV2V3, Mode, Probing, Repair};
use crate::bbr::gain::Gain;
use units::Bitrate;

/// Packets that keep the pipe busy with an ACK for every other one (tcp_bbr2.c
/// `bbr_cwnd_min_target`).
const MIN_WINDOW_PACKETS: u64 = 4;

impl BbrV2V3 {
    pub(super) fn min_window_bytes(&self) -> u64 {
        self.mss_bytes.saturating_mul(MIN_WINDOW_PACKETS)
    }

    /// Bandwidth times minimum RTT times `gain`, in whole packets, rounded up; the initial window
    /// when no RTT is known (tcp_bbr2.c `bbr_bdp`).
    pub(super) fn bdp_bytes(&self, bandwidth: Bitrate, gain: Gain) -> u64 {
        let Some(min_rtt) = self.min_rtt.get() else {
            return self.initial_window_bytes;
        };
        let bytes = gain.of(bandwidth).bytes_in(min_rtt);
        bytes.div_ceil(self.mss_bytes).saturating_mul(self.mss_bytes)
    }

    /// At least three bursts (in the sender, in its queue, in the receiver) and four packets, and
    /// two more while probing (tcp_bbr2.c `bbr_quantization_budget`, `bbr_cwnd_tso_budget` = 1).
    fn with_bursts(&self, bytes: u64) -> u64 {
        let bursts = self.mss_bytes.saturating_mul(3 * self.quantum_packets());
        let bytes = bytes.max(bursts).max(self.min_window_bytes());
        let probes = self.mode == Mode::ProbeBw(Probing::Up);
        bytes.saturating_add(if probes { 2 * self.mss_bytes } else { 0 })
    }

    /// Bytes in flight that `gain` asks for, by the largest bandwidth (tcp_bbr2.c `bbr_inflight` of
    /// `bbr_max_bw`).
    ///
    /// Linux compares it with what will be in the network when the next burst departs. Here packets
    /// wait outside the flight until they leave, so that what is in flight is in the network.
    pub(super) fn in_flight_target(&self, gain: Gain) -> u64 {
        self.with_bursts(self.bdp_bytes(self.max_bandwidth.get(), gain))
    }

    /// One BDP by the bounded bandwidth, or the window if that is less
    /// (tcp_bbr2.c `bbr2_target_inflight`).
    pub(super) fn target_in_flight(&self) -> u64 {
        let bdp = self.with_bursts(self.bdp_bytes(self.bandwidth(), Gain::UNIT));
        bdp.min(self.window_bytes)
    }

    /// The upper bound less what is left to others, at least one packet
    /// (tcp_bbr2.c `bbr2_inflight_with_headroom`).
    pub(super) fn in_flight_with_headroom(&self) -> u64 {
        let bound = self.bounds.in_flight_hi;
        if bound == u64::MAX {
            return bound;
        }
        let headroom = self.settings.headroom.of_bytes(bound).max(self.mss_bytes);
        bound.saturating_sub(headroom).max(self.min_window_bytes())
    }

    /// Moves the window towards its target by what was acknowledged, then bounds it
    /// (tcp_bbr2.c `bbr_set_cwnd`, `bbr2_bound_cwnd_for_inflight_model`).
    pub(super) fn set_window(&mut self, ack: &Ack<'_>) {
        if ack.sample.acked_bytes > 0 {
            let bandwidth = self.bandwidth();
            let extra = self.aggregation.extra_bytes(bandwidth) / self.mss_bytes * self.mss_bytes;
            let bdp = self.bdp_bytes(bandwidth, self.window_gain());
            let target = self.with_bursts(bdp.saturating_add(extra));
            let grown = self.window_bytes.saturating_add(ack.sample.acked_bytes);
            if self.full_pipe.reached {
                self.window_bytes = grown.min(target);
            } else if self.window_bytes < target.max(2 * self.initial_window_bytes) {
                self.window_bytes = grown;
            }
            self.window_bytes = self.window_bytes.max(self.min_window_bytes());
        }
        if self.mode == Mode::ProbeRtt {
            self.window_bytes = self.window_bytes.min(self.probe_rtt_window_bytes());
        }
        self.bound_window();
    }

    fn bound_window(&mut self) {
        let upper = match self.mode {
            Mode::ProbeBw(Probing::Cruise) | Mode::ProbeRtt => self.in_flight_with_headroom(),
            Mode::ProbeBw(_) => self.bounds.in_flight_hi,
            Mode::Startup | Mode::Drain => u64::MAX,
        };
        let bound = upper.min(self.bounds.in_flight_lo).max(self.min_window_bytes());
        self.window_bytes = self.window_bytes.min(bound);
    }

    /// Notes a good window before a repair or PROBE_RTT cuts it (tcp_bbr2.c `bbr_save_cwnd`).
    pub(super) fn save_window(&mut self) {
        let whole = self.repair == Repair::Nothing && self.mode != Mode::ProbeRtt;
        let floor = if whole { 0 } else { self.saved_window_bytes };
        self.saved_window_bytes = self.window_bytes.max(floor);
    }

    pub(super) fn restore_window(&mut self) {
        self.window_bytes = self.window_bytes.max(self.saved_window_bytes);
    }
}
