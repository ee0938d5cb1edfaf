//! Which path carries the next piece of the stream.

use super::{Endpoint, PathState};
use crate::config::Mode;
use crate::event::EventKind;
use crate::subflow::{CaState, Mapping, Subflow};
use scheduler::{ConnectionView, Decision, PathSet, PathView};
use units::{Duration, Instant, PathId};

/// Waits shorter than this are ordinary ACK clocking and are not noted.
const NOTABLE_WAIT: Duration = Duration::from_millis(10);

/// The piece at hand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub dsn: u64,
    pub bytes: u64,
    pub reinjection: bool,
    carried_by: PathSet,
}

impl Piece {
    /// A piece that was sent before and goes again whatever carried it.
    pub fn again(dsn: u64, bytes: u64) -> Self {
        Self { dsn, bytes, reinjection: true, carried_by: PathSet::EMPTY }
    }
}

impl Endpoint {
    /// Asks the scheduler piece by piece until it waits, or nothing is left to send.
    pub(super) fn schedule(&mut self, now: Instant) {
        loop {
            let Some(piece) = self.next_piece() else {
                self.use_idle_room(now);
                return;
            };
            let fits = piece.reinjection || self.send.fits(piece.dsn + piece.bytes);
            if !fits && self.config.mode != Mode::V096 {
                return;
            }
            let Some(targets) = self.decide(now, &piece) else { return };
            if fits {
                for path in targets.iter() {
                    self.assign(now, path, &piece, targets);
                }
            } else if !self.optimise_for(now, targets) {
                return;
            }
        }
    }

    /// Reinjections first, in the order of the stream, then new data.
    fn next_piece(&mut self) -> Option<Piece> {
        if let Some(segment) = self.send.next_reinjection() {
            let carried_by = self.still_untried(segment.dsn, segment.carried_by);
            let (dsn, bytes) = (segment.dsn, segment.bytes);
            return Some(Piece { dsn, bytes, reinjection: true, carried_by });
        }
        let (dsn, bytes) = self.send.next_new()?;
        Some(Piece { dsn, bytes, reinjection: false, carried_by: PathSet::EMPTY })
    }

    /// The mask of paths that carried a segment, cleared when no usable path is left outside it
    /// (§2.5). Upstream keeps no such mask.
    fn still_untried(&mut self, dsn: u64, carried_by: PathSet) -> PathSet {
        if self.config.mode != Mode::V096 {
            return PathSet::EMPTY;
        }
        let mode = self.config.mode;
        let untried = self.subflows.iter().flatten().any(|subflow| {
            let state = &self.paths[subflow.path.index()];
            is_usable(mode, subflow, state) && !carried_by.contains(subflow.path)
        });
        if untried {
            return carried_by;
        }
        if let Some(segment) = self.send.segment_mut(dsn) {
            segment.carried_by = PathSet::EMPTY;
        }
        PathSet::EMPTY
    }

    /// The paths that the piece goes to; `None` to wait.
    fn decide(&mut self, now: Instant, piece: &Piece) -> Option<PathSet> {
        self.refresh_views(piece.carried_by);
        if !self.views.iter().any(|view| view.usable && view.has_room) {
            return None;
        }
        let (receive_window_bytes, window_left_bytes) = self.send.window_bytes();
        let view = ConnectionView {
            now,
            paths: &self.views,
            segment_bytes: piece.bytes,
            reinjection: piece.reinjection,
            unsent_bytes: self.send.unsent_bytes(),
            receive_window_bytes,
            window_left_bytes,
            window_blocked: std::mem::take(&mut self.window_blocked),
        };
        let chosen = match self.scheduler.select(&view) {
            Decision::Send(path) => PathSet::EMPTY.with(path),
            Decision::Duplicate(paths) => paths,
            Decision::Wait(until) => {
                self.wake_at = until.filter(|at| *at > now).unwrap_or(Instant::FAR_FUTURE);
                PathSet::EMPTY
            }
        };
        let able = |path: &PathView| path.usable && path.has_room && chosen.contains(path.id);
        let targets = self.views.iter().filter(|path| able(path));
        let targets = targets.fold(PathSet::EMPTY, |set, path| set.with(path.id));
        let targets = if targets == PathSet::EMPTY { self.break_deadlock() } else { targets };
        self.note_wait(now, targets == PathSet::EMPTY);
        (targets != PathSet::EMPTY).then_some(targets)
    }

