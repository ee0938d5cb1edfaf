//! PROBE_BW but for its probe: DOWN empties the queue, CRUISE stays at the bandwidth, REFILL fills
//! the pipe for one round before UP.

use super::cycle::Feedback;
use super::{Ack, BbrV2V3, Mode, Probing};
use crate::bbr::gain::Gain;
use rand::Rng;
use units::{Duration, Instant};

/// Random rounds to begin the count with (tcp_bbr2.c `bbr_bw_probe_rand_rounds`).
const RANDOM_ROUNDS: u64 = 2;
impl BbrV2V3 {
    /// STARTUP, REFILL and UP send more to see what happens: no lower bounds there
    /// (tcp_bbr2.c `bbr2_is_probing_bandwidth`).
    pub(super) fn is_probing_bandwidth(&self) -> bool {
        let probes = [Mode::Startup, Mode::ProbeBw(Probing::Refill), Mode::ProbeBw(Probing::Up)];
        probes.contains(&self.mode)
    }

    /// tcp_bbr2.c `bbr2_start_bw_probe_down`.
    pub(super) fn start_down(&mut self, now: Instant) {
        self.signals.reset();
        self.pick_wait();
        self.cycle.up_bytes_per_packet = u64::MAX;
        self.cycle.since = now;
        self.cycle.feedback = Feedback::Stopping;
        self.rounds.restart(self.delivered_bytes);
        self.mode = Mode::ProbeBw(Probing::Down);
    }

    /// tcp_bbr2.c `bbr2_start_bw_probe_cruise`.
    pub(super) fn start_cruise(&mut self) {
        if self.bounds.in_flight_lo != u64::MAX {
            self.bounds.in_flight_lo = self.bounds.in_flight_lo.min(self.bounds.in_flight_hi);
        }
        self.mode = Mode::ProbeBw(Probing::Cruise);
    }

    /// tcp_bbr2.c `bbr2_start_bw_probe_refill`.
    pub(super) fn start_refill(&mut self) {
        self.bounds.reset_lower();
        self.cycle.up_rounds = 0;
        self.cycle.up_acked_bytes = 0;
        self.cycle.stopped_at_bound = false;
        self.cycle.feedback = Feedback::Refilling;
        self.rounds.restart(self.delivered_bytes);
        self.mode = Mode::ProbeBw(Probing::Refill);
    }

    /// Random, so that flows do not probe together (tcp_bbr2.c `bbr2_pick_probe_wait`).
    fn pick_wait(&mut self) {
        self.cycle.rounds_since_probe = self.draw_below(RANDOM_ROUNDS);
        let micros = self.settings.probe_wait_random.as_micros();
        let random = Duration::from_micros(self.draw_below(micros));
        self.cycle.wait = self.settings.probe_wait + random;
    }

    /// A number below `end` from 32 random bits (Linux `get_random_u32_below`, without rejection).
    fn draw_below(&mut self, end: u64) -> u64 {
        (u64::from(self.rng.next_u32()) * end) >> 32
    }

    /// The phases of PROBE_BW (tcp_bbr2.c `bbr2_update_cycle_phase`).
    pub(super) fn update_cycle(&mut self, now: Instant, ack: &Ack<'_>) {
        if !self.full_pipe.reached || self.adapt_upper_bound(now, ack) {
            return;
        }
        let in_flight = ack.sample.prior_in_flight_bytes;
        match self.mode {
            Mode::ProbeBw(Probing::Cruise | Probing::Down) if self.is_time_to_probe(now) => {
                self.start_refill();
            }
            Mode::ProbeBw(Probing::Down) if self.is_time_to_cruise(in_flight) => {
                self.start_cruise();
            }
            Mode::ProbeBw(Probing::Refill) if self.rounds.started => {
                self.cycle.samples_are_of_probe = true;
                self.start_up(now, ack);
            }
            Mode::ProbeBw(Probing::Up) => self.check_end_of_up(now, ack),
            _ => {}
        }
    }

    /// The wait is over, or a Reno with this window would have lost a packet by now
    /// (tcp_bbr2.c `bbr2_check_time_to_probe_bw`, `bbr2_is_reno_coexistence_probe_time`).
    fn is_time_to_probe(&self, now: Instant) -> bool {
        if self.cycle.has_lasted(now, self.cycle.wait) {
            return true;
        }
        let rounds = self.cycle.rounds_since_probe;
        rounds >= self.settings.probe_max_rounds
            || rounds.saturating_mul(self.mss_bytes) >= self.target_in_flight()
    }

    /// The queue is gone and others have their headroom (tcp_bbr2.c `bbr2_check_time_to_cruise`).
    fn is_time_to_cruise(&self, in_flight_bytes: u64) -> bool {
        in_flight_bytes <= self.in_flight_with_headroom()
            && in_flight_bytes <= self.in_flight_target(Gain::UNIT)
    }
}
