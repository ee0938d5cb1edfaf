//! In-order waits, measured at the receiver: how long bytes that came wait for earlier ones, and for
//! those of which path (head-of-line blocking).

mod pieces;
mod waits;

pub use waits::{Blocked, BlockedTime, InOrderWaits};

use pieces::{Piece, Pieces};
use std::ops::Range;
use units::{Instant, PathId};
use waits::{MOST_PIECES, nanos};

/// The bytes of one stream that wait for earlier ones. Takes each arrival, and adds waits that have ended to
/// the [`InOrderWaits`] of its connection.
#[derive(Clone, Debug, Default)]
pub struct Reordering {
    in_order_to: u64,
    pieces: Pieces,
    /// Waiting bytes, by the path that brought them.
    paths: Vec<Waiting>,
}

/// What one path brought and waits for the present hole at the front.
#[derive(Clone, Copy, Debug, Default)]
struct Waiting {
    bytes: u64,
    since: Instant,
    /// Bytes times nanoseconds since the hole came to the front, up to a moment.
    byte_ns: u128,
    counted_at: Instant,
}

impl Waiting {
    fn count(&mut self, now: Instant) {
        if self.bytes > 0 {
            self.byte_ns += u128::from(self.bytes) * u128::from(nanos(self.counted_at, now));
        } else {
            self.since = now;
        }
        self.counted_at = now;
    }
}

impl Reordering {
    /// `path` brought these bytes; with them everything before `in_order_to` is there.
    pub fn on_arrival(
        &mut self,
        now: Instant,
        path: PathId,
        bytes: Range<u64>,
        in_order_to: u64,
        waits: &mut InOrderWaits,
    ) {
        if in_order_to > self.in_order_to {
            let mut at_once = in_order_to - self.in_order_to;
            self.in_order_to = in_order_to;
            if !self.pieces.is_empty() {
                self.settle(now, path, waits);
                at_once -= self.release(now, waits).min(at_once);
            }
            waits.on_in_order(at_once);
        }
        if bytes.end > in_order_to {
            self.hold(
                Piece { start: bytes.start.max(in_order_to), end: bytes.end, at: now, path },
                waits,
            );
        }
    }

    /// `path` filled the hole at the front: all that waited until now did so for its segment.
    fn settle(&mut self, now: Instant, path: PathId, waits: &mut InOrderWaits) {
        let (mut others, mut own) = (now, now);
        let sums = waits.of_path(path);
        for (place, waiting) in self.paths.iter_mut().enumerate() {
            let (first, sum) = match place == path.index() {
                true => (&mut own, &mut sums.own_byte_ns),
                false => (&mut others, &mut sums.others_byte_ns),
            };
            if waiting.bytes > 0 {
                *first = waiting.since.min(*first);
            }
            waiting.count(now);
            *sum += std::mem::take(&mut waiting.byte_ns);
            waiting.since = now;
        }
        waits.by_other_ns += nanos(others, now);
        waits.by_own_ns += nanos(own, others);
    }

    /// Lets go what is in order now: how many bytes.
    fn release(&mut self, now: Instant, waits: &mut InOrderWaits) -> u64 {
        let mut released = 0;
        let pieces = self.pieces.len();
        while let Some(piece) = self.pieces.pop_before(self.in_order_to) {
            self.paths[piece.path.index()].bytes -= piece.bytes();
            waits.on_over(nanos(piece.at, now), piece.bytes());
            released += piece.bytes();
        }
        waits.waiting_pieces -= pieces - self.pieces.len();
        released
    }

    fn hold(&mut self, piece: Piece, waits: &mut InOrderWaits) {
        if waits.waiting_pieces >= MOST_PIECES {
            return;
        }
        let place = piece.path.index();
        if self.paths.len() <= place {
            self.paths.resize(place + 1, Waiting::default());
        }
        let pieces = self.pieces.len();
        let fresh = self.pieces.insert(piece);
        self.paths[place].count(piece.at);
        self.paths[place].bytes += fresh;
        waits.waiting_pieces += self.pieces.len() - pieces;
        waits.on_waiting(fresh);
    }

    /// Nobody wants what waits any more.
    pub fn clear(&mut self, waits: &mut InOrderWaits) {
        waits.waiting_pieces -= self.pieces.len();
        waits.on_gone(self.paths.iter().map(|waiting| waiting.bytes).sum());
        *self = Self { in_order_to: self.in_order_to, ..Self::default() };
    }

    /// The receiver threw away what it had of these bytes, by their first one: they come again.
    pub fn forget(
        &mut self,
        now: Instant,
        waits: &mut InOrderWaits,
        mut is_gone: impl FnMut(u64) -> bool,
    ) {
        let gone = self.pieces.take_those(|piece| is_gone(piece.start));
        waits.waiting_pieces -= gone.len();
        for piece in gone {
            let waiting = &mut self.paths[piece.path.index()];
            waiting.count(now);
            waiting.bytes -= piece.bytes();
            waits.on_gone(piece.bytes());
        }
    }
}