    /// A scheduler that waits while nothing is under way anywhere would wait for ever: send on the
    /// fastest path with room instead (`algorithms.md` §3).
    fn break_deadlock(&self) -> PathSet {
        let idle =
            self.subflows.iter().flatten().all(|subflow| {
                subflow.tx.in_flight_packets() == 0 && subflow.tx.queued_packets() == 0
            });
        if !idle || self.wake_at != Instant::FAR_FUTURE {
            return PathSet::EMPTY;
        }
        let able = self.views.iter().filter(|path| path.usable && path.has_room);
        let fastest = able.min_by_key(|path| path.srtt);
        fastest.map_or(PathSet::EMPTY, |path| PathSet::EMPTY.with(path.id))
    }

    fn note_wait(&mut self, now: Instant, waits: bool) {
        if waits {
            self.waiting_since.get_or_insert(now);
            self.totals.waits += 1;
        } else if let Some(since) = self.waiting_since.take()
            && now - since >= NOTABLE_WAIT
        {
            self.note(now, None, EventKind::Waited(now - since));
        }
    }

    /// Puts a piece into the queue of a subflow, and on the wire if its window and pacing let it.
    pub(super) fn assign(&mut self, now: Instant, path: PathId, piece: &Piece, all: PathSet) {
        let Some(subflow) = &mut self.subflows[path.index()] else { return };
        subflow.tx.assign(Mapping { dsn: piece.dsn, bytes: piece.bytes });
        self.scheduler.on_sent(now, path, piece.bytes);
        if piece.reinjection {
            self.paths[path.index()].reinjected_packets += 1;
            if let Some(segment) = self.send.segment_mut(piece.dsn) {
                segment.carried_by = segment.carried_by.with(path);
            }
            self.send.on_reinjected(piece.dsn);
        } else if all.iter().next() == Some(path) {
            self.send.push_sent(piece.bytes, all);
            if self.meta_at == Instant::FAR_FUTURE {
                self.restart_meta_timer(now);
            }
        }
        self.send_queued(now, path.index());
    }

    pub(super) fn refresh_views(&mut self, carried_by: PathSet) {
        let mode = self.config.mode;
        self.views.clear();
        for subflow in self.subflows.iter().flatten().filter(|subflow| subflow.is_established()) {
            let state = &self.paths[subflow.path.index()];
            let tried = carried_by.contains(subflow.path);
            self.views.push(path_view(mode, subflow, state, tried));
        }
    }
}

/// Established and not thought dead. In v0.96 a subflow that repairs a timeout takes no new data
/// either (`algorithms.md` §2.4).
pub(super) fn is_usable(mode: Mode, subflow: &Subflow, state: &PathState) -> bool {
    let repairs = mode == Mode::V096 && subflow.tx.ca() == CaState::Loss;
    subflow.is_established() && !state.failed && !repairs
}

fn path_view(mode: Mode, subflow: &Subflow, state: &PathState, tried: bool) -> PathView {
    let tx = &subflow.tx;
    let sent = tx.stats.sent_packets.max(1);
    PathView {
        id: subflow.path,
        usable: is_usable(mode, subflow, state),
        has_room: tx.has_room(),
        backup: subflow.backup,
        tried,
        srtt: tx.rtt.srtt(),
        latest_rtt: tx.rtt.latest(),
        min_rtt: tx.rtt.min(),
        mdev: tx.rtt.mdev(),
        rttvar_kernel: tx.rtt.rttvar_kernel(),
        cwnd_packets: tx.cwnd_packets(),
        ssthresh_packets: tx.ssthresh_packets(),
        in_flight_packets: tx.in_flight_packets(),
        queued_packets: tx.queued_packets(),
        unacked_bytes: tx.unacked_bytes(),
        mss_bytes: mode.mss_bytes(),
        pacing_rate: tx.pacing_rate(),
        loss_ratio: tx.stats.lost_packets as f64 / sent as f64,
        forecast: None,
    }
}
