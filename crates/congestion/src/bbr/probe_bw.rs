//! PROBE_BW: cycle through eight gains, one minimum RTT each, to find more bandwidth and share it.

use super::gain::Gain;
use super::{Bbr, Mode};
use rand::Rng;
use units::Instant;

/// Phases among which the first one is drawn (tcp_bbr.c `bbr_cycle_rand`).
const RANDOM_PHASES: u64 = 7;

impl Bbr {
    /// Begins anywhere but in the draining phase, which has nothing to drain yet
    /// (tcp_bbr.c `bbr_reset_probe_bw_mode`).
    pub(super) fn enter_probe_bw(&mut self, now: Instant) {
        self.mode = Mode::ProbeBw;
        // A number below 7 from 32 random bits (Linux get_random_u32_below, without the rejection).
        let drawn = (u64::from(self.rng.next_u32()) * RANDOM_PHASES) >> 32;
        self.cycle.phase = Gain::CYCLE.len() - 1 - drawn as usize;
        self.cycle.advance(now);
    }

    /// Moves to the next phase when this one has done its work
    /// (tcp_bbr.c `bbr_is_next_cycle_phase`).
    pub(super) fn update_cycle(&mut self, now: Instant, prior_in_flight: u64, lost: bool) {
        if self.mode == Mode::ProbeBw && self.phase_is_over(now, prior_in_flight, lost) {
            self.cycle.advance(now);
        }
    }

    fn phase_is_over(&self, now: Instant, prior_in_flight: u64, lost: bool) -> bool {
        let full_length = self.min_rtt.get().is_some_and(|rtt| now - self.cycle.since > rtt);
        let gain = self.pacing_gain();
        if gain == Gain::UNIT {
            return full_length;
        }
        if gain > Gain::UNIT {
            // Until the queue has room for no more, or 1.25 BDP (and the burst that leaves next)
            // are in flight.
            let soon = prior_in_flight.saturating_add(self.quantum_packets() * self.mss_bytes);
            return full_length && (lost || soon >= self.in_flight_target(gain));
        }
        full_length || prior_in_flight <= self.in_flight_target(Gain::UNIT)
    }
}
