//! How much may be in flight: BBR version 1's targets and way there.

use super::{LeoCc, Mode};
use crate::AckSample;
use crate::bbr::gain::Gain;
use units::Bitrate;

/// leocc.c `leocc_cwnd_min_target`.
const MIN_WINDOW_PACKETS: u64 = 4;

impl LeoCc {
    pub(super) fn min_window_bytes(&self) -> u64 {
        self.mss_bytes.saturating_mul(MIN_WINDOW_PACKETS)
    }

    /// leocc.c `leocc_bdp`.
    pub(super) fn bdp_bytes(&self, bandwidth: Bitrate, gain: Gain) -> u64 {
        let Some(min_rtt) = self.min_rtt.get() else {
            return self.initial_window_bytes;
        };
        let packets = gain.of(bandwidth).bytes_in(min_rtt).div_ceil(self.mss_bytes);
        packets.saturating_mul(self.mss_bytes)
    }

    /// leocc.c `leocc_quantization_budget`.
    fn with_bursts(&self, bytes: u64) -> u64 {
        let packets = (bytes / self.mss_bytes).saturating_add(3 * self.quantum_packets());
        let even = packets.saturating_add(packets & 1);
        let probes = self.mode == Mode::Cruise && self.cycle.probes();
        even.saturating_add(if probes { 2 } else { 0 }).saturating_mul(self.mss_bytes)
    }

    /// leocc.c `leocc_inflight` of `leocc_max_bw`.
    pub(super) fn in_flight_target(&self, gain: Gain) -> u64 {
        self.with_bursts(self.bdp_bytes(self.max_bandwidth.get(), gain))
    }

    /// leocc.c `leocc_set_cwnd`.
    pub(super) fn set_window(&mut self, ack: &AckSample, bandwidth: Bitrate) {
        if ack.acked_bytes > 0 && !self.conserve(ack) {
            let mut target = self.bdp_bytes(bandwidth, self.window_gain());
            if self.full_pipe.reached {
                let extra = self.aggregation.extra_bytes(self.max_bandwidth.get());
                target = target.saturating_add(extra / self.mss_bytes * self.mss_bytes);
            }
            let target = self.with_bursts(target);
            let grown = self.window_bytes.saturating_add(ack.acked_bytes);
            if self.full_pipe.reached {
                self.window_bytes = grown.min(target);
            } else if self.window_bytes < target || ack.delivered_bytes < self.initial_window_bytes
            {
                self.window_bytes = grown;
            }
            self.window_bytes = self.window_bytes.max(self.min_window_bytes());
        }
        self.clamp_window();
    }

    /// leocc.c `leocc_set_cwnd_to_recover_or_restore`.
    fn conserve(&mut self, ack: &AckSample) -> bool {
        let released = ack.in_flight_bytes.saturating_add(ack.acked_bytes);
        self.window_bytes = self.window_bytes.saturating_sub(ack.lost_bytes).max(self.mss_bytes);
        if std::mem::take(&mut self.repair_begins) {
            self.conserving = true;
            self.rounds.restart(ack.delivered_bytes);
            self.window_bytes = released;
        }
        if self.conserving {
            self.window_bytes = self.window_bytes.max(released);
        }
        self.conserving
    }

    /// leocc.c `leocc_save_cwnd`.
    pub(super) fn save_window(&mut self) {
        let whole = !self.repairing && self.mode != Mode::ProbeRtt;
        let floor = if whole { 0 } else { self.saved_window_bytes };
        self.saved_window_bytes = self.window_bytes.max(floor);
    }

    pub(super) fn restore_window(&mut self) {
        self.window_bytes = self.window_bytes.max(self.saved_window_bytes);
    }

    /// At least one packet; in PROBE_RTT at most half a BDP.
    pub(super) fn clamp_window(&mut self) {
        if self.mode == Mode::ProbeRtt {
            self.window_bytes = self.window_bytes.min(self.probe_rtt_window_bytes());
        }
        self.window_bytes = self.window_bytes.max(self.mss_bytes);
    }
}
