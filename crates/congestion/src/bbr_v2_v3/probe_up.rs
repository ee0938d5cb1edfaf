//! PROBE_BW, phase UP: send a quarter more, to see whether there is more.

use super::cycle::Feedback;
use super::version::Plateau;
use super::{Ack, BbrV2V3, Mode, Probing};
use crate::bbr::gain::Gain;
use units::{Bitrate, Duration, Instant};

/// From this many BDP on, what is in flight is a queue (tcp_bbr2.c `bbr_bw_probe_pif_gain`).
const QUEUE: Gain = Gain::CYCLE[0]; // 1.25
/// The growth of the bound doubles no more often (tcp_bbr2.c `bbr2_raise_inflight_hi_slope`).
const MAX_DOUBLINGS: u32 = 30;

impl BbrV2V3 {
    /// tcp_bbr2.c `bbr2_start_bw_probe_up`.
    pub(super) fn start_up(&mut self, now: Instant, ack: &Ack<'_>) {
        self.cycle.feedback = Feedback::Starting;
        self.cycle.since = now;
        self.rounds.restart(self.delivered_bytes);
        self.restart_plateau(ack);
        self.mode = Mode::ProbeBw(Probing::Up);
        self.raise_slope();
    }

    /// Version 3 looks for a plateau from here (tcp_bbr.c v3 `bbr_start_bw_probe_up`).
    fn restart_plateau(&mut self, ack: &Ack<'_>) {
        if self.version.plateau == Plateau::OfTheSamples {
            self.full_pipe.restart_from(ack.rate.map_or(Bitrate::ZERO, |rate| rate.rate));
        }
    }

    /// Each round of the probe, the bound grows twice as fast: by 1, 2, 4 packets per window
    /// (tcp_bbr2.c `bbr2_raise_inflight_hi_slope`).
    fn raise_slope(&mut self) {
        let window_packets = self.window_bytes / self.mss_bytes;
        let packets = (window_packets >> self.cycle.up_rounds).max(1);
        self.cycle.up_rounds = (self.cycle.up_rounds + 1).min(MAX_DOUBLINGS);
        self.cycle.up_bytes_per_packet = packets.saturating_mul(self.mss_bytes);
    }

    /// The bound is fully used without harm: raise it (tcp_bbr2.c `bbr2_probe_inflight_hi_upward`).
    pub(super) fn raise_upper_bound(&mut self, ack: &Ack<'_>) {
        if !self.bound_limits(ack) {
            if self.version.plateau == Plateau::OfTheMaximum {
                self.cycle.up_acked_bytes = 0; // version 2: unused credit is lost
            }
            return;
        }
        let acked = self.cycle.up_acked_bytes.saturating_add(ack.sample.acked_bytes);
        let packets = acked / self.cycle.up_bytes_per_packet;
        self.cycle.up_acked_bytes = acked - packets * self.cycle.up_bytes_per_packet;
        let more = packets.saturating_mul(self.mss_bytes);
        self.bounds.in_flight_hi = self.bounds.in_flight_hi.saturating_add(more);
        if self.rounds.started {
            self.raise_slope();
        }
    }

    fn bound_limits(&self, ack: &Ack<'_>) -> bool {
        ack.sample.window_limited && self.window_bytes >= self.bounds.in_flight_hi
    }

    /// Is the probe over? (tcp_bbr2.c `bbr2_update_cycle_phase`, case `BBR_BW_PROBE_UP`; loss ends
    /// it elsewhere)
    pub(super) fn check_end_of_up(&mut self, now: Instant, ack: &Ack<'_>) {
        // The burst that leaves next counts, as in Linux bbr_packets_in_net_at_edt.
        let burst = self.quantum_packets().saturating_mul(self.mss_bytes);
        let in_flight = ack.sample.prior_in_flight_bytes.saturating_add(burst);
        let risky = self.cycle.last_was_too_high && in_flight >= self.bounds.in_flight_hi;
        if risky {
            self.cycle.stopped_at_bound = true;
        }
        if risky || self.pipe_is_full(now, ack, in_flight) {
            self.cycle.last_was_too_high = false; // no loss yet
            self.start_down(now);
        }
    }

    fn pipe_is_full(&mut self, now: Instant, ack: &Ack<'_>, in_flight_bytes: u64) -> bool {
        match self.version.plateau {
            Plateau::OfTheMaximum => {
                let min_rtt = self.min_rtt.get().unwrap_or(Duration::ZERO);
                self.cycle.has_lasted(now, min_rtt)
                    && in_flight_bytes >= self.in_flight_target(QUEUE)
            }
            Plateau::OfTheSamples if self.bound_limits(ack) => {
                self.restart_plateau(ack); // the bound keeps the bandwidth from growing
                false
            }
            Plateau::OfTheSamples => self.full_pipe.now,
        }
    }
}
