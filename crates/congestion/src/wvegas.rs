//! wVegas, "weighted Vegas": on each path, keep as many packets queued as its share of the rate says
//! (Cao, Xu, Fu, "Delay-based congestion control for multipath TCP", ICNP 2012;
//! draft-xu-mptcp-congestion-control; Linux `mptcp_wvegas.c`).
//!
//! In draining, Linux compares the queueing delay with its smallest so far, and halves the window at
//! twice that. Where the RTT carries no noise, the smallest is that of a packet or two, so that the
//! window falls by half when four packets are queued, not alpha; slow start brings three quarters
//! back, and the rest takes a round trip per packet. Slow start itself ends when a burst queues. That
//! leaves 82 % of a quiet path of 50 Mbit/s and 60 ms over 40 s, and is the algorithm's.
//!
//! Deviations:
//! * the queue is drained only if the smallest queueing delay is above zero: Linux tests
//!   `q >= 2 * q_min` with both at zero, too, which halves the window each round trip on a path
//!   whose RTT carries no noise;
//! * nothing grows unless the window was the limit, as for the others;
//! * the base RTT may be forgotten (`base_window_s`): "ever" takes a longer route for a queue, for
//!   the rest of the connection.

use crate::group::{Group, Member, Paths, Sibling};
use crate::loss_based::Window;
use crate::{AckSample, Config, Controller, LossSample, Phase};
use parameters::{Info, Parameter, Values, integer, number};
use units::{Duration, Instant};

pub(crate) const INFO: Info = Info {
    name: "wvegas",
    title: "wVegas (weighted Vegas, coupled)",
    source: "Cao et al. 2012; draft-xu-mptcp-congestion-control; mptcp_wvegas.c",
    parameters: &[
        Parameter {
            name: "total_alpha",
            unit: "packets",
            kind: integer(10.0, 1.0, 1000.0),
            meaning: "Packets that all paths together keep queued.",
            source: "mptcp_wvegas.c total_alpha",
        },
        Parameter {
            name: "initial_alpha",
            unit: "packets",
            kind: integer(2.0, 1.0, 1000.0),
            meaning: "Packets that a path keeps queued before it knows its share.",
            source: "mptcp_wvegas.c initial_alpha",
        },
        Parameter {
            name: "gamma",
            unit: "packets",
            kind: integer(1.0, 0.0, 1000.0),
            meaning: "Queued packets that end slow start.",
            source: "mptcp_wvegas.c gamma",
        },
        Parameter {
            name: "base_window_s",
            unit: "s",
            kind: number(0.0, 0.0, 3600.0),
            meaning: "Time for which the smallest RTT is remembered, at least half of it; 0: ever.",
            source: "ours; mptcp_wvegas.c: ever",
        },
    ],
};

/// Fraction of the window that survives a loss (mptcp_wvegas.c: `tcp_reno_ssthresh`).
const BETA: f64 = 0.5;
/// Smallest alpha and smallest window (mptcp_wvegas.c `mptcp_wvegas_cong_avoid`).
const LEAST: f64 = 2.0;
/// So few samples in a round trip mean nothing (mptcp_wvegas.c: `cnt_rtt <= 2`).
const TOO_FEW: u32 = 2;
/// Added to each sample (mptcp_wvegas.c `mptcp_wvegas_pkts_acked`: never zero).
const TICK: Duration = Duration::from_micros(1);

/// The smallest RTT: ever, or of the current and the last half of a window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BaseRtt {
    half_window: Duration,
    halves: [Duration; 2],
    since: Instant,
}

impl BaseRtt {
    pub(crate) fn new(window: Duration) -> Self {
        let halves = [Duration::MAX; 2];
        Self { half_window: window / 2, halves, since: Instant::ZERO }
    }

    pub(crate) fn get(&self) -> Duration {
        self.halves[0].min(self.halves[1])
    }

    pub(crate) fn on_rtt(&mut self, now: Instant, rtt: Duration) {
        if !self.half_window.is_zero() && now > self.since + self.half_window {
            self.halves = [Duration::MAX, self.halves[0]];
            self.since = now;
        }
        self.halves[0] = self.halves[0].min(rtt);
    }

