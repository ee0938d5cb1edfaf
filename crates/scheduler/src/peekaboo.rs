//! Peekaboo-like: a bandit decides whether to wait for the fast path. After Wu, Alay, Brunstrom,
//! Ferlin, Caso, "Peekaboo: Learning-Based Multipath Scheduling for Dynamic Heterogeneous
//! Environments", JSAC 2020, whose full text was not read (docs/model.md §3.9, which says what is
//! ours).

use crate::default_pick::{default_decision, default_pick, serving};
use crate::linucb::{Arm, Context, FEATURES};
use crate::{ConnectionView, Decision, PathEvent, PathView, Scheduler};
use parameters::{Info, Parameter, Values, integer, number};
use units::{Duration, Instant, PathId};

pub(crate) const INFO: Info = Info {
    name: "peekaboo",
    title: "Peekaboo-like: LinUCB decides whether to wait for the fast path",
    source: "ours, after Wu et al., JSAC 2020 (full text not read)",
    parameters: &[
        Parameter {
            name: "alpha",
            unit: "",
            kind: number(0.8, 0.0, 10.0),
            meaning: "Weight of what is not known yet: more tries out more.",
            source: "ns-3 port of Peekaboo (mp-quic-scheduler.cc)",
        },
        Parameter {
            name: "decay",
            unit: "",
            kind: number(0.999, 0.9, 1.0),
            meaning: "What is left of all that was learned after each lesson.",
            source: "ours",
        },
        Parameter {
            name: "flip_max",
            unit: "",
            kind: number(0.25, 0.0, 1.0),
            meaning: "Largest probability of doing the opposite of what the bandit says.",
            source: "ours, for the stochastic adjustment of Wu et al.",
        },
        Parameter {
            name: "open_decisions",
            unit: "decisions",
            kind: integer(32.0, 1.0, 4096.0),
            meaning: "Decisions whose reward is being counted at a time; others teach nothing.",
            source: "ours",
        },
        Parameter {
            name: "seed",
            unit: "",
            kind: integer(1.0, 0.0, 4_294_967_295.0),
            meaning: "Of the random numbers behind the flips.",
            source: "ours",
        },
    ],
};

const WAIT: usize = 0;
const SEND: usize = 1;

/// A decision whose reward is not complete.
#[derive(Clone, Copy, Debug)]
struct Open {
    action: usize,
    context: Context,
    at: Instant,
    /// T_r = max(2 * RTT_f, RTT_s).
    span: Duration,
    /// Bytes per second, discounted.
    reward: f64,
    discount: f64,
}

/// Asks a contextual bandit, whenever the fast path is full and another one has room, whether to
/// wait or to send; learns from what is acknowledged after each choice.
#[derive(Debug)]
pub struct Peekaboo {
    arms: [Arm; 2],
    open: Vec<Open>,
    /// Largest value of each feature, and of the reward, so far: what they are divided by.
    largest: Context,
    largest_reward: f64,
    mss_bytes: u64,
    random: u64,
    alpha: f64,
    decay: f64,
    flip_max: f64,
    open_limit: usize,
}

impl Peekaboo {
    pub(crate) fn new(values: &Values) -> Self {
        Self {
            arms: Default::default(),
            open: Vec::new(),
            largest: [0.0; FEATURES],
            largest_reward: 0.0,
            mss_bytes: 0,
            random: values.whole("seed"),
            alpha: values.number("alpha"),
            decay: values.number("decay"),
            flip_max: values.number("flip_max"),
            open_limit: values.whole("open_decisions") as usize,
        }
    }

    /// §3.9: window, in flight and send window per RTT of both paths, each divided by its largest
    /// value so far (ours).
    fn context(&mut self, view: &ConnectionView<'_>, fast: &PathView, slow: &PathView) -> Context {
        let send_window = view.window_left_bytes / fast.mss_bytes.max(1);
        let per_rtt = |path: &PathView| {
            let rtt_s = path.srtt.as_secs_f64().max(1e-6);
            [path.cwnd_packets, path.in_flight_packets, send_window].map(|n| n as f64 / rtt_s)
        };
        let ([a, b, c], [d, e, f]) = (per_rtt(fast), per_rtt(slow));
        let mut context = [a, b, c, d, e, f];
        for (feature, largest) in context.iter_mut().zip(&mut self.largest) {
            *largest = largest.max(*feature);
            *feature = if *largest > 0.0 { *feature / *largest } else { 0.0 };
        }
        context
    }

