//! Which path carries the next piece of the stream.

use super::Endpoint;
use super::views::{is_usable, path_view};
use crate::config::Mode;
use crate::event::EventKind;
use crate::meta::{FRAGMENT_BYTES, SendBuffer};
use crate::subflow::Mapping;
use scheduler::{ConnectionView, Gap, Order, PathSet, PathView};
use units::{Instant, PathId};

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
enum Fate {
    Waits,
    Leaves(PathSet),
    /// It stays the next one, and this other one goes out on this path.
    Yields(PathId, Piece),
}

impl From<Order> for Fate {
    /// A subflow has its own queue: what leaves and what waits in it are assigned alike.
    fn from(order: Order) -> Self {
        match order {
            Order::Send(targets) | Order::Queue(targets) => Self::Leaves(targets),
            Order::Wait | Order::Repeat(_) | Order::Ahead { .. } => Self::Waits,
        }
    }
}

impl Endpoint {
    /// Asks the scheduler piece by piece until it waits, or nothing is left to send.
    pub(super) fn schedule(&mut self, now: Instant) {
        let (v096, repeats) =
            (self.config.mode == Mode::V096, self.dispatch.capabilities().repeats);
        self.dispatch.on_round();
        loop {
            if self.send.write_begins() {
                self.dispatch.on_round();
            }
            let Some(piece) = self.next_piece().or(repeats.then_some(Piece::NONE)) else {
                self.use_idle_room(now);
                return;
            };
            let fits = piece.origin != Origin::New || self.send.fits(piece.dsn + piece.bytes);
            if !fits && !v096 && !repeats {
                self.send.on_held_up();
                return;
            }
            let sent = match self.decide(now, &piece) {
                Fate::Waits => {
                    self.send.on_held_up();
                    false
                }
                Fate::Yields(path, other) => {
                    self.assign_to_all(now, &other, PathSet::EMPTY.with(path))
                }
                Fate::Leaves(targets) if fits => {
                    self.assign_to_all(now, &piece, targets);
                    self.assign_rest_of_fragment(now, &piece, targets)
                }
                Fate::Leaves(targets) => v096 && self.optimise_for(now, targets),
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

    /// What follows a new piece within its fragment, and the write, goes where that went, if the
    /// scheduler decides for whole fragments.
    fn assign_rest_of_fragment(&mut self, now: Instant, piece: &Piece, targets: PathSet) -> bool {
        if !self.dispatch.capabilities().whole_fragments || piece.origin != Origin::New {
            return true;
        }
        while let Some((dsn, bytes)) = self.send.next_new()
            && dsn / FRAGMENT_BYTES == piece.dsn / FRAGMENT_BYTES
            && self.send.fits(dsn + bytes)
        {
            if self.send.write_begins() {
                self.dispatch.on_round();
                break;
            }
            self.assign_to_all(now, &Piece::new(dsn, bytes), targets);
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
        let untried = self.subflows.iter().any(|subflow| {
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

    /// Asks the scheduler, if there is any path to choose, and notes how long it held the piece back.
    fn decide(&mut self, now: Instant, piece: &Piece) -> Fate {
        self.refresh_views(now, piece.carried_by);
        if !self.dispatch.may_assign(self.views.rows()) {
            return Fate::Waits;
        }
        let window_blocked = std::mem::take(&mut self.window_blocked);
        let view = connection_view(&self.send, self.views.rows(), now, piece);
        let view = ConnectionView { window_blocked, ..view };
        let decision = self.dispatch.ask(&view);
        let fate = match self.dispatch.order(&view, decision) {
            Order::Repeat(path) => self.repetition(path),
            Order::Ahead { path, gap } => self.piece_ahead(path, piece, gap),
            order => Some(Fate::from(order)),
        };
        let fate = fate.unwrap_or_else(|| {
            let view = connection_view(&self.send, self.views.rows(), now, piece);
            self.dispatch.fall_back(&view).into()
        });
        if piece.bytes > 0
            && !matches!(fate, Fate::Waits)
            && let Some(waited) = self.dispatch.end_wait(now)
        {
            self.note(now, None, EventKind::Waited(waited));
        }
        fate
    }

    /// The next piece of the path's own walk along the stream (docs/model.md §3.5).
    fn repetition(&self, path: PathId) -> Option<Fate> {
        let segment = self.send.first_from(self.paths.get(path.index())?.walked_to)?;
        let piece = Piece::new(segment.dsn, segment.bytes);
        Some(Fate::Yields(path, Piece { origin: Origin::Repeat, ..piece }))
    }

    /// A new piece further on in the stream than the one being scheduled.
    fn piece_ahead(&mut self, path: PathId, scheduled: &Piece, gap: Gap) -> Option<Fate> {
        let from = match gap {
            Gap::Stream(bytes) => scheduled.dsn.saturating_add(bytes),
            Gap::Unsent(bytes) => self.send.behind_unsent(bytes),
        };
        let (dsn, bytes) = self.send.pass_over_to(from)?;
        Some(Fate::Yields(path, Piece::new(dsn, bytes)))
    }

    /// Puts a piece into the queue of a subflow, and on the wire if its window and pacing let it.
    pub(super) fn assign(&mut self, now: Instant, path: PathId, piece: &Piece, all: PathSet) {
        let Some(subflow) = self.subflows.get_mut(path) else { return };
        subflow.tx.assign(Mapping { dsn: piece.dsn, bytes: piece.bytes });
        self.dispatch.on_sent(now, path, piece.bytes);
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
        self.send_queued(now, path);
    }

    /// Lets paths rest that the scheduler wants to rest before a foreseen outage, and sends what they
    /// hold back on the others.
    pub(super) fn rest_paths(&mut self, now: Instant) {
        let mode = self.config.mode;
        for path in self.foreseen.iter() {
            let Some(subflow) = self.subflows.get_mut(path) else { continue };
            if !subflow.is_established() {
                continue;
            }
            let state = &mut self.paths[path.index()];
            if !state.feed.advance(now) && !subflow.tx.is_resting() {
                self.foreseen = self.foreseen.without(path);
                continue;
            }
            let view = path_view(mode, subflow, state, false);
            if !subflow.tx.rest(now, self.dispatch.rests_until(now, &view)) {
                continue;
            }
            for piece in subflow.tx.held_back() {
                self.send.reinject_held_back(piece.dsn..piece.dsn + piece.bytes, path);
            }
        }
    }
}

fn connection_view<'a>(
    send: &SendBuffer,
    paths: &'a [PathView],
    now: Instant,
    piece: &Piece,
) -> ConnectionView<'a> {
    let (receive_window_bytes, window_left_bytes) = send.window_bytes();
    ConnectionView {
        now,
        paths,
        segment_bytes: piece.bytes,
        reinjection: piece.origin == Origin::Reinjection,
        unsent_bytes: send.unsent_bytes(),
        receive_window_bytes,
        window_left_bytes,
        window_blocked: false,
        urgent: false, // one stream
    }
}
