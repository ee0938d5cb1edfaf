//! What LIA, OLIA and BALIA share: Reno on each path, but for how an acknowledgement moves the
//! window in congestion avoidance, and (BALIA) what of it survives a loss.
//!
//! With a single path that has an RTT, each is NewReno to the bit.

use crate::group::{Group, Member, Paths, Sibling};
use crate::loss_based::Window;
use crate::{AckSample, Config, Controller, LossSample, Phase};
use std::fmt::Debug;
use units::{Duration, Instant};

/// Smallest threshold when there is more than one path (RFC 6356 §3); the rule is LIA's, and OLIA
/// and BALIA are given it, too.
const LEAST_SSTHRESH: f64 = 1.0;

/// How the windows of a connection's paths are coupled. Packets and seconds.
pub(crate) trait Law: Send + Debug {
    /// Packets that one acknowledged packet adds to the window of `own` in congestion avoidance.
    /// There are at least two paths, and `own` is one of them.
    fn increase(&self, own: &Sibling, paths: Paths<'_>) -> f64;

    /// Share of the window that survives a loss.
    fn surviving(&self, _own: &Sibling, _paths: Paths<'_>) -> f64 {
        0.5 // RFC 5681 §3.1 eq. 4
    }

    /// What the other paths must know besides window and RTT.
    fn shared(&self) -> f64 {
        0.0
    }

    /// Bytes were delivered on this path.
    fn on_delivered(&mut self, _bytes: u64) {}

    /// This path lost a packet for the first time in an episode.
    fn on_loss(&mut self) {}
}

/// A loss-based controller whose window is coupled with those of its group.
#[derive(Debug)]
pub(crate) struct Coupled<L> {
    window: Window,
    member: Member,
    srtt: Duration,
    law: L,
}

impl<L: Law> Coupled<L> {
    pub(crate) fn new(config: Config, group: &Group, law: L) -> Self {
        Self { window: Window::new(config), member: group.join(), srtt: Duration::ZERO, law }
    }

    fn own(&self) -> Sibling {
        let window_packets = self.window.packets();
        Sibling { window_packets, srtt: self.srtt, shared: self.law.shared() }
    }

    fn tell(&self) {
        self.member.share(self.own());
    }

    /// What of the window survives a loss now; sets the smallest threshold for it.
    fn prepare_reduction(&mut self) -> f64 {
        let own = self.own();
        let (law, srtt) = (&self.law, self.srtt);
        let (factor, alone) = self.member.exchange(own, |paths| {
            let alone = srtt.is_zero() || paths.count() < 2;
            (if alone { 0.5 } else { law.surviving(&own, paths) }, alone)
        });
        self.window.set_least_ssthresh(if alone { 2.0 } else { LEAST_SSTHRESH });
        factor
    }

    fn avoid_congestion(&mut self, acked: f64) {
        let own = self.own();
        let (law, srtt) = (&self.law, self.srtt);
        let increase = self.member.exchange(own, |paths| {
            let coupled = !srtt.is_zero() && paths.count() >= 2;
            coupled.then(|| law.increase(&own, paths))
        });
        match increase {
            Some(packets) => self.window.move_by(packets * acked),
            None => self.window.move_by(acked / own.window_packets), // RFC 5681 §3.1 eq. 3
        }
    }
}

impl<L: Law> Controller for Coupled<L> {
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
        self.law.on_delivered(ack.acked_bytes);
        self.srtt = ack.srtt;
        let mut acked = 0.0;
        if self.window.may_grow(ack) {
            acked = self.window.acked_packets(ack);
            if self.window.in_slow_start() {
                acked = self.window.grow_in_slow_start(acked);
            }
        }
        if acked > 0.0 {
            self.avoid_congestion(acked);
        } else {
            self.tell();
        }
    }

    fn on_lost(&mut self, _now: Instant, loss: &LossSample) {
        if loss.new_episode {
            self.law.on_loss();
            let factor = self.prepare_reduction();
            self.window.reduce(factor);
            self.tell();
        }
    }

    fn on_recovered(&mut self, _now: Instant) {
        self.window.recovered();
    }

    fn on_timeout(&mut self, _now: Instant, _in_flight_bytes: u64, repeated: bool) {
        if !repeated && !self.window.is_repairing() {
            self.law.on_loss();
        }
        let factor = self.prepare_reduction();
        self.window.collapse(factor, repeated);
        self.tell();
    }

    fn on_spurious(&mut self, _now: Instant) {
        self.window.undo();
        self.tell();
    }

    fn on_idle_restart(&mut self, _now: Instant, idle: Duration, rto: Duration) {
        self.window.restart_after_idle(idle, rto);
        self.tell();
    }

    fn penalise(&mut self) {
        self.window.penalise();
        self.tell();
    }
}