    /// Lessons from the decisions whose 3 * T_r are over.
    fn learn(&mut self, now: Instant) {
        let mut place = 0;
        while let Some(open) = self.open.get(place).copied() {
            if now < open.at + open.span * 3 {
                place += 1;
                continue;
            }
            self.open.remove(place);
            self.largest_reward = self.largest_reward.max(open.reward);
            let reward =
                if self.largest_reward > 0.0 { open.reward / self.largest_reward } else { 0.0 };
            self.arms[open.action].learn(&open.context, reward, self.decay);
        }
    }

    /// The better action by the bandit, or the other one by chance: §3.9, ours:
    /// p = clamp(RTT variation / 2 + loss of the fast path, 0, `flip_max`).
    fn choose(&mut self, context: &Context, fast: &PathView) -> usize {
        let score = |arm: &Arm| arm.score(context, self.alpha);
        let best = if score(&self.arms[WAIT]) > score(&self.arms[SEND]) { WAIT } else { SEND };
        let variation = fast.mdev.as_secs_f64() / fast.srtt.as_secs_f64().max(1e-6);
        let flip = (0.5 * variation + fast.loss_ratio).clamp(0.0, self.flip_max);
        if self.next_random() < flip { 1 - best } else { best }
    }

    /// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), as a number in [0, 1).
    fn next_random(&mut self) -> f64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.random ^ (self.random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

impl Scheduler for Peekaboo {
    fn select(&mut self, view: &ConnectionView<'_>) -> Decision {
        if view.reinjection {
            return default_decision(view);
        }
        let Some(slow) = default_pick(view) else { return Decision::Wait(None) };
        let fast = serving(view).min_by_key(|path| path.srtt).unwrap_or(slow);
        // The deadlock rule (§3): nothing in flight on the awaited path means nothing to wait for.
        if fast.id == slow.id || fast.in_flight_packets == 0 {
            return Decision::Send(slow.id);
        }
        self.mss_bytes = fast.mss_bytes.max(1);
        self.learn(view.now);
        let context = self.context(view, fast, slow);
        let action = self.choose(&context, fast);
        if self.open.len() < self.open_limit {
            let span = (fast.srtt * 2).max(slow.srtt); // §3.9: T_r = max(2 * RTT_f, RTT_s)
            let (at, reward, discount) = (view.now, 0.0, 1.0);
            self.open.push(Open { action, context, at, span, reward, discount });
        }
        if action == WAIT { Decision::Wait(None) } else { Decision::Send(slow.id) }
    }

    /// §3.9: each acknowledged segment is worth g * MSS / (t - t_action); then g shrinks by 0.9,
    /// 0.7 or 0.5 in the first, second, third T_r after the decision.
    fn on_acked(&mut self, now: Instant, _path: PathId, bytes: u64) {
        if self.open.is_empty() || self.mss_bytes == 0 {
            return;
        }
        let mss_bytes = self.mss_bytes as f64;
        for open in &mut self.open {
            let age = now - open.at;
            let shrink = match age {
                _ if age <= open.span => 0.9,
                _ if age <= open.span * 2 => 0.7,
                _ if age <= open.span * 3 => 0.5,
                _ => continue,
            };
            let rate = mss_bytes / age.as_secs_f64().max(1e-6);
            for _ in 0..bytes.div_ceil(self.mss_bytes).min(64) {
                open.reward += open.discount * rate;
                open.discount *= shrink;
            }
        }
    }

    /// What was learned holds for the paths as they were (§3.9, ours: forget after a handover).
    fn on_path_event(&mut self, _now: Instant, _path: PathId, _event: PathEvent) {
        self.arms = Default::default();
        self.open.clear();
        self.largest = [0.0; FEATURES];
        self.largest_reward = 0.0;
    }
}
