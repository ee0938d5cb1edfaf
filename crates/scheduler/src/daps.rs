//! DAPS, delay-aware packet scheduling: Kuhn, Lochin, Mifdaoui, Sarwar, Mehani, Boreli, "DAPS:
//! Intelligent Delay-Aware Packet Scheduling for Multipath Transport", ICC 2014
//! (docs/model.md §3.6; what is marked there as ours is not in the paper).

use crate::default_pick::{default_decision, serving};
use crate::sttf::QUEUE_WINDOWS;
use crate::{Capabilities, ConnectionView, Decision, PathEvent, PathView, Scheduler};
use parameters::{Info, Parameter, Values, flag};
use units::{Duration, Instant, PathId};

pub(crate) const INFO: Info = Info {
    name: "daps",
    title: "DAPS, delay-aware packet scheduling (our rounding and replanning)",
    source: "Kuhn et al., ICC 2014; Karlstad mptcp_daps.c (full text of the paper not read)",
    parameters: &[
        QUEUE_WINDOWS,
        Parameter {
            name: "in_slow_start",
            unit: "",
            kind: flag(true),
            meaning: "Keep a path in the plan that is in slow start after a loss.",
            source: "Karlstad mptcp_daps.c daps_in_ss",
        },
    ],
};

/// Forward delays are rounded to this, so that the least common multiple stays small (§3.6, ours).
const GRAIN_MS: u64 = 5;
/// A plan covers at most this (§3.6, ours).
const HORIZON_MS: u64 = 10_000;
/// And has at most this many turns (§3.6, ours).
const MAX_TURNS: usize = 4096;

/// A number of consecutive segments for one path.
#[derive(Clone, Copy, Debug)]
struct Turn {
    path: PathId,
    segments: u64,
}

/// What the plan was made from.
#[derive(Clone, Copy, Debug)]
struct Basis {
    path: PathId,
    srtt: Duration,
}

/// Average window of a path: an eighth of the news once per RTT (§3.6), in thousandths of packets.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    milli: u64,
    updated_at: Instant,
}

/// Makes a plan of who delivers when, in the order of arrival, and follows it to its end whatever
/// the windows do meanwhile: its weakness. A plan is given up early when an RTT moved by more than a
/// quarter or paths came or went.
#[derive(Debug)]
pub struct Daps {
    plan: Vec<Turn>,
    position: usize,
    basis: Vec<Basis>,
    windows: Vec<Window>,
    /// The path that the last answer named for new data; its next `on_sent` counts.
    ordered: Option<PathId>,
    queue_windows: u64,
    in_slow_start: bool,
}

impl Daps {
    pub(crate) fn new(values: &Values) -> Self {
        Self {
            plan: Vec::new(),
            position: 0,
            basis: Vec::new(),
            windows: Vec::new(),
            ordered: None,
            queue_windows: values.whole("queue_windows"),
            in_slow_start: values.flag("in_slow_start"),
        }
    }

    fn observe(&mut self, now: Instant, path: &PathView) {
        if self.windows.len() <= path.id.index() {
            self.windows.resize(path.id.index() + 1, Window::default());
        }
        let window = &mut self.windows[path.id.index()];
        let news = path.cwnd_packets.saturating_mul(1000);
        if window.milli == 0 {
            *window = Window { milli: news, updated_at: now };
        } else if now - window.updated_at >= path.srtt {
            let milli = window.milli - window.milli / 8 + news / 8; // §3.6: EWMA 1/8 per RTT
            *window = Window { milli, updated_at: now };
        }
    }

    /// Exhausted, or made from something else than what there is now.
    fn is_stale(&self, view: &ConnectionView<'_>) -> bool {
        if self.position >= self.plan.len() {
            return true;
        }
        let mut basis = self.basis.iter();
        let same = |path: &PathView| {
            basis.next().is_some_and(|basis| {
                // §3.6, ours: a change of more than 25 %
                basis.path == path.id && path.srtt.abs_diff(basis.srtt) * 4 <= basis.srtt
            })
        };
        !serving(view).all(same) || basis.next().is_some()
    }

    fn make_plan(&mut self, view: &ConnectionView<'_>) {
        self.plan.clear();
        self.position = 0;
        self.basis.clear();
        self.basis.extend(serving(view).map(|p| Basis { path: p.id, srtt: p.srtt }));
        let slow_start = |path: &&PathView| {
            path.ssthresh_packets != u64::MAX && path.cwnd_packets < path.ssthresh_packets
        };
        let all_begin_again = serving(view).all(|path| slow_start(&path));
        let keep = self.in_slow_start || all_begin_again;
        let mut runs: Vec<Run> = serving(view)
            .filter(|path| keep || !slow_start(path))
            .map(|path| Run::new(path, self.windows[path.id.index()]))
            .collect();
        let horizon_ms = runs.iter().map(|run| run.delay_ms).fold(1, lcm);
        while self.plan.len() < MAX_TURNS {
            let next = runs.iter_mut().min_by_key(|run| (run.due_ms, run.delay_ms, run.turn.path));
            let Some(run) = next.filter(|run| run.due_ms <= horizon_ms) else { break };
            self.plan.push(run.turn);
            run.due_ms += run.delay_ms;
        }
    }
}

/// A path in the making of a plan: it delivers its window at each multiple of its delay (§3.6).
#[derive(Debug)]
struct Run {
    turn: Turn,
    delay_ms: u64,
    due_ms: u64,
}

impl Run {
    fn new(path: &PathView, window: Window) -> Self {
        let forward_ms = path.srtt.as_millis() / 2; // §3.6: D_i ~ srtt_i / 2
        let delay_ms = ((forward_ms + GRAIN_MS / 2) / GRAIN_MS * GRAIN_MS).clamp(1, HORIZON_MS);
        let turn = Turn { path: path.id, segments: ((window.milli + 500) / 1000).max(1) };
        Self { turn, delay_ms, due_ms: delay_ms }
    }
}

fn lcm(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x).saturating_mul(b).min(HORIZON_MS) // §3.6, ours: T at most 10 s
}

impl Scheduler for Daps {
    fn select(&mut self, view: &ConnectionView<'_>) -> Decision {
        self.ordered = None;
        if view.reinjection {
            return default_decision(view);
        }
        for path in view.paths {
            self.observe(view.now, path);
        }
        if self.is_stale(view) {
            self.make_plan(view);
        }
        let turn = self.plan.get(self.position).and_then(|turn| view.path(turn.path));
        match turn {
            Some(path) if path.accepts(self.queue_windows) => {
                self.ordered = Some(path.id);
                Decision::Send(path.id)
            }
            _ => Decision::Wait(None),
        }
    }

    fn on_sent(&mut self, _now: Instant, path: PathId, _bytes: u64) {
        if self.ordered.take() != Some(path) {
            return;
        }
        if let Some(turn) = self.plan.get_mut(self.position) {
            turn.segments -= 1;
            self.position += usize::from(turn.segments == 0);
        }
    }

    fn on_path_event(&mut self, _now: Instant, path: PathId, event: PathEvent) {
        self.plan.clear();
        if event == PathEvent::Established
            && let Some(window) = self.windows.get_mut(path.index())
        {
            *window = Window::default();
        }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { queue_limit_windows: self.queue_windows, ..Capabilities::default() }
    }
}

#[cfg(test)]
impl Daps {
    /// The plan as (path, segments).
    pub(crate) fn plan(&self) -> Vec<(u8, u64)> {
        self.plan.iter().map(|turn| (turn.path.0, turn.segments)).collect()
    }
}