    fn reset(&mut self) {
        self.halves = [Duration::MAX; 2];
    }
}

/// RTT samples of one round trip.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    end_bytes: u64,
    sum: Duration,
    samples: u32,
}

/// What Vegas knows, while nothing is being repaired (mptcp_wvegas.c `wvegas_enable`).
#[derive(Clone, Copy, Debug)]
struct Vegas {
    /// Packets to keep queued.
    alpha: f64,
    weight: f64,
    /// Packets per second when the weight was taken last; zero before.
    rate: f64,
    /// Smallest queueing delay since the queue was drained, in seconds; zero: none yet.
    least_queueing: f64,
}

/// wVegas.
#[derive(Debug)]
pub(crate) struct WVegas {
    window: Window,
    member: Member,
    srtt: Duration,
    total_alpha: f64,
    initial_alpha: f64,
    gamma: f64,
    base: BaseRtt,
    round: Round,
    vegas: Vegas,
}

impl WVegas {
    pub(crate) fn new(config: Config, values: &Values, group: &Group) -> Self {
        let initial_alpha = values.number("initial_alpha");
        let base_window = Duration::from_nanos((values.number("base_window_s") * 1e9) as u64);
        Self {
            window: Window::new(config),
            member: group.join(),
            srtt: Duration::ZERO,
            total_alpha: values.number("total_alpha"),
            initial_alpha,
            gamma: values.number("gamma"),
            base: BaseRtt::new(base_window),
            round: Round::default(),
            vegas: fresh(initial_alpha),
        }
    }

    fn own(&self) -> Sibling {
        let window_packets = self.window.packets();
        Sibling { window_packets, srtt: self.srtt, shared: self.vegas.rate }
    }

    fn tell(&self) {
        self.member.share(self.own());
    }

    fn is_in_slow_start(&self) -> bool {
        self.window.packets() <= self.window.ssthresh() // mptcp_wvegas.c: equal counts
    }

    fn grow_as_reno(&mut self, ack: &AckSample) {
        if !self.window.may_grow(ack) {
            return;
        }
        let mut acked = self.window.acked_packets(ack);
        if self.window.in_slow_start() {
            acked = self.window.grow_in_slow_start(acked);
        }
        self.window.move_by(acked / self.window.packets()); // RFC 5681 §3.1 eq. 3
    }

    fn grow_in_slow_start(&mut self, ack: &AckSample) {
        if self.window.may_grow(ack) {
            let _rest = self.window.grow_in_slow_start(self.window.acked_packets(ack));
        }
    }

    /// Once per round trip (mptcp_wvegas.c `mptcp_wvegas_cong_avoid`).
    fn end_round(&mut self, ack: &AckSample) {
        let rtt = (self.round.sum / self.round.samples.max(1)).as_secs_f64();
        let base = self.base.get().as_secs_f64();
        let packets = self.window.packets();
        let queued = (packets * (rtt - base) / rtt).floor(); // whole, as in Linux
        if self.is_in_slow_start() {
            if queued > self.gamma {
                self.window.shrink_to((packets * base / rtt).floor() + 1.0);
                self.lower_ssthresh();
            } else {
                self.grow_in_slow_start(ack);
            }
        } else {
            self.weigh(queued, rtt);
            self.step(queued, self.window.may_grow(ack));
            self.drain(rtt, base);
        }
        // mptcp_wvegas.c: at least two packets; from one, only if it may grow.
        let least = if self.window.may_grow(ack) { LEAST } else { LEAST.min(packets) };
        self.window.move_by((least - self.window.packets()).max(0.0));
        let packets = self.window.packets();
        self.window.set_ssthresh(self.window.ssthresh().max(0.75 * packets)); // tcp_current_ssthresh
    }

    fn lower_ssthresh(&mut self) {
        let below = self.window.packets() - 1.0;
        self.window.set_ssthresh(self.window.ssthresh().min(below));
    }

