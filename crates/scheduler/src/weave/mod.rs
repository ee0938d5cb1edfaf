//! Weave, our own scheduler: bytes arrive in the order in which they are read.
//!
//! A stream that is spread over paths in the order of its bytes arrives in the order of the paths'
//! queues. Weave plans with the moment at which a byte would arrive instead: the next byte goes where
//! it arrives first, and another path takes what will be due when it gets there
//! ([`Decision::Ahead`]). It keeps the queues short, and copies what one of them holds up after all
//! ([`Scheduler::rescues`]). docs/weave.md has the rules with their reasons.

mod estimate;
#[cfg(test)]
mod tests;
mod use_of;

use crate::default_pick::serving;
use crate::{Budget, Capabilities, ConnectionView, Decision, Gap, PathEvent, PathView};
use crate::{Rescue, Scheduler};
use estimate::{Estimate, Rates, fills};
use parameters::{Info, Parameter, Values, flag, number};
use units::{Duration, Instant, PathId};
use use_of::Use;

pub(crate) const INFO: Info = Info {
    name: "weave",
    title: "Weave: in order of arrival, with short queues",
    source: "ours; docs/weave.md",
    parameters: &[
        Parameter {
            name: "queue_ms",
            unit: "ms",
            kind: number(120.0, 0.0, 60_000.0),
            meaning: "How long the queue of a path may be: new data goes there only while its \
                      acknowledgement is due within this time and the path's smallest RTT.",
            source: "ours; docs/weave.md, rule 4",
        },
        Parameter {
            name: "urgent_queue_ms",
            unit: "ms",
            kind: number(60.0, 0.0, 60_000.0),
            meaning: "The same while a stream is open whose reader waits for each byte: the queue \
                      of bulk data is what it would wait for.",
            source: "ours; docs/weave.md, rule 4",
        },
        Parameter {
            name: "horizon_ms",
            unit: "ms",
            kind: number(200.0, 1.0, 60_000.0),
            meaning: "A path on which data would arrive this much later than on the best one takes \
                      nothing new until it has drained.",
            source: "ours; docs/weave.md, rule 5",
        },
        Parameter {
            name: "margin_ms",
            unit: "ms",
            kind: number(100.0, 0.0, 60_000.0),
            meaning: "How much earlier a copy has to arrive than the original to be worth sending.",
            source: "ours; docs/weave.md, rule 6",
        },
        Parameter {
            name: "budget",
            unit: "",
            kind: number(0.1, 0.0, 1.0),
            meaning: "Copies, as a share of what is sent; 0: none.",
            source: "ours; docs/weave.md, rule 6",
        },
        Parameter {
            name: "budget_kb",
            unit: "kB",
            kind: number(1000.0, 0.0, 1e6),
            meaning: "Copies that may leave in one go.",
            source: "ours; docs/weave.md, rule 6",
        },
        Parameter {
            name: "ahead",
            unit: "",
            kind: flag(true),
            meaning: "Whether a path takes what will be due when it gets there; without it, the \
                      next byte.",
            source: "ours; docs/weave.md, rule 3",
        },
        Parameter {
            name: "bound",
            unit: "",
            kind: flag(true),
            meaning: "Whether queues are kept to queue_ms; without it, congestion windows alone \
                      say how long they get.",
            source: "ours; docs/weave.md, rule 4",
        },
    ],
};

/// How often paths that may fall behind are looked at without any other event.
const CHECK: Duration = Duration::from_millis(10);

/// The parameters.
#[derive(Clone, Copy, Debug)]
struct Settings {
    /// For now; `None`: no bound.
    queue: Option<Duration>,
    horizon: Duration,
    margin: Duration,
    ahead: bool,
}

/// Our scheduler: one per connection.
#[derive(Debug)]
pub struct Weave {
    settings: Settings,
    /// Bounds of queues, with bulk data alone and beside an urgent stream.
    queues: [Option<Duration>; 2],
    budget: Budget,
    /// How each path was used, by its id.
    used: Vec<Use>,
    /// The paths that may be used, estimated for the decision under way.
    estimates: Vec<Estimate>,
}

impl Weave {
    pub(crate) fn new(values: &Values) -> Self {
        let span = |name| Duration::from_secs_f64(values.number(name) / 1e3);
        let queue = |name| values.flag("bound").then(|| span(name));
        let queues = [queue("queue_ms"), queue("urgent_queue_ms").min(queue("queue_ms"))];
        Self {
            queues,
            settings: Settings {
                queue: queues[0],
                horizon: span("horizon_ms"),
                margin: span("margin_ms"),
                ahead: values.flag("ahead"),
            },
            budget: Budget::new(values.number("budget"), (values.number("budget_kb") * 1e3) as u64),
            used: Vec::new(),
            estimates: Vec::new(),
        }
    }

