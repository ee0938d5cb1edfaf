//! ECF, earliest completion first: Lim, Nahum, Towsley, Gibbens, "ECF: An MPTCP Path Scheduler to
//! Manage Heterogeneous Paths", CoNEXT 2017, in the form of the kernel's `mptcp_ecf.c`
//! (docs/model.md §3.4).

use crate::default_pick::{default_decision, default_pick, serving};
use crate::{ConnectionView, Decision, PathView, Scheduler};
use parameters::{Info, Parameter, Values, number, option};
use units::Duration;

pub(crate) const BETA: Parameter = Parameter {
    name: "beta",
    unit: "",
    kind: number(0.25, 0.0, 10.0),
    meaning: "Hysteresis: how much slower the slow path must look before waiting ends.",
    source: "Lim et al., CoNEXT 2017, beta; mptcp_ecf.c mptcp_ecf_r_beta = 4",
};

pub(crate) const DELTA: Parameter = Parameter {
    name: "delta",
    unit: "",
    kind: option(&["kernel", "paper"]),
    meaning: "Margin for RTT variation, the larger of both paths': half of Linux rttvar_us (never \
              below 100 ms), or the mean deviation as it is.",
    source: "mptcp_ecf.c (rttvar_us >> 1); Lim et al., CoNEXT 2017, sigma",
};

pub(crate) const INFO: Info = Info {
    name: "ecf",
    title: "ECF, earliest completion first",
    source: "Lim et al., CoNEXT 2017; multipath-tcp.org v0.96 mptcp_ecf.c (full text of the paper \
             not read)",
    parameters: &[BETA, DELTA],
};

/// Ratios are kept in millionths.
const ONE: u128 = 1_000_000;

/// The two inequalities, and the flag that they share: one per connection.
#[derive(Clone, Debug)]
pub(crate) struct Inequalities {
    beta_micro: u128,
    kernel_delta: bool,
    waiting: bool,
}

impl Inequalities {
    pub(crate) fn new(values: &Values) -> Self {
        Self {
            beta_micro: (values.number("beta") * 1e6).round() as u128,
            kernel_delta: values.option("delta") == "kernel",
            waiting: false,
        }
    }

    fn delta(&self, path: &PathView) -> Duration {
        if self.kernel_delta { path.rttvar_kernel / 2 } else { path.mdev } // §3.4: rttvar / 2
    }

    /// Whether `unsent_bytes` are done earlier by waiting for `fast` than by using `slow`. The flag
    /// stays as it is when the first inequality holds and the second fails (kernel).
    pub(crate) fn say_wait(&mut self, fast: &PathView, slow: &PathView, unsent_bytes: u64) -> bool {
        let micros = |span: Duration| u128::from(span.as_micros());
        let (rtt_f, rtt_s) = (micros(fast.srtt), micros(slow.srtt));
        let delta = micros(self.delta(fast).max(self.delta(slow)));
        let window_f = u128::from(fast.cwnd_packets.saturating_mul(fast.mss_bytes));
        let window_s = u128::from(slow.cwnd_packets.saturating_mul(slow.mss_bytes));
        let x_f = window_f.max(u128::from(unsent_bytes)); // §3.4: x_f = max(S, w_f * MSS)
        let x_s = window_s.max(u128::from(unsent_bytes)); // §3.4: x_s = max(S, w_s * MSS)
        let patience = ONE + if self.waiting { self.beta_micro } else { 0 };
        let via_fast = rtt_f.saturating_mul(x_f + window_f).saturating_mul(ONE);
        let via_slow = window_f.saturating_mul(rtt_s + delta).saturating_mul(patience);
        if via_fast >= via_slow {
            self.waiting = false; // §3.4, inequality 1 fails
            return false;
        }
        // §3.4, inequality 2: srtt_s * x_s >= w_s * MSS * (2 * srtt_f + delta)
        let worth = rtt_s.saturating_mul(x_s) >= window_s.saturating_mul(2 * rtt_f + delta);
        self.waiting |= worth;
        worth
    }
}

/// Waits for the fast path when that ends the transfer sooner than one more round trip on the slow
/// one would.
#[derive(Debug)]
pub struct Ecf {
    inequalities: Inequalities,
}

impl Ecf {
    pub(crate) fn new(values: &Values) -> Self {
        Self { inequalities: Inequalities::new(values) }
    }
}

impl Scheduler for Ecf {
    fn select(&mut self, view: &ConnectionView<'_>) -> Decision {
        if view.reinjection {
            return default_decision(view);
        }
        let Some(slow) = default_pick(view) else { return Decision::Wait(None) };
        let fast = serving(view).min_by_key(|path| path.srtt).unwrap_or(slow);
        // The deadlock rule (§3): nothing in flight on the awaited path means nothing to wait for.
        if fast.id != slow.id
            && self.inequalities.say_wait(fast, slow, view.unsent_bytes)
            && fast.in_flight_packets > 0
        {
            return Decision::Wait(None);
        }
        Decision::Send(slow.id)
    }
}
