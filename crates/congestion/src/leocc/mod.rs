//! LeoCC: BBR version 1 that starts anew at each reconfiguration of the satellite network.
//!
//! Follows the simulation version of the authors' code (`leocc.c`, commit 867e6739): when a boundary is
//! about to come, the pipe is emptied to half a BDP for 200 ms and a round, the minimum RTT becomes the
//! newest sample, the bandwidth filter a rate seen meanwhile, and STARTUP begins again. Between
//! boundaries a Kalman filter's rate replaces the largest one while the smoothed RTT stands above the
//! minimum, and the probe's gain falls from 5/4 to 21/20.
//!
//! Left open, or different:
//! * The code knows boundaries by a period of 15 s and an offset from when the connection began, both
//!   module parameters; here they are those of the path's forecast. The live version's ping to the PoP
//!   has no counterpart, and without a forecast there is no reconfiguration.
//! * The rate kept at a boundary is that of a sample whose RTT lies 45 ms below the smoothed one. Without
//!   such a sample the code resets the bandwidth filter to zero; so it is here. The README says nothing
//!   about it.
//! * A boundary that comes in STARTUP or DRAIN is forgotten when STARTUP ends; one that comes while
//!   another is handled is not seen.
//! * The code keeps the probe's gain in a table of the module, so that connections change each other's;
//!   here each has its own.
//! * No long-term sampling of policers: the code has none. Bursts are sized as in our BBR version 1; the
//!   code adds BBRv3's bytes for short RTTs.

mod info;
mod kalman;
mod model;
mod probe_rtt;
#[cfg(test)]
mod tests;
mod window;

use crate::bbr::ack_aggregation::AckAggregation;
use crate::bbr::cycle::Cycle;
use crate::bbr::dip::Dip;
use crate::bbr::filters::{MaxBandwidth, MinRtt, Rounds};
use crate::bbr::full_pipe::FullPipe;
use crate::bbr::gain::Gain;
use crate::bbr::pacing::Pacing;
use crate::{AckSample, Config, Controller, LossSample, Phase};
use forecast::{Boundary, BoundaryKind};
pub(crate) use info::INFO;
use kalman::Kalman;
use parameters::Values;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;
use units::{Bitrate, Duration, Instant};

/// Window of the minimum RTT (leocc.c `leocc_min_rtt_win_sec`).
const MIN_RTT_WINDOW: Duration = Duration::from_secs(20);
/// The probe's gain while the Kalman rate is used (leocc.c `leocc_main`).
const CAREFUL_PROBE: Gain = Gain::of_256ths(256 * 21 / 20);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    /// BBR's PROBE_BW (leocc.c `LEOCC_DYNAMIC_CRUISE`).
    Cruise,
    ProbeRtt,
}

#[derive(Clone, Copy, Debug)]
struct Settings {
    rtt_fluctuation: Duration,
    ahead: Duration,
    delta_thresh: Duration,
}

/// LeoCC.
#[derive(Debug)]
pub(crate) struct LeoCc {
    settings: Settings,
    mss_bytes: u64,
    initial_window_bytes: u64,
    window_bytes: u64,
    saved_window_bytes: u64,
    ssthresh_bytes: u64,
    mode: Mode,
    repairing: bool,
    repair_begins: bool,
    conserving: bool,
    idle_restart: bool,
    /// Moments of reconfigurations that are ahead.
    ahead: VecDeque<Instant>,
    /// A reconfiguration is being handled, or waits for the cruise.
    triggered: bool,
    /// Rate seen while the pipe was emptied; zero: none.
    seen_rate: Bitrate,
    rounds: Rounds,
    /// The last sample, and the largest of the round.
    latest_rate: Bitrate,
    round_rate: Bitrate,
    max_bandwidth: MaxBandwidth,
    kalman_rate: Kalman,
    kalman_rtt: Kalman,
    /// The Kalman rate is used.
    careful: bool,
    min_rtt: MinRtt,
    full_pipe: FullPipe,
    cycle: Cycle,
    dip: Dip,
    aggregation: AckAggregation,
    pacing: Pacing,
    rng: ChaCha8Rng,
}

impl LeoCc {
    pub(crate) fn new(config: Config, values: &Values) -> Self {
        let mss_bytes = config.mss();
        let window_bytes = config.initial_window_packets.max(1).saturating_mul(mss_bytes);
        let ms = |name| Duration::from_millis(values.whole(name));
        Self {
            settings: Settings {
                rtt_fluctuation: ms("rtt_fluctuation_ms"),
                ahead: ms("ahead_ms"),
                delta_thresh: ms("delta_thresh_ms"),
            },
            mss_bytes,
            initial_window_bytes: window_bytes,
            window_bytes,
            saved_window_bytes: 0,
            ssthresh_bytes: u64::MAX,
            mode: Mode::Startup,
            repairing: false,
            repair_begins: false,
            conserving: false,
            idle_restart: false,
            ahead: VecDeque::new(),
            triggered: false,
            seen_rate: Bitrate::ZERO,
            rounds: Rounds::default(),
            latest_rate: Bitrate::ZERO,
            round_rate: Bitrate::ZERO,
            max_bandwidth: MaxBandwidth::default(),
            kalman_rate: Kalman::default(),
            kalman_rtt: Kalman::default(),
            careful: false,
            min_rtt: MinRtt::over(MIN_RTT_WINDOW),
            full_pipe: FullPipe::default(),
            cycle: Cycle::default(),
            dip: Dip::default(),
            aggregation: AckAggregation::default(),
            pacing: Pacing::new(window_bytes, mss_bytes, Gain::HIGH),
            rng: ChaCha8Rng::seed_from_u64(config.seed),
        }
    }

