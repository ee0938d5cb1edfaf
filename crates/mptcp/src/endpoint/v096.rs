//! What multipath-tcp.org v0.96 does and upstream does not: `pf`, reinjection on a subflow timeout,
//! opportunistic retransmission and penalisation, the connection's own timer
//! (docs/model.md §2.5, §2.6; `mptcp_output.c`, `mptcp_sched.c`).

use super::Endpoint;
use super::scheduling::Piece;
use crate::config::Mode;
use crate::event::EventKind;
use crate::subflow::CaState;
use recovery::RTO_MAX;
use scheduler::{PathEvent, PathSet};
use units::{Duration, Instant, PathId};

impl Endpoint {
    /// A subflow timed out: it counts as potentially failed until it is heard of, and everything it
    /// holds is reinjected on the others, once.
    pub(super) fn on_subflow_timeout_v096(&mut self, now: Instant, path: PathId) {
        let state = &mut self.paths[path.index()];
        if !std::mem::replace(&mut state.failed, true) {
            self.views.outdate(path);
            self.note(now, Some(path), EventKind::Failed);
            self.dispatch.on_path_event(now, path, PathEvent::Failed);
        }
        if self.established().count() > 1 {
            self.reinject_from(now, path);
        }
        if self.meta_backoff == 0 {
            self.restart_meta_timer(now);
        }
    }

    fn reinject_from(&mut self, now: Instant, path: PathId) {
        let Some(subflow) = self.subflows.get(path) else { return };
        let mut count = 0;
        for piece in subflow.tx.outstanding() {
            let Some(segment) = self.send.segment_mut(piece.dsn) else { continue };
            if segment.reinjected_from.contains(path) {
                continue;
            }
            segment.reinjected_from = segment.reinjected_from.with(path);
            count += u64::from(self.send.reinject(piece.dsn));
        }
        if count > 0 {
            self.note(now, Some(path), EventKind::Reinjected(count));
        }
    }

    /// Meta RTO: twice the largest of the subflows', doubled for each time in a row.
    pub(super) fn meta_period_v096(&self) -> Duration {
        let longest = self.established().map(|subflow| subflow.tx.rto()).max();
        let period = longest.unwrap_or(recovery::RTO_INITIAL) * 2;
        (period * (1 << self.meta_backoff.min(16))).min(RTO_MAX)
    }

    /// DATA_ACK stalls: the head of the stream is reinjected by way of the scheduler.
    pub(super) fn meta_timeout_v096(&mut self, now: Instant) {
        if let Some(head) = self.send.head() {
            self.totals.meta_timeouts += 1;
            self.note(now, None, EventKind::MetaTimeout);
            self.send.reinject(head.dsn);
            self.meta_backoff += 1;
        }
        self.restart_meta_timer(now);
    }

    /// New data exists and a path has room, but the receive window is closed: trigger A of §2.6.
    /// True when something was sent.
    pub(super) fn optimise_for(&mut self, now: Instant, targets: PathSet) -> bool {
        self.totals.window_stalls += 1;
        if !self.dispatch.capabilities().receive_buffer_optimisation {
            return false;
        }
        targets.iter().next().is_some_and(|path| self.optimise(now, path))
    }

    /// No unsent data because the send buffer is full, but a path has room: trigger B of §2.6.
    pub(super) fn use_idle_room(&mut self, now: Instant) {
        let blocked = self.config.mode == Mode::V096
            && self.send.is_full()
            && self.dispatch.capabilities().receive_buffer_optimisation;
        if !blocked {
            return;
        }
        self.refresh_views(now, PathSet::EMPTY);
        let able =
            self.views.rows().iter().filter(|path| path.usable && path.has_room && !path.backup);
        let able = able.filter(|path| !self.dispatch.avoids(now, path));
        if let Some(path) = able.min_by_key(|path| path.srtt).map(|path| path.id) {
            self.optimise(now, path);
        }
    }

    fn optimise(&mut self, now: Instant, path: PathId) -> bool {
        let Some(head) = self.send.head() else { return false };
        let Some(own_srtt) = self.sender(path).map(|tx| tx.rtt.srtt()) else { return false };
        let slower: Vec<PathId> = (self.established())
            .filter(|s| s.path != path && head.carried_by.contains(s.path))
            .filter(|s| s.tx.rtt.srtt() > own_srtt)
            .map(|s| s.path)
            .collect();
        self.penalise(now, path, own_srtt, &slower);
        if head.carried_by.contains(path) {
            return false;
        }
        let worthwhile = slower
            .iter()
            .filter_map(|slow| self.sender(*slow))
            .any(|tx| tx.cwnd_packets() <= 4 || tx.rtt.srtt() > own_srtt * 4);
        if worthwhile {
            let piece = Piece::again(head.dsn, head.bytes);
            self.assign(now, path, &piece, PathSet::EMPTY.with(path));
        }
        worthwhile
    }

    /// Halves the window of the first slower path that holds up the head, once per RTT of `path`.
    fn penalise(&mut self, now: Instant, path: PathId, own_srtt: Duration, slower: &[PathId]) {
        let state = &mut self.paths[path.index()];
        if state.optimised_at.is_some_and(|at| now - at < own_srtt) {
            return;
        }
        let guilty = slower
            .iter()
            .find(|slow| self.sender(**slow).is_some_and(|tx| tx.ca() == CaState::Open));
        let Some(&guilty) = guilty else { return };
        self.paths[path.index()].optimised_at = Some(now);
        if let Some(subflow) = self.subflows.get_mut(guilty) {
            subflow.tx.cc.penalise();
        }
        self.window_blocked = true;
        self.totals.penalisations += 1;
        self.note(now, Some(guilty), EventKind::Penalised);
    }
}
