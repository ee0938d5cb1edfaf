//! BBR versions 2 and 3: the model of version 1 (bandwidth and minimum RTT), bounded by what losses
//! have taught, and probed now and then.
//!
//! Follows google/bbr `tcp_bbr2.c` (v2alpha, commit 0487ade5) and `tcp_bbr.c` (version 3, commit
//! 001a430b), one file per mode; in what the versions differ stands in `version.rs`. What names
//! `tcp_bbr2.c` holds for both.
//!
//! Deviations:
//! * No ECN: no acknowledgement here carries marks. Without them version 2's `bw_hi` never holds
//!   anything, so that it is left out.
//! * Windows and bounds are in bytes, compared with the loss threshold in whole packets.
//! * Packets that are found lost together are judged together (`upper_bound.rs`), and a timeout
//!   counts as a loss of its round but not as one of a probe: the samples that follow decide.
//! * An RTT equal to the minimum does not renew it, in version 2 either (`filters.rs`).
//! * Rounds pass with every packet that is acknowledged, even when no rate could be sampled.
//! * The surplus of gathered ACKs is kept for five to ten rounds, in the draft's constants too (it
//!   says ten). Tail-loss probes are losses like others.
//! * Linux's fast path for idle senders is a saving of cycles only, and left out.

mod ack;
mod cycle;
mod drain;
mod filters;
mod full_pipe;
mod info;
mod lower_bounds;
mod probe_bw;
mod probe_rtt;
mod probe_up;
mod renew;
mod signals;
mod startup;
#[cfg(test)]
mod tests;
mod upper_bound;
mod version;
mod window;

use crate::bbr::ack_aggregation::{AckAggregation, Arrival, HALF_WINDOW_ROUNDS};
use crate::bbr::dip::Dip;
use crate::bbr::filters::Rounds;
use crate::bbr::gain::Gain;
use crate::bbr::pacing::Pacing;
use crate::{AckSample, Config, Controller, LossSample, Phase, RateSample};
use ack::Ack;
use cycle::Cycle;
use filters::{MaxBandwidth, MinRtt};
use full_pipe::FullPipe;
pub(crate) use info::{V2, V3};
use parameters::Values;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use signals::{Bounds, Signals};
use units::{Bitrate, Duration, Instant};
use version::{Plateau, Settings, Version};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw(Probing),
    ProbeRtt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Probing {
    Down,
    Cruise,
    Refill,
    Up,
}

/// What the path repairs (Linux `TCP_CA_Recovery`, `TCP_CA_Loss`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repair {
    Nothing,
    LossEpisode,
    Timeout,
}

/// BBR version 2 or 3.
#[derive(Debug)]
pub(crate) struct BbrV2V3 {
    version: Version,
    settings: Settings,
    mss_bytes: u64,
    initial_window_bytes: u64,
    window_bytes: u64,
    saved_window_bytes: u64,
    ssthresh_bytes: u64,
    delivered_bytes: u64,
    mode: Mode,
    repair: Repair,
    /// Sending has resumed after idle, and nothing was delivered since.
    idle_restart: bool,
    rounds: Rounds,
    max_bandwidth: MaxBandwidth,
    min_rtt: MinRtt,
    full_pipe: FullPipe,
    /// Acknowledgements with loss in this round of STARTUP.
    loss_events: u64,
    signals: Signals,
    bounds: Bounds,
    /// Bounds of before the last episode.
    undo: Bounds,
    cycle: Cycle,
    dip: Dip,
    aggregation: AckAggregation,
    pacing: Pacing,
    rng: ChaCha8Rng,
}

impl BbrV2V3 {
    pub(crate) fn v2(config: Config, values: &Values) -> Self {
        Self::new(config, Version::v2(), values)
    }

    pub(crate) fn v3(config: Config, values: &Values) -> Self {
        Self::new(config, Version::v3(values.option("constants")), values)
    }

