//! BBR version 1: model the path by its bandwidth and its minimum RTT, and send by the model.
//!
//! Follows Linux `net/ipv4/tcp_bbr.c` (as `tcp_bbr1.c` in google/bbr, commit 69142bfd), one file
//! per mode. Differences: windows and rates are in bytes and bits per second, not in packets and
//! packets per microsecond; whatever else differs says so where it does.

pub(crate) mod ack_aggregation;
pub(crate) mod cycle;
pub(crate) mod dip;
mod drain;
pub(crate) mod filters;
pub(crate) mod full_pipe;
pub(crate) mod gain;
pub(crate) mod pacing;
mod policer;
mod probe_bw;
mod probe_rtt;
mod startup;
#[cfg(test)]
mod tests;
mod window;

use crate::{AckSample, Config, Controller, LossSample, Phase};
use ack_aggregation::{AckAggregation, Arrival, HALF_WINDOW_ROUNDS};
use cycle::Cycle;
use dip::Dip;
use filters::{MaxBandwidth, MinRtt, Rounds};
use full_pipe::FullPipe;
use gain::Gain;
use pacing::Pacing;
use parameters::Info;
use policer::{Observation, Policer};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use units::{Bitrate, Duration, Instant};

/// Packets that keep the pipe busy with an ACK for every other one (tcp_bbr.c
/// `bbr_cwnd_min_target`).
const MIN_WINDOW_PACKETS: u64 = 4;

