//! CUBIC: RFC 9438, its first slow start by HyStart++ (RFC 9406) or classic.

mod curve;
mod hystart;
pub(crate) mod linux;
mod linux_hystart;
pub(crate) mod picoquic;
#[cfg(test)]
mod tests;

use crate::boundary::{Renewable, Seen};
use crate::loss_based::Window;
use crate::{AckSample, Config, Controller, LossSample, Phase};
use curve::{BETA, Epoch, Past};
use hystart::HyStart;
use parameters::{Info, Parameter, Values, option};
use units::{Duration, Instant};

pub(crate) const INFO: Info = Info {
    name: "cubic",
    title: "CUBIC",
    source: "RFC 9438, RFC 9406",
    parameters: &[Parameter {
        name: "hystart",
        unit: "",
        kind: option(&["hystart++", "off"]),
        meaning: "How the first slow start ends: when the RTT rises (HyStart++), or at a loss.",
        source: "RFC 9406",
    }],
};

/// What a reduction changes besides the window; kept to undo it (RFC 9438 §4.9.2).
#[derive(Clone, Copy, Debug)]
struct Memory {
    /// Window at the last loss, after fast convergence; `None` when the next epoch starts flat.
    w_max: Option<f64>,
    /// Window just before the last reduction: cwnd_prior.
    prior: f64,
    epoch: Option<Epoch>,
}

/// CUBIC. The sender finds the loss episodes and spreads the reduction by PRR.
#[derive(Debug)]
pub(crate) struct Cubic {
    window: Window,
    hystart: Option<HyStart>,
    memory: Memory,
    undo: Option<Memory>,
    /// The epoch leaves out all pauses up to here: two hooks may report the same pause.
    paused_until: Instant,
}

impl Cubic {
    pub(crate) fn new(config: Config, values: &Values) -> Self {
        let hystart = (values.option("hystart") == "hystart++").then(HyStart::default);
        Self {
            window: Window::new(config),
            hystart,
            memory: Memory { w_max: None, prior: 0.0, epoch: None },
            undo: None,
            paused_until: Instant::ZERO,
        }
    }

    /// Slow start; returns the acknowledged packets that are left for congestion avoidance.
    fn slow_start(&mut self, ack: &AckSample, acked: f64) -> f64 {
        let first = self.window.in_first_slow_start();
        let Some(hystart) = self.hystart.as_mut().filter(|_| first) else {
            return if self.window.may_grow(ack) { self.grow_slowly(acked) } else { 0.0 };
        };
        let step = hystart.on_ack(ack, acked);
        if step.leave {
            self.window.leave_slow_start();
            self.memory.prior = self.window.packets(); // RFC 9438 §4.10
            return acked;
        }
        if self.window.may_grow(ack) { self.grow_slowly(step.grow) } else { 0.0 }
    }

    fn grow_slowly(&mut self, packets: f64) -> f64 {
        self.window.grow_in_slow_start(packets)
    }

    fn avoid_congestion(&mut self, now: Instant, ack: &AckSample, acked: f64) {
        let Memory { w_max, prior, epoch } = &mut self.memory;
        let packets = self.window.packets();
        let epoch = epoch.get_or_insert_with(|| Epoch::begin(now, packets, *w_max));
        let next = epoch.next(now, ack.srtt, acked, Past { packets, prior: *prior });
        self.window.grow_to(next);
    }

    /// Notes a pause that ends now, in which the window was not the limit.
    fn pause(&mut self, now: Instant, span: Duration) {
        let begin = now.saturating_sub(span).max(self.paused_until);
        self.paused_until = self.paused_until.max(now);
        if let Some(epoch) = &mut self.memory.epoch {
            epoch.shift(now, now.since(begin));
        }
    }
}

impl Renewable for Cubic {
    /// W_max and the epoch were the old path's: the next epoch starts flat, from the window as it is,
    /// and probes from there (ours: `boundary`).
    fn renew(&mut self, _now: Instant, _seen: Seen) {
        self.memory = Memory { w_max: None, prior: self.window.packets(), epoch: None };
    }
}

impl Controller for Cubic {
    fn window_bytes(&self) -> u64 {
        self.window.bytes()
    }

    fn phase(&self) -> Phase {
        let conservative = self.hystart.as_ref().is_some_and(HyStart::is_conservative);
        match self.window.phase() {
            Phase::SlowStart if conservative => Phase::ConservativeSlowStart,
            phase => phase,
        }
    }

    fn ssthresh_bytes(&self) -> u64 {
        self.window.ssthresh_bytes()
    }

    fn on_acked(&mut self, now: Instant, ack: &AckSample) {
        let mut acked = self.window.acked_packets(ack);
        if self.window.in_slow_start() {
            acked = self.slow_start(ack, acked);
        }
        if acked > 0.0 && !self.window.in_slow_start() && self.window.may_grow(ack) {
            self.avoid_congestion(now, ack, acked);
        }
    }

    fn on_lost(&mut self, _now: Instant, loss: &LossSample) {
        if !loss.new_episode {
            return;
        }
        self.undo = Some(self.memory);
        let packets = self.window.packets();
        let shrinking = self.memory.w_max.is_some_and(|w_max| packets < w_max);
        // RFC 9438 §4.7, fast convergence: a flow that is losing ground gives some up.
        let w_max = if shrinking { packets * (1.0 + BETA) / 2.0 } else { packets };
        self.memory = Memory { w_max: Some(w_max), prior: packets, epoch: None };
        self.window.reduce(BETA); // RFC 9438 §4.6
    }

    fn on_recovered(&mut self, _now: Instant) {
        self.window.recovered();
    }

    fn on_timeout(&mut self, _now: Instant, _in_flight_bytes: u64, repeated: bool) {
        if !repeated {
            self.undo = Some(self.memory);
            // RFC 9438 §4.8: the next epoch starts flat, at the window of its beginning.
            self.memory = Memory { w_max: None, prior: self.window.packets(), epoch: None };
        }
        self.window.collapse(BETA, repeated);
    }

    fn on_spurious(&mut self, _now: Instant) {
        let before = self.undo.take();
        if let (true, Some(before)) = (self.window.undo(), before) {
            self.memory = before; // RFC 9438 §4.9.2
        }
    }

    fn on_idle_restart(&mut self, now: Instant, idle: Duration, rto: Duration) {
        if self.window.restart_after_idle(idle, rto) {
            self.memory.epoch = None; // a new stage of congestion avoidance follows slow start
        }
        self.pause(now, idle);
    }

    fn on_app_limited(&mut self, now: Instant, span: Duration) {
        self.pause(now, span);
    }

    /// W_max and the epoch know nothing of it (docs/model.md §2.6), so the window soon returns.
    fn penalise(&mut self) {
        self.window.penalise();
        if let Some(epoch) = &mut self.memory.epoch {
            epoch.cap_reno(self.window.packets());
        }
    }
}
