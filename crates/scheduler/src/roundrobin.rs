//! Round robin (`mptcp_rr.c`; `algorithms.md` §3.2).

use crate::{ConnectionView, Decision, PathView, Scheduler};
use units::{Instant, PathId};

/// Segments that a path gets in a row (kernel `num_segments`).
const NUM_SEGMENTS: u32 = 1;

/// Gives each path one segment in turn; paths without room are passed over (`cwnd_limited` = 1),
/// so under load it fills every window.
#[derive(Debug, Default)]
pub struct RoundRobin {
    quota: Vec<u32>,
}

impl RoundRobin {
    fn quota(&mut self, path: PathId) -> &mut u32 {
        if self.quota.len() <= path.index() {
            self.quota.resize(path.index() + 1, 0);
        }
        &mut self.quota[path.index()]
    }

    /// A path in the middle of its turn, else the last one that had none yet.
    fn turn(&mut self, view: &ConnectionView<'_>, backup: bool) -> Option<PathId> {
        let mut choice = None;
        for path in candidates(view, backup) {
            match *self.quota(path.id) {
                0 => choice = Some(path.id),
                used if used < NUM_SEGMENTS => return Some(path.id),
                _ => {}
            }
        }
        choice
    }
}

fn candidates<'a>(
    view: &ConnectionView<'a>,
    backup: bool,
) -> impl Iterator<Item = &'a PathView> + use<'a> {
    view.paths.iter().filter(move |p| p.usable && p.has_room && p.backup == backup && !p.tried)
}

impl Scheduler for RoundRobin {
    fn select(&mut self, view: &ConnectionView<'_>) -> Decision {
        let backup = !view.paths.iter().any(|path| path.usable && !path.backup);
        if view.reinjection {
            // Any path that did not carry it; the last in the list wins.
            let last = candidates(view, backup).last();
            return last.map_or(Decision::Wait(None), |path| Decision::Send(path.id));
        }
        if let Some(path) = self.turn(view, backup) {
            return Decision::Send(path);
        }
        for path in candidates(view, backup) {
            *self.quota(path.id) = 0;
        }
        self.turn(view, backup).map_or(Decision::Wait(None), Decision::Send)
    }

    fn on_sent(&mut self, _now: Instant, path: PathId, _bytes: u64) {
        *self.quota(path) += 1;
    }

    /// The kernel module brings no receive-buffer optimisation (`algorithms.md` §2.7).
    fn wants_receive_buffer_optimisation(&self) -> bool {
        false
    }
}
