//! What upstream Linux does when DATA_ACK stalls: what is left of a fragment on an idle subflow, and
//! stale subflows (docs/model.md §2.5; `net/mptcp/protocol.c`, `pm_netlink.c`).

use super::Endpoint;
use crate::endpoint::scheduling::Piece;
use crate::event::EventKind;
use crate::meta::FRAGMENT_BYTES;
use scheduler::{PathEvent, PathSet};
use units::{Duration, Instant, PathId};

/// `net.mptcp.stale_loss_cnt`.
const STALE_LOSS_COUNT: u32 = 4;
/// Timer period when no subflow has a timer running.
const IDLE_PERIOD: Duration = Duration::from_millis(200);
/// `tcp_model_timeout` of `net.ipv4.tcp_retries2`, 15 times from `TCP_RTO_MIN` (`net/ipv4/tcp_timer.c`).
const GIVE_UP_AFTER: Duration = Duration::from_millis(924_600);

impl Endpoint {
    /// The longest time that a subflow's own timer still has to run; those that were silent at the
    /// last check do not count, so a backed-off timer of a dead path delays nothing.
    pub(super) fn meta_period_upstream(&self, now: Instant) -> Duration {
        let alive = self.established().filter(|s| self.paths[s.path.index()].silent_periods == 0);
        let running = alive.map(|s| s.tx.timer_at()).filter(|at| *at != Instant::FAR_FUTURE);
        let longest = running.map(|at| at - now).max().unwrap_or(Duration::ZERO);
        if longest.is_zero() { IDLE_PERIOD } else { longest }
    }

    pub(super) fn meta_timeout_upstream(&mut self, now: Instant) {
        if let Some(head) = self.send.head() {
            self.totals.meta_timeouts += 1;
            self.note(now, None, EventKind::MetaTimeout);
            self.check_stale(now);
            if let Some(path) = self.idle_subflow() {
                let end = (head.dsn / FRAGMENT_BYTES + 1) * FRAGMENT_BYTES;
                for segment in self.send.sent_before(end) {
                    let piece = Piece::again(segment.dsn, segment.bytes);
                    self.assign(now, path, &piece, PathSet::EMPTY.with(path));
                }
            }
        }
        self.restart_meta_timer(now);
    }

    /// A subflow with nothing outstanding; a backup only when no other is usable, or those with data
    /// outstanding have been silent for two checks (`mptcp_subflow_get_retrans`).
    fn idle_subflow(&self) -> Option<PathId> {
        let alive = || self.established().filter(|s| !self.paths[s.path.index()].failed);
        let active = alive().any(|subflow| !subflow.backup);
        let idle = |backup| alive().find(|s| s.tx.is_idle() && s.backup == backup).map(|s| s.path);
        let busy = alive().filter(|subflow| !subflow.tx.is_idle());
        let least = busy.map(|subflow| self.paths[subflow.path.index()].silent_periods).min();
        let no_progress = !active || least.is_some_and(|periods| periods > 1);
        idle(false).or_else(|| idle(true).filter(|_| no_progress))
    }

    /// Counts silent periods of subflows with data outstanding; five of them make one stale,
    /// provided that another is not silent too.
    fn check_stale(&mut self, now: Instant) {
        let busy = self.established().filter(|subflow| !subflow.tx.is_idle());
        let busy: Vec<PathId> = busy.map(|subflow| subflow.path).collect();
        for path in busy {
            let state = &mut self.paths[path.index()];
            if state.silent_periods == 0 {
                state.silent_periods = 1;
                state.heard_at_check = state.last_heard;
            } else if state.heard_at_check == state.last_heard {
                state.silent_periods += 1;
            } else {
                state.silent_periods = 0;
            }
            if state.silent_periods > STALE_LOSS_COUNT && !state.failed && self.has_better(path) {
                self.mark_stale(now, path);
            }
        }
    }

    /// A subflow whose retransmissions go unanswered for [`GIVE_UP_AFTER`] is closed by Linux. Here it
    /// becomes stale, so that it may come back; and only beside another that is not.
    pub(super) fn on_subflow_timeout_upstream(&mut self, now: Instant, path: PathId, times: u32) {
        let state = &mut self.paths[path.index()];
        if times == 1 {
            state.timed_out_at = now;
        }
        if state.failed || now < state.timed_out_at + GIVE_UP_AFTER {
            return;
        }
        let is_alive = |other: PathId| other != path && !self.paths[other.index()].failed;
        if self.established().any(|subflow| is_alive(subflow.path)) {
            self.mark_stale(now, path);
        }
    }

    fn has_better(&self, than: PathId) -> bool {
        self.established().any(|subflow| {
            let state = &self.paths[subflow.path.index()];
            let limit = STALE_LOSS_COUNT - 1;
            subflow.path != than && !state.failed && state.silent_periods < limit
        })
    }

    /// Stops using a subflow and reinjects everything without DATA_ACK elsewhere.
    fn mark_stale(&mut self, now: Instant, path: PathId) {
        self.paths[path.index()].failed = true;
        self.views.outdate(path);
        let count = self.send.reinject_all();
        self.note(now, Some(path), EventKind::Failed);
        self.note(now, Some(path), EventKind::Reinjected(count));
        self.dispatch.on_path_event(now, path, PathEvent::Failed);
    }
}
