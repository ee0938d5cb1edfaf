use crate::path_set::PathSet;
use units::{Instant, PathId};

/// What a scheduler decides for one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Send it on this path.
    Send(PathId),
    /// Send a copy on each of these paths.
    Duplicate(PathSet),
    /// Hold it back: until something happens on the connection, or at the latest until this moment.
    Wait(Option<Instant>),
    /// Keep it as the next one, and send on this path a copy of what [`PathView::repeat_bytes`] speaks of.
    /// Only for schedulers with [`Capabilities::repeats`](crate::Capabilities::repeats).
    ///
    /// [`PathView::repeat_bytes`]: crate::PathView::repeat_bytes
    Repeat(PathId),
    /// Keep it as the next one, and send on `path` a later segment that is not yet assigned. What lies
    /// between is next. Waits when the data, or the receive window, do not reach that far.
    Ahead {
        /// Where the later segment goes.
        path: PathId,
        /// How much is left before it.
        gap: Gap,
    },
}

/// How far ahead of its turn a segment goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    /// It begins this many bytes or more after the segment being scheduled, whatever of these was sent.
    Stream(u64),
    /// This many unassigned bytes stay before it, the segment being scheduled included unless that is a
    /// reinjection; 0: it is the next new segment. Allowed while a reinjection waits.
    Unsent(u64),
}

/// What is in flight on one path may be worth a copy on another ([`crate::Scheduler::rescues`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rescue {
    /// The path that is late.
    pub from: PathId,
    /// The path that carries the copy; it has room.
    pub to: PathId,
    /// The copy is of the first packet with this many bytes or more before it in the flight of
    /// `from`, of those that were not copied and whose data lies before the next new data.
    pub behind_bytes: u64,
}
