//! Which path carries the next piece of the stream.

use super::{Endpoint, PathState};
use crate::config::Mode;
use crate::event::EventKind;
use crate::subflow::{CaState, Mapping, Subflow};
use scheduler::{ConnectionView, Decision, PathSet, PathView};
use units::{Duration, Instant, PathId};

/// Waits shorter than this are ordinary ACK clocking and are not noted.
const NOTABLE_WAIT: Duration = Duration::from_millis(10);

/// Why a piece is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// For the first time.
    New,
    /// Once more, because it may be lost or stuck.
    Reinjection,
    /// Once more, because the scheduler wants a copy on this path.
    Repeat,
}

/// The piece being scheduled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    dsn: u64,
    bytes: u64,
    origin: Origin,
    carried_by: PathSet,
}

impl Piece {
    /// Nothing: a scheduler that repeats is asked all the same.
    const NONE: Self = Self { dsn: 0, bytes: 0, origin: Origin::New, carried_by: PathSet::EMPTY };

    fn new(dsn: u64, bytes: u64) -> Self {
        Self { dsn, bytes, ..Self::NONE }
    }

    /// A piece that was sent before, to send again whatever carried it.
    pub fn again(dsn: u64, bytes: u64) -> Self {
        Self { origin: Origin::Reinjection, ..Self::new(dsn, bytes) }
    }
}

/// What becomes of the piece being scheduled.
#[derive(Clone, Copy, Debug)]
enum Order {
    Wait,
    Send(PathSet),
    /// It stays the next one, and this other one goes out on this path.
    Instead(PathId, Piece),
}

impl Endpoint {
    /// Asks the scheduler piece by piece until it waits, or nothing is left to send.
    pub(super) fn schedule(&mut self, now: Instant) {
        let (v096, repeats) = (self.config.mode == Mode::V096, self.scheduler.repeats());
        loop {
            let Some(piece) = self.next_piece().or(repeats.then_some(Piece::NONE)) else {
                self.use_idle_room(now);
                return;
            };
            let fits = piece.origin != Origin::New || self.send.fits(piece.dsn + piece.bytes);
            if !fits && !v096 && !repeats {
                return;
            }
            let sent = match self.decide(now, &piece) {
                Order::Wait => false,
                Order::Instead(path, other) => {
                    self.assign_to_all(now, &other, PathSet::EMPTY.with(path))
                }
                Order::Send(targets) if fits => self.assign_to_all(now, &piece, targets),
                Order::Send(targets) => v096 && self.optimise_for(now, targets),
            };
            if !sent {
                return;
            }
        }
    }

    fn assign_to_all(&mut self, now: Instant, piece: &Piece, targets: PathSet) -> bool {
        for path in targets.iter() {
            self.assign(now, path, piece, targets);
        }
        true
    }

