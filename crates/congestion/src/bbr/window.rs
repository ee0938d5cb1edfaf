//! How much may be in flight: targets from the model, and the way there.

use super::gain::Gain;
use super::{Bbr, MIN_WINDOW_PACKETS, Mode};
use crate::AckSample;
use units::Bitrate;

impl Bbr {
    /// Bandwidth times minimum RTT times `gain`, in packets, rounded up; the initial window when no
    /// RTT is known (tcp_bbr.c `bbr_bdp`).
    fn bdp_packets(&self, bandwidth: Bitrate, gain: Gain) -> u64 {
        let Some(min_rtt) = self.min_rtt.get() else {
            return self.initial_window_bytes / self.mss_bytes;
        };
        gain.of(bandwidth).bytes_in(min_rtt).div_ceil(self.mss_bytes)
    }

    /// Room for three bursts (in the sender, in its queue, in the receiver), an even number of
    /// packets, and two more while probing (tcp_bbr.c `bbr_quantization_budget`).
    fn with_bursts(&self, packets: u64) -> u64 {
        let packets = packets.saturating_add(3 * self.quantum_packets());
        let even = packets.saturating_add(packets & 1);
        let probes = self.mode == Mode::ProbeBw && self.cycle.probes();
        even.saturating_add(if probes { 2 } else { 0 })
    }

    /// Bytes in flight that `gain` asks for, by the measured bandwidth (tcp_bbr.c `bbr_inflight`
    /// of `bbr_max_bw`).
    ///
    /// Linux compares it with what will be in the network when the next burst departs. Here packets
    /// wait outside the flight until they leave, so that what is in flight is in the network.
    pub(super) fn in_flight_target(&self, gain: Gain) -> u64 {
        let packets = self.bdp_packets(self.max_bandwidth.get(), gain);
        self.with_bursts(packets).saturating_mul(self.mss_bytes)
    }

    fn window_target(&self) -> u64 {
        let bandwidth = self.bandwidth();
        let mut packets = self.bdp_packets(bandwidth, self.window_gain());
        if self.full_pipe.reached {
            packets = packets.saturating_add(
                self.aggregation.extra_bytes(bandwidth) / self.mss_bytes, // whole packets, as Linux
            );
        }
        self.with_bursts(packets).saturating_mul(self.mss_bytes)
    }

    /// Moves the window towards its target by what was acknowledged (tcp_bbr.c `bbr_set_cwnd`).
    pub(super) fn set_window(&mut self, ack: &AckSample) {
        if ack.acked_bytes > 0 && !self.conserve(ack) {
            let target = self.window_target();
            let grown = self.window_bytes.saturating_add(ack.acked_bytes);
            if self.full_pipe.reached {
                self.window_bytes = grown.min(target);
            } else if self.window_bytes < target || ack.delivered_bytes < self.initial_window_bytes
            {
                self.window_bytes = grown;
            }
            self.window_bytes = self.window_bytes.max(MIN_WINDOW_PACKETS * self.mss_bytes);
        }
        self.clamp_window();
    }

    /// Packet conservation in the first round of a repair: one packet out for each one in. True
    /// while that decides (tcp_bbr.c `bbr_set_cwnd_to_recover_or_restore`).
    fn conserve(&mut self, ack: &AckSample) -> bool {
        let released = ack.in_flight_bytes.saturating_add(ack.acked_bytes);
        self.window_bytes = self.window_bytes.saturating_sub(ack.lost_bytes).max(self.mss_bytes);
        if self.repair_begins {
            self.repair_begins = false;
            self.conserving = true;
            self.rounds.restart(ack.delivered_bytes);
            self.window_bytes = released;
        }
        if self.conserving {
            self.window_bytes = self.window_bytes.max(released);
        }
        self.conserving
    }

    /// Notes a good window before a repair or PROBE_RTT cuts it (tcp_bbr.c `bbr_save_cwnd`).
    pub(super) fn save_window(&mut self) {
        let whole = !self.repairing && self.mode != Mode::ProbeRtt;
        let floor = if whole { 0 } else { self.saved_window_bytes };
        self.saved_window_bytes = self.window_bytes.max(floor);
    }

    pub(super) fn restore_window(&mut self) {
        self.window_bytes = self.window_bytes.max(self.saved_window_bytes);
    }

    /// At least one packet; in PROBE_RTT at most four.
    pub(super) fn clamp_window(&mut self) {
        if self.mode == Mode::ProbeRtt {
            self.window_bytes = self.window_bytes.min(MIN_WINDOW_PACKETS * self.mss_bytes);
        }
        self.window_bytes = self.window_bytes.max(self.mss_bytes);
    }
}