    fn new(config: Config, version: Version, values: &Values) -> Self {
        let mss_bytes = config.mss();
        let window_bytes = config.initial_window_packets.max(1).saturating_mul(mss_bytes);
        Self {
            version,
            settings: Settings::new(&version, values),
            mss_bytes,
            initial_window_bytes: window_bytes,
            window_bytes,
            saved_window_bytes: 0,
            ssthresh_bytes: u64::MAX,
            delivered_bytes: 0,
            mode: Mode::Startup,
            repair: Repair::Nothing,
            idle_restart: false,
            rounds: Rounds::default(),
            max_bandwidth: MaxBandwidth::default(),
            min_rtt: MinRtt::default(),
            full_pipe: FullPipe::default(),
            loss_events: 0,
            signals: Signals::default(),
            bounds: Bounds::NONE,
            undo: Bounds::ZERO,
            cycle: Cycle::default(),
            dip: Dip::default(),
            aggregation: AckAggregation::default(),
            pacing: Pacing::new(window_bytes, mss_bytes, version.startup_pacing),
            rng: ChaCha8Rng::seed_from_u64(config.seed),
        }
    }

    /// The bandwidth to send by (tcp_bbr2.c `bbr_bw`).
    fn bandwidth(&self) -> Bitrate {
        self.max_bandwidth.get().min(self.bounds.bandwidth_lo)
    }

    /// tcp_bbr2.c `bbr_update_gains`.
    fn pacing_gain(&self) -> Gain {
        match self.mode {
            Mode::Startup => self.version.startup_pacing,
            Mode::Drain => self.version.drain_pacing,
            Mode::ProbeBw(Probing::Up) => Gain::CYCLE[0], // 1.25: tcp_bbr2.c bbr_pacing_gain
            Mode::ProbeBw(Probing::Down) => self.version.down_pacing,
            Mode::ProbeBw(Probing::Cruise | Probing::Refill) | Mode::ProbeRtt => Gain::UNIT,
        }
    }

    /// tcp_bbr2.c `bbr_update_gains`.
    fn window_gain(&self) -> Gain {
        match self.mode {
            Mode::Startup | Mode::Drain => self.version.startup_window,
            Mode::ProbeBw(Probing::Up) => self.version.up_window,
            Mode::ProbeBw(_) => Gain::WINDOW,
            Mode::ProbeRtt => Gain::UNIT,
        }
    }

    fn quantum_packets(&self) -> u64 {
        self.pacing.quantum_packets(self.mss_bytes)
    }

    fn classify<'a>(&self, sample: &'a AckSample) -> Ack<'a> {
        let by_sender = sample.rate.is_some_and(|rate| rate.app_limited);
        let app_limited = by_sender || self.dip.covers(sample.prior_delivered_bytes);
        let usable = |rate: &RateSample| sample.acked_bytes > 0 && rate.rate > Bitrate::ZERO;
        Ack { sample, rate: sample.rate.filter(usable), app_limited }
    }

    fn update_rounds(&mut self, ack: &AckSample) {
        self.rounds.started = false;
        if ack.acked_bytes == 0 {
            return;
        }
        self.rounds.on_acked(ack.prior_delivered_bytes, ack.delivered_bytes);
        if self.rounds.started {
            self.cycle.on_round();
        }
    }

    /// In STARTUP the surplus is remembered for one or two rounds only
    /// (tcp_bbr2.c `bbr_extra_acked_in_startup`).
    fn update_aggregation(&mut self, now: Instant, ack: &Ack<'_>) {
        if ack.rate.is_none() {
            return;
        }
        let arrival = Arrival {
            acked_bytes: ack.sample.acked_bytes,
            round_started: self.rounds.started,
            bandwidth: self.bandwidth(),
            window_bytes: self.window_bytes,
            half_window_rounds: if self.full_pipe.reached { HALF_WINDOW_ROUNDS } else { 1 },
        };
        self.aggregation.on_acked(now, arrival, self.mss_bytes);
    }
}

impl Controller for BbrV2V3 {
    fn window_bytes(&self) -> u64 {
        self.window_bytes
    }