    /// The share of this path in the rate of all gives it its packets.
    fn weigh(&mut self, queued: f64, rtt: f64) {
        if queued < self.vegas.alpha {
            return;
        }
        self.vegas.rate = self.window.packets() / rtt;
        let total = self.member.exchange(self.own(), |paths: Paths<'_>| paths.sum(|p| p.shared));
        if total > 0.0 {
            self.vegas.weight = self.vegas.rate / total;
        }
        self.vegas.alpha = (self.vegas.weight * self.total_alpha).floor().max(LEAST);
    }

    fn step(&mut self, queued: f64, may_grow: bool) {
        if queued > self.vegas.alpha {
            self.window.move_by(-1.0);
            self.lower_ssthresh();
        } else if queued < self.vegas.alpha && may_grow {
            self.window.move_by(1.0);
        }
    }

    /// Lets the queue empty when it has doubled since its smallest, so that the base RTT shows.
    fn drain(&mut self, rtt: f64, base: f64) {
        let queueing = rtt - base;
        let least = &mut self.vegas.least_queueing;
        if *least == 0.0 || *least > queueing {
            *least = queueing;
        }
        if queueing > 0.0 && queueing >= 2.0 * *least {
            *least = 0.0;
            self.window.shrink_to(self.window.packets() * base / (2.0 * rtt));
        }
    }
}

fn fresh(alpha: f64) -> Vegas {
    Vegas { alpha, weight: 1.0, rate: 0.0, least_queueing: 0.0 }
}

impl Controller for WVegas {
    fn window_bytes(&self) -> u64 {
        self.window.bytes()
    }

    fn phase(&self) -> Phase {
        if self.is_in_slow_start() { Phase::SlowStart } else { Phase::Avoidance }
    }

    fn ssthresh_bytes(&self) -> u64 {
        self.window.ssthresh_bytes()
    }

    fn on_acked(&mut self, now: Instant, ack: &AckSample) {
        self.srtt = ack.srtt;
        if let Some(rtt) = ack.rtt {
            self.base.on_rtt(now, rtt + TICK);
            self.round.sum += rtt + TICK;
            self.round.samples += 1;
        }
        if self.window.is_repairing() {
            self.grow_as_reno(ack);
        } else if ack.prior_delivered_bytes >= self.round.end_bytes {
            if self.round.samples <= TOO_FEW {
                self.grow_as_reno(ack);
            } else {
                self.end_round(ack);
            }
            self.round = Round { end_bytes: ack.delivered_bytes, ..Round::default() };
        } else if self.is_in_slow_start() {
            self.grow_in_slow_start(ack);
        }
        self.tell();
    }

    fn on_lost(&mut self, _now: Instant, loss: &LossSample) {
        if loss.new_episode {
            self.window.reduce(BETA);
            self.tell();
        }
    }

    /// Vegas begins anew (mptcp_wvegas.c `mptcp_wvegas_state`).
    fn on_recovered(&mut self, _now: Instant) {
        self.window.recovered();
        self.vegas = fresh(self.initial_alpha);
        self.round = Round { end_bytes: self.round.end_bytes, ..Round::default() };
    }

    fn on_timeout(&mut self, _now: Instant, _in_flight_bytes: u64, repeated: bool) {
        self.window.collapse(BETA, repeated);
        self.vegas.rate = 0.0; // mptcp_wvegas.c: CA_EVENT_LOSS
        self.tell();
    }

    fn on_spurious(&mut self, _now: Instant) {
        self.window.undo();
        self.tell();
    }

    /// mptcp_wvegas.c `mptcp_wvegas_cwnd_event`: `CA_EVENT_CWND_RESTART`.
    fn on_idle_restart(&mut self, _now: Instant, idle: Duration, rto: Duration) {
        if self.window.restart_after_idle(idle, rto) {
            self.base.reset();
            self.vegas = fresh(self.initial_alpha);
            self.tell();
        }
    }

    fn penalise(&mut self) {
        self.window.penalise();
        self.tell();
    }
}
