use crate::loss_based::Window;
use crate::{AckSample, Config, Controller, LossSample, Phase};
use parameters::Info;
use units::{Duration, Instant};

pub(crate) const INFO: Info = Info {
    name: "newreno",
    title: "NewReno",
    source: "RFC 5681, RFC 6582, RFC 6928",
    parameters: &[],
};

/// Fraction of the window that survives a loss (RFC 5681 §3.1 eq. 4).
const BETA: f64 = 0.5;

/// NewReno: RFC 5681, with the loss episodes of RFC 6582 and the initial window of RFC 6928.
///
/// The sender finds the episodes and spreads the reduction by PRR; the window here is its target.
#[derive(Debug)]
pub(crate) struct NewReno {
    window: Window,
}

impl NewReno {
    pub(crate) fn new(config: Config) -> Self {
        Self { window: Window::new(config) }
    }
}

impl Controller for NewReno {
    fn window_bytes(&self) -> u64 {
        self.window.bytes()
    }

    fn phase(&self) -> Phase {
        self.window.phase()
    }

    fn ssthresh_bytes(&self) -> u64 {
        self.window.ssthresh_bytes()
    }

    fn on_acked(&mut self, _now: Instant, ack: &AckSample) {
        if !self.window.may_grow(ack) {
            return;
        }
        let mut acked = self.window.acked_packets(ack);
        if self.window.in_slow_start() {
            acked = self.window.grow_in_slow_start(acked);
        }
        let packets = self.window.packets();
        self.window.grow_to(packets + acked / packets); // RFC 5681 §3.1 eq. 3
    }

    fn on_lost(&mut self, _now: Instant, loss: &LossSample) {
        if loss.new_episode {
            self.window.reduce(BETA); // RFC 6582 §3.2 step 2: once per episode
        }
    }

    fn on_recovered(&mut self, _now: Instant) {
        self.window.recovered();
    }

    fn on_timeout(&mut self, _now: Instant, _in_flight_bytes: u64, repeated: bool) {
        self.window.collapse(BETA, repeated);
    }

    fn on_spurious(&mut self, _now: Instant) {
        self.window.undo();
    }

    fn on_idle_restart(&mut self, _now: Instant, idle: Duration, rto: Duration) {
        self.window.restart_after_idle(idle, rto);
    }

    fn penalise(&mut self) {
        self.window.penalise();
    }
}