    /// Reinjections first, in the order of the stream, then new data.
    fn next_piece(&mut self) -> Option<Piece> {
        if let Some(segment) = self.send.next_reinjection() {
            let carried_by = self.still_untried(segment.dsn, segment.carried_by);
            let (dsn, bytes) = (segment.dsn, segment.bytes);
            return Some(Piece { carried_by, ..Piece::again(dsn, bytes) });
        }
        self.send.next_new().map(|(dsn, bytes)| Piece::new(dsn, bytes))
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

    /// Asks the scheduler, if there is any path to choose, and holds it to the rules. An answer that
    /// cannot be followed counts as a wait.
    fn decide(&mut self, now: Instant, piece: &Piece) -> Order {
        self.refresh_views(now, piece.carried_by);
        let queue_windows = self.scheduler.queue_limit_windows();
        let able = |path: &&PathView| path.usable && path.accepts(queue_windows);
        let able = self.views.iter().filter(able);
        let able = able.fold(PathSet::EMPTY, |set, path| set.with(path.id));
        if able == PathSet::EMPTY {
            return Order::Wait;
        }
        let (chosen, other) = match self.ask(now, piece) {
            Decision::Send(path) => (PathSet::EMPTY.with(path), None),
            Decision::Duplicate(paths) => (paths, None),
            Decision::Wait(_) => (PathSet::EMPTY, None),
            Decision::Repeat(path) => (PathSet::EMPTY, self.repetition(path, able)),
            Decision::Ahead { path, gap_bytes } => {
                (PathSet::EMPTY, self.piece_ahead(path, able, piece, gap_bytes))
            }
        };
        let order = match other {
            Some((path, other)) => Order::Instead(path, other),
            None if piece.bytes == 0 => Order::Wait,
            None => self.order_send(chosen.common(able)),
        };
        if piece.bytes > 0 {
            self.note_wait(now, matches!(order, Order::Wait));
        }
        order
    }

    /// The next piece of the path's own walk along the stream (docs/model.md §3.5).
    fn repetition(&self, path: PathId, able: PathSet) -> Option<(PathId, Piece)> {
        let state = self.paths.get(path.index()).filter(|_| able.contains(path))?;
        let segment = self.send.first_from(state.walked_to)?;
        let piece = Piece::new(segment.dsn, segment.bytes);
        Some((path, Piece { origin: Origin::Repeat, ..piece }))
    }

    /// A new piece further on in the stream than the one being scheduled.
    fn piece_ahead(
        &mut self,
        path: PathId,
        able: PathSet,
        at_hand: &Piece,
        gap_bytes: u64,
    ) -> Option<(PathId, Piece)> {
        if at_hand.origin != Origin::New || at_hand.bytes == 0 || !able.contains(path) {
            return None;
        }
        let (dsn, bytes) = self.send.pass_over_to(at_hand.dsn.saturating_add(gap_bytes))?;
        Some((path, Piece::new(dsn, bytes)))
    }

    fn ask(&mut self, now: Instant, piece: &Piece) -> Decision {
        let (receive_window_bytes, window_left_bytes) = self.send.window_bytes();
        let view = ConnectionView {
            now,
            paths: &self.views,
            segment_bytes: piece.bytes,
            reinjection: piece.origin == Origin::Reinjection,
            unsent_bytes: self.send.unsent_bytes(),
            receive_window_bytes,
            window_left_bytes,
            window_blocked: std::mem::take(&mut self.window_blocked),
        };
        let decision = self.scheduler.select(&view);
        if let Decision::Wait(until) = decision {
            self.wake_at = until.filter(|at| *at > now).unwrap_or(Instant::FAR_FUTURE);
        }
        decision
    }

    /// Sends on what was chosen; if that is nothing, the deadlock rule decides.
    fn order_send(&self, chosen: PathSet) -> Order {
        let targets = if chosen == PathSet::EMPTY { self.break_deadlock() } else { chosen };
        if targets == PathSet::EMPTY { Order::Wait } else { Order::Send(targets) }
    }

    /// A scheduler that waits while nothing is under way anywhere would never stop waiting: send on
    /// the fastest path with room instead (docs/model.md §3).
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
        let is_first = all.iter().next() == Some(path);
        let state = &mut self.paths[path.index()];
        match piece.origin {
            Origin::Reinjection => state.reinjected_packets += 1,
            Origin::New | Origin::Repeat => {
                state.redundant_packets += u64::from(piece.origin == Origin::Repeat || !is_first);
                state.walked_to = piece.dsn + piece.bytes;
            }
        }
        if piece.origin != Origin::New {
            if let Some(segment) = self.send.segment_mut(piece.dsn) {
                segment.carried_by = segment.carried_by.with(path);
            }
            self.send.on_reinjected(piece.dsn, piece.bytes);
        } else if is_first {
            self.send.on_assigned(piece.dsn, piece.bytes, all);
            if self.meta_at == Instant::FAR_FUTURE {
                self.restart_meta_timer(now);
            }
        }
        self.send_queued(now, path.index());
    }

    /// Lets paths rest that the scheduler wants to rest before a foreseen outage, and sends what they
    /// hold back on the others.
    pub(super) fn rest_paths(&mut self, now: Instant) {
        let mode = self.config.mode;
        for subflow in self.subflows.iter_mut().flatten().filter(|s| s.is_established()) {
            let state = &mut self.paths[subflow.path.index()];
            if !state.forgets_outages(now) {
                continue;
            }
            let view = path_view(mode, subflow, state, false);
            let until = self.scheduler.rests_until(now, &view).filter(|until| *until > now);
            if !subflow.tx.rest(now, until) {
                continue;
            }
            for piece in subflow.tx.held_back() {
                let Some(segment) = self.send.segment_mut(piece.dsn) else { continue };
                if !segment.reinjected_from.contains(subflow.path) {
                    segment.reinjected_from = segment.reinjected_from.with(subflow.path);
                    self.send.reinject(piece.dsn);
                }
            }
        }
    }

    pub(super) fn refresh_views(&mut self, now: Instant, carried_by: PathSet) {
        let mode = self.config.mode;
        let repeats = self.scheduler.repeats();
        self.views.clear();
        for subflow in self.subflows.iter().flatten().filter(|subflow| subflow.is_established()) {
            let state = &mut self.paths[subflow.path.index()];
            state.forgets_outages(now);
            let tried = carried_by.contains(subflow.path);
            let mut view = path_view(mode, subflow, state, tried);
            if repeats && let Some(segment) = self.send.first_from(state.walked_to) {
                view.repeat_bytes = segment.bytes;
            }
            self.views.push(view);
        }
    }
}

/// Established and not thought dead. In v0.96 a subflow that repairs a timeout takes no new data
/// either (docs/model.md §2.4).
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
        forecast: state.forecast.front().copied(),
        repeat_bytes: 0,
    }
}