pub(crate) const INFO: Info = Info {
    name: "bbr",
    title: "BBR version 1",
    source: "Linux tcp_bbr.c (google/bbr tcp_bbr1.c)",
    parameters: &[],
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// BBR version 1.
#[derive(Debug)]
pub(crate) struct Bbr {
    mss_bytes: u64,
    initial_window_bytes: u64,
    window_bytes: u64,
    saved_window_bytes: u64,
    ssthresh_bytes: u64,
    delivered_bytes: u64,
    mode: Mode,
    /// A loss episode or a timeout is being repaired (Linux `TCP_CA_Recovery`, `TCP_CA_Loss`).
    repairing: bool,
    /// The next acknowledgement is the first one of a loss episode.
    repair_begins: bool,
    /// Packet conservation holds.
    conserving: bool,
    /// Sending has resumed after idle, and nothing was delivered since.
    idle_restart: bool,
    rounds: Rounds,
    max_bandwidth: MaxBandwidth,
    min_rtt: MinRtt,
    full_pipe: FullPipe,
    cycle: Cycle,
    dip: Dip,
    aggregation: AckAggregation,
    policer: Policer,
    pacing: Pacing,
    rng: ChaCha8Rng,
}

impl Bbr {
    pub(crate) fn new(config: Config) -> Self {
        let mss_bytes = config.mss();
        let window_bytes = config.initial_window_packets.max(1).saturating_mul(mss_bytes);
        Self {
            mss_bytes,
            initial_window_bytes: window_bytes,
            window_bytes,
            saved_window_bytes: 0,
            ssthresh_bytes: u64::MAX,
            delivered_bytes: 0,
            mode: Mode::Startup,
            repairing: false,
            repair_begins: false,
            conserving: false,
            idle_restart: false,
            rounds: Rounds::default(),
            max_bandwidth: MaxBandwidth::default(),
            min_rtt: MinRtt::default(),
            full_pipe: FullPipe::default(),
            cycle: Cycle::default(),
            dip: Dip::default(),
            aggregation: AckAggregation::default(),
            policer: Policer::default(),
            pacing: Pacing::new(window_bytes, mss_bytes, Gain::HIGH),
            rng: ChaCha8Rng::seed_from_u64(config.seed),
        }
    }

    /// The bandwidth to send by: a policer's rate, or the largest of ten rounds
    /// (tcp_bbr.c `bbr_bw`).
    fn bandwidth(&self) -> Bitrate {
        self.policer.rate().unwrap_or_else(|| self.max_bandwidth.get())
    }

    /// tcp_bbr.c `bbr_update_gains`.
    fn pacing_gain(&self) -> Gain {
        match self.mode {
            Mode::Startup => Gain::HIGH,
            Mode::Drain => Gain::DRAIN,
            Mode::ProbeBw if self.policer.rate().is_none() => self.cycle.gain(),
            Mode::ProbeBw | Mode::ProbeRtt => Gain::UNIT,
        }
    }

    /// tcp_bbr.c `bbr_update_gains`.
    fn window_gain(&self) -> Gain {
        match self.mode {
            Mode::Startup | Mode::Drain => Gain::HIGH,
            Mode::ProbeBw => Gain::WINDOW,
            Mode::ProbeRtt => Gain::UNIT,
        }
    }

    fn quantum_packets(&self) -> u64 {
        self.pacing.quantum_packets(self.mss_bytes)
    }

    /// Bandwidth, rounds and policer (tcp_bbr.c `bbr_update_bw`). Rounds pass with every packet
    /// that is acknowledged, even when no rate could be sampled, as in draft-ietf-ccwg-bbr §5.5.1;
    /// Linux skips those ACKs.
    fn update_bandwidth(&mut self, now: Instant, ack: &AckSample, app_limited: bool) {
        self.rounds.started = false;
        if ack.acked_bytes == 0 {
            return;
        }
        self.rounds.on_acked(ack.prior_delivered_bytes, ack.delivered_bytes);
        if self.rounds.started {
            self.conserving = false;
        }
        let seen = Observation {
            delivered_bytes: ack.delivered_bytes,
            lost: ack.lost_bytes > 0,
            app_limited,
            round_started: self.rounds.started,
            probing_bandwidth: self.mode == Mode::ProbeBw,
        };
        if self.policer.observe(now, seen) {
            self.enter_probe_bw(now);
        }
        let Some(sample) = ack.rate.filter(|sample| sample.rate > Bitrate::ZERO) else { return };
        // A sample that the application limited is a lower bound: it may only raise the filter.
        if !app_limited || sample.rate >= self.max_bandwidth.get() {
            self.max_bandwidth.update(self.rounds.count, sample.rate);
        }
    }

    fn update_aggregation(&mut self, now: Instant, ack: &AckSample) {
        if ack.acked_bytes == 0 || ack.rate.is_none() {
            return;
        }
        let arrival = Arrival {
            acked_bytes: ack.acked_bytes,
            round_started: self.rounds.started,
            bandwidth: self.bandwidth(),
            window_bytes: self.window_bytes,
            half_window_rounds: HALF_WINDOW_ROUNDS,
        };
        self.aggregation.on_acked(now, arrival, self.mss_bytes);
    }

    /// Was the sampled packet sent while the path had no more to send (or in a PROBE_RTT dip)?
    fn is_app_limited(&self, ack: &AckSample) -> bool {
        let by_sender = ack.rate.is_some_and(|sample| sample.app_limited);
        by_sender || self.dip.covers(ack.prior_delivered_bytes)
    }

    /// The repair is over: back to the window of before (tcp_bbr.c, "Exiting loss recovery").
    fn end_repair(&mut self) {
        if !self.repairing {
            return;
        }
        self.repairing = false;
        self.repair_begins = false;
        self.conserving = false;
        self.restore_window();
        self.clamp_window();
    }
}

impl Controller for Bbr {
    fn window_bytes(&self) -> u64 {
        self.window_bytes
    }

    fn phase(&self) -> Phase {
        match self.mode {
            Mode::Startup => Phase::Startup,
            Mode::Drain => Phase::Drain,
            Mode::ProbeBw => Phase::ProbeBw,
            Mode::ProbeRtt => Phase::ProbeRtt,
        }
    }

    fn ssthresh_bytes(&self) -> u64 {
        self.ssthresh_bytes
    }

    fn pacing_rate(&self) -> Option<Bitrate> {
        Some(self.pacing.rate())
    }

    fn send_quantum_bytes(&self) -> u64 {
        self.quantum_packets().saturating_mul(self.mss_bytes)
    }

    fn send_memory_windows(&self) -> u64 {
        3 // bbr_sndbuf_expand
    }

    fn reduces_by_prr(&self) -> bool {
        false
    }

    /// After idle, pace at the bandwidth: there is no queue to drain and no need to probe
    /// (tcp_bbr.c `bbr_cwnd_event`). The window stays: Linux exempts controllers that own it from
    /// `tcp_slow_start_after_idle`, so `on_idle_restart` does nothing.
    fn on_sent(&mut self, now: Instant, _bytes: u64, _in_flight_bytes: u64, was_idle: bool) {
        if !was_idle || self.repairing {
            return;
        }
        self.idle_restart = true;
        self.aggregation.restart(now);
        match self.mode {
            Mode::ProbeBw => {
                self.pacing.follow(self.bandwidth(), Gain::UNIT, self.full_pipe.reached);
            }
            Mode::ProbeRtt => self.check_probe_rtt_done(now),
            Mode::Startup | Mode::Drain => {}
        }
    }

    fn on_handshake(&mut self, rtt: Duration) {
        self.pacing.on_srtt(self.window_bytes, rtt);
    }

    /// tcp_bbr.c `bbr_main`: the model, then the rate and the window that follow from it.
    fn on_acked(&mut self, now: Instant, ack: &AckSample) {
        self.delivered_bytes = ack.delivered_bytes;
        let app_limited = self.is_app_limited(ack);
        self.update_bandwidth(now, ack, app_limited);
        self.update_aggregation(now, ack);
        self.update_cycle(now, ack.prior_in_flight_bytes, ack.lost_bytes > 0);
        self.check_full_pipe(app_limited);
        self.check_drain(now, ack.in_flight_bytes);
        self.update_min_rtt(now, ack);

        self.pacing.on_srtt(self.window_bytes, ack.srtt);
        self.pacing.follow(self.bandwidth(), self.pacing_gain(), self.full_pipe.reached);
        self.set_window(ack);
    }

    fn on_lost(&mut self, _now: Instant, loss: &LossSample) {
        self.policer.on_lost(loss.lost_bytes);
        if loss.new_episode {
            self.save_window(); // tcp_bbr.c bbr_ssthresh
            self.repairing = true;
            self.repair_begins = true;
        }
    }

    /// Version 1 has no answer to marks (tcp_bbr.c).
    fn on_congestion_experienced(&mut self, _now: Instant, _mark: &LossSample) {}

    fn on_recovered(&mut self, _now: Instant) {
        self.end_repair();
    }

    fn on_timeout(&mut self, now: Instant, in_flight_bytes: u64, repeated: bool) {
        self.policer.on_lost(in_flight_bytes);
        if !repeated {
            self.save_window();
        }
        self.repairing = true;
        self.repair_begins = false;
        self.window_bytes = self.mss_bytes; // Linux tcp_enter_loss
        self.full_pipe.on_timeout();
        let seen = Observation {
            delivered_bytes: self.delivered_bytes,
            lost: true,
            app_limited: false,
            round_started: true, // tcp_bbr.c bbr_set_state: "treat RTO like end of a round"
            probing_bandwidth: self.mode == Mode::ProbeBw,
        };
        if self.policer.observe(now, seen) {
            self.enter_probe_bw(now);
        }
    }

    fn on_spurious(&mut self, now: Instant) {
        self.full_pipe.restart(); // tcp_bbr.c bbr_undo_cwnd
        self.policer.reset(now, self.delivered_bytes);
        self.end_repair();
    }
}
