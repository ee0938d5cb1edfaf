//! Redundant: every path walks the stream by itself (`mptcp_redundant.c`; docs/model.md §3.5).

use crate::default_pick::{default_decision, serving};
use crate::{Capabilities, ConnectionView, Decision, PathView, Scheduler};
use parameters::Info;
use units::PathId;

pub(crate) const INFO: Info = Info {
    name: "redundant",
    title: "Redundant: every path carries the whole stream",
    source: "multipath-tcp.org v0.96 mptcp_redundant.c",
    parameters: &[],
};

/// Paths with room take turns. Each sends what follows its own last segment in the stream, or the
/// head if that has its DATA_ACK; new data when it is at the front. The fast path leads; the slow
/// one skips what arrived without it.
///
/// While the receive window is closed the turn passes to a path that has something to repeat; the
/// kernel would stop at a path that is at the front.
#[derive(Debug, Default)]
pub struct Redundant {
    last: Option<PathId>,
}

impl Redundant {
    /// The paths after the last one that was used come first, then it and those before it.
    fn first_in_turn(
        &self,
        view: &ConnectionView<'_>,
        has_work: impl Fn(&PathView) -> bool,
    ) -> Option<PathView> {
        let is_later = |path: &PathView| self.last.is_none_or(|last| path.id > last);
        let mut able = serving(view).filter(|path| path.has_room && has_work(path));
        let later = able.clone().find(|path| is_later(path));
        later.or_else(|| able.next()).copied()
    }
}

impl Scheduler for Redundant {
    fn select(&mut self, view: &ConnectionView<'_>) -> Decision {
        if view.reinjection {
            return default_decision(view);
        }
        let has_new = view.segment_bytes > 0;
        let fits = has_new && view.segment_bytes <= view.window_left_bytes;
        let path = self
            .first_in_turn(view, |path| path.repeat_bytes > 0 || fits)
            .or_else(|| self.first_in_turn(view, |_| has_new));
        let Some(path) = path else { return Decision::Wait(None) };
        self.last = Some(path.id);
        if path.repeat_bytes > 0 { Decision::Repeat(path.id) } else { Decision::Send(path.id) }
    }

    /// The kernel module brings no receive-buffer optimisation (docs/model.md §2.7).
    fn capabilities(&self) -> Capabilities {
        let default = Capabilities::default();
        Capabilities { repeats: true, receive_buffer_optimisation: false, ..default }
    }
}
