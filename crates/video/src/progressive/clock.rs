use units::{Duration, Instant};

/// The clock of a play-out: stopped at a position, or running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    Stopped { position: Duration },
    Running { since: Instant, from: Duration },
}

impl Clock {
    /// Where it stands; before `since` a running clock waits for its start.
    pub fn position(&self, now: Instant) -> Duration {
        match *self {
            Self::Stopped { position } => position,
            Self::Running { since, from } => from + now.since(since),
        }
    }

    /// When it reaches a position that lies ahead of where it began to run; `None` while it is stopped.
    pub fn reaches(&self, position: Duration) -> Option<Instant> {
        match *self {
            Self::Stopped { .. } => None,
            Self::Running { since, from } => Some(since + position.saturating_sub(from)),
        }
    }
}
