//! Which path may send until something wakes the end again ([`PacingTimer::Last`]).

use crate::config::PacingTimer;
use units::PathId;

/// Whose turn it is: with [`PacingTimer::Every`], always any path's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    timer: PacingTimer,
    of: Option<PathId>,
}

impl Turn {
    pub fn new(timer: PacingTimer) -> Self {
        Self { timer, of: None }
    }

    /// A path has sent.
    pub fn take(&mut self, path: PathId) {
        if self.timer == PacingTimer::Last {
            self.of = Some(path);
        }
    }

    /// Something wakes the end: any path may be next.
    pub fn end(&mut self) {
        self.of = None;
    }

    /// It is the turn of another path.
    pub fn excludes(&self, path: PathId) -> bool {
        self.of.is_some_and(|of| of != path)
    }

    /// No pacer wakes the end while the congestion window of a path that passes its pacer is full.
    pub fn heeds_full_windows(&self) -> bool {
        self.timer == PacingTimer::Last
    }
}
