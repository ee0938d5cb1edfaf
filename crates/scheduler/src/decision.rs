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
    /// Keep it as the next one, and send on `path` the first segment not yet assigned that begins
    /// `gap_bytes` or more further on in the stream. What lies between is next. Waits when
    /// the data, or the receive window, do not reach that far.
    Ahead {
        /// Where the later segment goes.
        path: PathId,
        /// How far behind the segment being scheduled it begins at least.
        gap_bytes: u64,
    },
}