    /// leocc.c `leocc_main`: an acknowledgement just before a boundary arms.
    fn check_boundary(&mut self, now: Instant) {
        while self.ahead.front().is_some_and(|at| *at < now) {
            self.ahead.pop_front();
        }
        let armed = |at: &Instant| now >= at.saturating_sub(self.settings.ahead);
        if !self.triggered && self.ahead.front().is_some_and(armed) {
            self.ahead.pop_front();
            self.triggered = true;
        }
    }

    /// leocc.c `leocc_update_gains`.
    fn pacing_gain(&self) -> Gain {
        match self.mode {
            Mode::Startup => Gain::HIGH,
            Mode::Drain => Gain::DRAIN,
            Mode::Cruise if self.cycle.probes() && self.careful => CAREFUL_PROBE,
            Mode::Cruise => self.cycle.gain(),
            Mode::ProbeRtt => Gain::UNIT,
        }
    }

    /// leocc.c `leocc_update_gains`.
    fn window_gain(&self) -> Gain {
        match self.mode {
            Mode::Startup | Mode::Drain => Gain::HIGH,
            Mode::Cruise => Gain::WINDOW,
            Mode::ProbeRtt => Gain::UNIT,
        }
    }

    fn quantum_packets(&self) -> u64 {
        self.pacing.quantum_packets(self.mss_bytes)
    }

    fn end_repair(&mut self) {
        if !self.repairing {
            return;
        }
        (self.repairing, self.repair_begins, self.conserving) = (false, false, false);
        self.restore_window();
        self.clamp_window();
    }
}

impl Controller for LeoCc {
    fn window_bytes(&self) -> u64 {
        self.window_bytes
    }

    fn phase(&self) -> Phase {
        match self.mode {
            Mode::Startup => Phase::Startup,
            Mode::Drain => Phase::Drain,
            Mode::Cruise => Phase::ProbeBw,
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
        3 // leocc_sndbuf_expand
    }

    fn reduces_by_prr(&self) -> bool {
        false
    }

    fn on_forecast(&mut self, boundaries: &[Boundary]) {
        let changes =
            |one: &&Boundary| matches!(one.kind, BoundaryKind::Slot | BoundaryKind::Handover);
        self.ahead = boundaries.iter().filter(changes).map(|one| one.at).collect();
    }

    fn on_handshake(&mut self, rtt: Duration) {
        self.pacing.on_srtt(self.window_bytes, rtt);
    }

    fn on_sent(&mut self, now: Instant, _bytes: u64, _in_flight_bytes: u64, was_idle: bool) {
        if !was_idle || self.repairing {
            return;
        }
        self.idle_restart = true;
        self.aggregation.restart(now);
        match self.mode {
            Mode::Cruise => {
                self.pacing.follow(self.max_bandwidth.get(), Gain::UNIT, self.full_pipe.reached);
            }
            Mode::ProbeRtt => self.check_probe_rtt_done(now),
            Mode::Startup | Mode::Drain => {}
        }
    }

    /// leocc.c `leocc_main`, in its order.
    fn on_acked(&mut self, now: Instant, ack: &AckSample) {
        self.check_boundary(now);
        self.update_model(now, ack);
        // Gains are those of before `careful` is judged anew, as in leocc.c.
        let gain = self.pacing_gain();
        let bandwidth = self.choose_bandwidth(ack);
        self.pacing.on_srtt(self.window_bytes, ack.srtt);
        self.pacing.follow(bandwidth, gain, self.full_pipe.reached);
        self.set_window(ack, bandwidth);
    }

    fn on_lost(&mut self, _now: Instant, loss: &LossSample) {
        if loss.new_episode {
            self.save_window();
            self.repairing = true;
            self.repair_begins = true;
        }
    }

    /// The code has no answer to marks.
    fn on_congestion_experienced(&mut self, _now: Instant, _mark: &LossSample) {}

    fn on_recovered(&mut self, _now: Instant) {
        self.end_repair();
    }

    fn on_timeout(&mut self, _now: Instant, _in_flight_bytes: u64, repeated: bool) {
        if !repeated {
            self.save_window();
        }
        (self.repairing, self.repair_begins) = (true, false);
        self.window_bytes = self.mss_bytes; // Linux tcp_enter_loss
        self.full_pipe.on_timeout();
    }

    fn on_spurious(&mut self, _now: Instant) {
        self.full_pipe.restart(); // leocc_undo_cwnd
        self.end_repair();
    }
}