    fn phase(&self) -> Phase {
        match self.mode {
            Mode::Startup => Phase::Startup,
            Mode::Drain => Phase::Drain,
            Mode::ProbeBw(Probing::Down) => Phase::ProbeBwDown,
            Mode::ProbeBw(Probing::Cruise) => Phase::ProbeBwCruise,
            Mode::ProbeBw(Probing::Refill) => Phase::ProbeBwRefill,
            Mode::ProbeBw(Probing::Up) => Phase::ProbeBwUp,
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

    /// After idle, pace at the bandwidth (tcp_bbr2.c `bbr_cwnd_event`). The window stays, as in
    /// version 1.
    fn on_sent(&mut self, now: Instant, _bytes: u64, _in_flight_bytes: u64, was_idle: bool) {
        if !was_idle || self.repair != Repair::Nothing {
            return;
        }
        self.idle_restart = true;
        self.aggregation.restart(now);
        match self.mode {
            Mode::ProbeBw(_) => {
                self.pacing.follow(self.bandwidth(), Gain::UNIT, self.full_pipe.reached);
            }
            Mode::ProbeRtt => self.check_probe_rtt_done(now),
            Mode::Startup | Mode::Drain => {}
        }
    }

    fn on_handshake(&mut self, rtt: Duration) {
        self.pacing.on_srtt(self.window_bytes, rtt);
    }

    /// tcp_bbr2.c `bbr2_main`: the model, then the rate and the window that follow from it.
    fn on_acked(&mut self, now: Instant, sample: &AckSample) {
        self.delivered_bytes = sample.delivered_bytes;
        let ack = self.classify(sample);
        self.update_rounds(sample);
        self.update_signals(&ack);
        self.update_aggregation(now, &ack);
        self.check_startup_loss(&ack);
        self.check_full_pipe(&ack);
        self.check_drain(now, sample.in_flight_bytes);
        self.update_cycle(now, &ack);
        self.update_min_rtt(now, &ack);

        self.pacing.on_srtt(self.window_bytes, sample.srtt);
        self.pacing.follow(self.bandwidth(), self.pacing_gain(), self.full_pipe.reached);
        self.set_window(&ack);
        self.advance_signals(&ack);
    }

    fn on_lost(&mut self, now: Instant, loss: &LossSample) {
        self.delivered_bytes = loss.delivered_bytes;
        if loss.new_episode {
            self.save_window(); // tcp_bbr2.c bbr2_ssthresh
            self.undo = self.bounds;
            self.repair = Repair::LossEpisode;
        }
        self.signals.on_lost(loss.delivered_bytes);
        self.check_lost_packets(now, loss);
    }

    /// Without ECN (see the head of this file).
    fn on_congestion_experienced(&mut self, _now: Instant, _mark: &LossSample) {}

    /// There is nothing to restore after a loss episode: it cut the bounds, not the window
    /// (tcp_bbr2.c `bbr2_set_state`).
    fn on_recovered(&mut self, _now: Instant) {
        if self.repair == Repair::Timeout {
            self.restore_window();
        }
        self.repair = Repair::Nothing;
    }

    fn on_timeout(&mut self, _now: Instant, _in_flight_bytes: u64, repeated: bool) {
        if !repeated {
            self.save_window();
            self.undo = self.bounds;
        }
        self.repair = Repair::Timeout;
        match self.version.plateau {
            Plateau::OfTheMaximum => self.full_pipe.forget_bandwidth(),
            Plateau::OfTheSamples => self.full_pipe.restart(),
        }
        self.signals.on_lost(self.delivered_bytes);
        if !self.is_probing_bandwidth() {
            self.init_in_flight_lo(self.saved_window_bytes); // tcp_bbr2.c bbr2_set_state
        }
        self.window_bytes = self.mss_bytes; // Linux tcp_enter_loss
    }

    fn on_spurious(&mut self, _now: Instant) {
        self.full_pipe.restart(); // tcp_bbr2.c bbr2_undo_cwnd
        self.signals.undo();
        self.bounds.undo(self.undo);
        self.restore_window();
        self.repair = Repair::Nothing;
    }
}