    /// Looks at all paths that may serve.
    fn estimate(&mut self, view: &ConnectionView<'_>) {
        self.estimates.clear();
        self.settings.queue = self.queues[usize::from(view.urgent)];
        for path in serving(view) {
            let index = path.id.index();
            if self.used.len() <= index {
                self.used.resize_with(index + 1, Use::default);
            }
            self.used[index].note(view.now, path, &self.settings);
            let estimate = Estimate::of(view.now, path, &self.used[index], &self.settings);
            self.estimates.push(estimate);
        }
    }

    /// Where a byte arrives first that is sent now.
    fn best(&self) -> Option<Estimate> {
        self.estimates.iter().min_by_key(|path| path.arrival).copied()
    }

    /// Data that may be lost goes first, where it arrives first or hardly later; it is no reason to
    /// hold up other paths.
    fn repair(&self, view: &ConnectionView<'_>) -> Decision {
        let fresh = || self.estimates.iter().filter(|path| !path.tried);
        let Some(best) = fresh().min_by_key(|path| path.arrival) else {
            return Decision::Wait(None);
        };
        let soon = best.arrival + self.settings.margin;
        let able = fresh().filter(|path| path.has_room).min_by_key(|path| path.arrival);
        match able.filter(|path| path.arrival <= soon) {
            Some(path) => Decision::Send(path.id),
            None => self.ahead(view, *best).unwrap_or(Decision::Wait(None)),
        }
    }

    /// What another path than the best one takes: the first bytes that will be due when it has
    /// delivered them, if there are any.
    fn ahead(&self, view: &ConnectionView<'_>, best: Estimate) -> Option<Decision> {
        let latest = best.arrival + self.settings.horizon;
        let others = self.estimates.iter().filter(|path| path.is_open && path.id != best.id);
        let by_gap = others.filter(|path| path.arrival <= latest).map(|path| {
            let before = self.estimates.iter().map(|other| other.bytes_before(path.arrival));
            (before.fold(0, u64::saturating_add), path.id)
        });
        let (gap, path) = by_gap.min()?;
        let gap = if self.settings.ahead { gap } else { 0 };
        let reach = gap.saturating_add(view.segment_bytes);
        if gap == 0 && !view.reinjection {
            return Some(Decision::Send(path));
        }
        (reach <= view.unsent_bytes).then_some(Decision::Ahead { path, gap: Gap::Unsent(gap) })
    }
}

impl Scheduler for Weave {
    fn select(&mut self, view: &ConnectionView<'_>) -> Decision {
        self.estimate(view);
        let Some(best) = self.best() else { return Decision::Wait(None) };
        if view.segment_bytes == 0 {
            return Decision::Wait(None);
        }
        if view.reinjection {
            return self.repair(view);
        }
        if best.is_open {
            return Decision::Send(best.id);
        }
        self.ahead(view, best).unwrap_or(Decision::Wait(None))
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            measures_delivery: true,
            rescues: self.budget.allows_any(),
            ..Capabilities::default()
        }
    }

    fn rescues(&mut self, view: &ConnectionView<'_>, found: &mut Vec<Rescue>) -> Option<Instant> {
        self.estimate(view);
        let in_flight = self.estimates.iter().filter(|path| path.unacked_bytes > 0).count();
        if self.estimates.len() < 2 || in_flight == 0 {
            return None;
        }
        let able = self.estimates.iter().filter(|path| path.has_room && !path.tried);
        if let Some(to) = able.min_by_key(|path| path.arrival).filter(|_| self.budget.has_any()) {
            for from in self.estimates.iter().filter(|from| from.id != to.id) {
                let due = to.arrival + self.settings.margin + from.min_rtt / 2;
                let behind_bytes = from.falling.bytes_in(due);
                if from.unacked_bytes > behind_bytes {
                    found.push(Rescue { from: from.id, to: to.id, behind_bytes });
                }
            }
        }
        Some(view.now + CHECK)
    }

    fn on_rescued(&mut self, _now: Instant, _rescue: &Rescue, bytes: u64) {
        self.budget.spend(bytes);
    }

    fn on_sent(&mut self, _now: Instant, _path: PathId, bytes: u64) {
        self.budget.earn(bytes);
    }

    fn fills(&self, now: Instant, path: &PathView) -> bool {
        let used = self.used.get(path.id.index()).copied().unwrap_or_default();
        let rates = Rates::of(now, path, &used);
        fills(path, rates.peak, &self.settings)
    }

    fn on_path_event(&mut self, now: Instant, path: PathId, _event: PathEvent) {
        if let Some(used) = self.used.get_mut(path.index()) {
            used.idle_at = now;
        }
    }
}
