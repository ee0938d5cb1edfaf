use trace::Cursor;
use units::{Duration, Instant};

/// One-way propagation delay.
#[derive(Debug)]
pub(crate) enum Delay {
    Constant(Duration),
    Steps(Cursor<Duration>),
}

impl Delay {
    /// The delay of a packet that departs at `at`.
    pub(crate) fn at(&mut self, at: Instant) -> Duration {
        match self {
            Self::Constant(delay) => *delay,
            Self::Steps(cursor) => cursor.value_at(at),
        }
    }
}
