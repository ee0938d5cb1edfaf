//! Bandwidth, by the largest sample and by a Kalman filter, and the way from STARTUP to the cruise.

use super::{LeoCc, Mode};
use crate::AckSample;
use crate::bbr::ack_aggregation::{Arrival, HALF_WINDOW_ROUNDS};
use crate::bbr::gain::Gain;
use rand::Rng;
use units::{Bitrate, Duration, Instant};

/// Phases among which the first one is drawn (leocc.c `leocc_cycle_rand`).
const RANDOM_PHASES: u64 = 7;

impl LeoCc {
    /// leocc.c `leocc_update_model`.
    pub(super) fn update_model(&mut self, now: Instant, ack: &AckSample) {
        let by_sender = ack.rate.is_some_and(|sample| sample.app_limited);
        let app_limited = by_sender || self.dip.covers(ack.prior_delivered_bytes);
        self.update_bandwidth(ack, app_limited);
        self.update_aggregation(now, ack);
        if self.mode == Mode::Cruise && self.phase_is_over(now, ack) {
            self.cycle.advance(now);
        }
        if self.rounds.started && !app_limited {
            self.full_pipe.on_round(self.max_bandwidth.get());
        }
        self.check_drain(now, ack.in_flight_bytes);
        self.update_min_rtt(now, ack);
    }

    /// leocc.c `leocc_update_bw`, and the Kalman rate, which takes the largest sample of each round of
    /// the cruise.
    fn update_bandwidth(&mut self, ack: &AckSample, app_limited: bool) {
        self.rounds.started = false;
        if ack.acked_bytes == 0 {
            return;
        }
        self.rounds.on_acked(ack.prior_delivered_bytes, ack.delivered_bytes);
        if self.rounds.started {
            self.conserving = false;
            if self.mode == Mode::Cruise {
                self.kalman_rate.update(self.round_rate.as_bps());
            }
            self.round_rate = Bitrate::ZERO;
        }
        let Some(sample) = ack.rate.filter(|sample| sample.rate > Bitrate::ZERO) else { return };
        self.round_rate = self.round_rate.max(sample.rate);
        let emptied = |rtt: Duration| self.smoothed_rtt() > rtt + self.settings.delta_thresh;
        if self.mode == Mode::ProbeRtt && ack.rtt.is_some_and(emptied) {
            self.seen_rate = self.latest_rate;
        }
        if !app_limited || sample.rate >= self.max_bandwidth.get() {
            self.max_bandwidth.update(self.rounds.count, sample.rate);
        }
        self.latest_rate = sample.rate;
    }

    fn update_aggregation(&mut self, now: Instant, ack: &AckSample) {
        if ack.acked_bytes == 0 || ack.rate.is_none() {
            return;
        }
        let arrival = Arrival {
            acked_bytes: ack.acked_bytes,
            round_started: self.rounds.started,
            bandwidth: self.max_bandwidth.get(),
            window_bytes: self.window_bytes,
            half_window_rounds: HALF_WINDOW_ROUNDS,
        };
        self.aggregation.on_acked(now, arrival, self.mss_bytes);
    }

    /// The RTT by a Kalman filter of its own.
    pub(super) fn smoothed_rtt(&self) -> Duration {
        Duration::from_nanos(self.kalman_rtt.get())
    }

    /// The rate to send by: the Kalman filter's while RTTs stand above their minimum in the cruise.
    pub(super) fn choose_bandwidth(&mut self, ack: &AckSample) -> Bitrate {
        if let Some(rtt) = ack.rtt {
            self.kalman_rtt.update(rtt.as_nanos());
        }
        let limit = |min_rtt: Duration| min_rtt.saturating_add(self.settings.rtt_fluctuation);
        let queued = self.min_rtt.get().is_some_and(|min| self.smoothed_rtt() >= limit(min));
        self.careful = queued && !self.triggered && self.mode == Mode::Cruise;
        if self.careful {
            return Bitrate::from_bps(self.kalman_rate.get());
        }
        self.max_bandwidth.get()
    }

    /// leocc.c `leocc_check_drain`: when STARTUP ends, the reconfiguration is over.
    fn check_drain(&mut self, now: Instant, in_flight_bytes: u64) {
        if self.mode == Mode::Startup && self.full_pipe.reached {
            self.seen_rate = Bitrate::ZERO;
            self.triggered = false;
            self.mode = Mode::Drain;
            self.ssthresh_bytes = self.in_flight_target(Gain::UNIT);
        }
        if self.mode == Mode::Drain && in_flight_bytes <= self.in_flight_target(Gain::UNIT) {
            self.enter_cruise(now);
        }
    }

    /// leocc.c `leocc_reset_probe_bw_mode`.
    pub(super) fn enter_cruise(&mut self, now: Instant) {
        self.mode = Mode::Cruise;
        let drawn = (u64::from(self.rng.next_u32()) * RANDOM_PHASES) >> 32;
        self.cycle.phase = Gain::CYCLE.len() - 1 - drawn as usize;
        self.cycle.advance(now);
    }

    /// leocc.c `leocc_is_next_cycle_phase`.
    fn phase_is_over(&self, now: Instant, ack: &AckSample) -> bool {
        let full_length = self.min_rtt.get().is_some_and(|rtt| now - self.cycle.since > rtt);
        let gain = self.pacing_gain();
        if gain == Gain::UNIT {
            return full_length;
        }
        let prior = ack.prior_in_flight_bytes;
        if gain > Gain::UNIT {
            let soon = prior.saturating_add(self.quantum_packets() * self.mss_bytes);
            return full_length && (ack.lost_bytes > 0 || soon >= self.in_flight_target(gain));
        }
        full_length || prior <= self.in_flight_target(Gain::UNIT)
    }
}
