use crate::ConnectionView;
use units::{Instant, PathId};

/// A set of at most 64 paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathSet(u64);

impl PathSet {
    /// The empty set.
    pub const EMPTY: Self = Self(0);

    /// This set and `path`.
    #[must_use]
    pub const fn with(self, path: PathId) -> Self {
        Self(self.0 | 1 << path.0)
    }

    /// This set without `path`.
    #[must_use]
    pub const fn without(self, path: PathId) -> Self {
        Self(self.0 & !(1 << path.0))
    }

    /// Whether `path` is in the set.
    pub const fn contains(self, path: PathId) -> bool {
        self.0 & (1 << path.0) != 0
    }

    /// The paths, lowest id first.
    pub fn iter(self) -> impl Iterator<Item = PathId> {
        (0..64_u8).map(PathId).filter(move |path| self.contains(*path))
    }
}

/// What a scheduler decides for one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Send it on this path.
    Send(PathId),
    /// Send a copy on each of these paths.
    Duplicate(PathSet),
    /// Hold it back: until something happens on the connection, or at the latest until this moment.
    Wait(Option<Instant>),
}

/// A path changed in a way that a scheduler may want to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathEvent {
    /// The path can carry data from now on.
    Established,
    /// The path is gone for good (a later one with the same id starts afresh).
    Closed,
    /// The path is thought dead (`pf`, stale) but not closed.
    Failed,
    /// The path was heard of again.
    Revived,
}

/// A packet scheduler.
///
/// `select` is asked once per segment and must answer with a path that is `usable` and `has_room`,
/// or wait. A wait cannot deadlock a connection: when the answer is `Wait` while nothing is in
/// flight anywhere and some path could send, the connection sends on the usable path with the
/// smallest RTT (`algorithms.md` §3).
pub trait Scheduler: Send + std::fmt::Debug {
    /// Chooses a path for the segment at hand.
    fn select(&mut self, view: &ConnectionView<'_>) -> Decision;

    /// `bytes` of payload were assigned to `path`.
    fn on_sent(&mut self, _now: Instant, _path: PathId, _bytes: u64) {}

    /// `bytes` of payload were acknowledged on `path`.
    fn on_acked(&mut self, _now: Instant, _path: PathId, _bytes: u64) {}

    /// `bytes` of payload were marked lost on `path`.
    fn on_lost(&mut self, _now: Instant, _path: PathId, _bytes: u64) {}

    /// A path changed.
    fn on_path_event(&mut self, _now: Instant, _path: PathId, _event: PathEvent) {}

    /// Whether the connection may use opportunistic retransmission and penalisation with this
    /// scheduler (mode `v0.96`, `algorithms.md` §2.6 and §2.7).
    fn wants_receive_buffer_optimisation(&self) -> bool {
        true
    }
}
