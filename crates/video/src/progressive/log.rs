//! What a viewer saw: events and samples of a play-out.

use recovery::BlockedTime;
use units::{Duration, Instant};

/// Time between samples.
const SAMPLE_EACH: Duration = Duration::from_millis(250);
/// Most rows that are kept; totals go on.
const MAX_ROWS: usize = 1 << 18;

/// What a row tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Nothing new: where the play-out stands.
    Sample,
    /// The clock begins to run, or runs again.
    Playing,
    /// The clock stops: what comes next is not there.
    Underflow,
    /// The last picture was shown.
    Ended,
    /// The session was over before that.
    Closed,
}

impl Event {
    /// The word in the record.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sample => "sample",
            Self::Playing => "playing",
            Self::Underflow => "underflow",
            Self::Ended => "ended",
            Self::Closed => "closed",
        }
    }
}

/// Totals since the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// In-order bytes of the file that came.
    pub received_bytes: u64,
    /// Pictures that were there in time.
    pub shown: u64,
    /// Pictures that came too late and were dropped.
    pub discarded: u64,
    /// Pictures that were decoded and thrown away when the player buffered anew.
    pub flushed: u64,
    /// Times that the clock stopped.
    pub underflows: u64,
    /// Time that the clock stood after its start.
    pub stall: Duration,
    /// Of that, the time in which something had come and waited for earlier bytes.
    pub blocked: BlockedTime,
}

/// One row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// When.
    pub at: Instant,
    /// What.
    pub event: Event,
    /// Where in the film the clock is.
    pub position: Duration,
    /// Media that are there beyond it.
    pub buffer: Duration,
    /// Totals.
    pub counts: Counts,
}

/// Rows in order of time, at most `MAX_ROWS` of them.
#[derive(Clone, Debug)]
pub struct Log {
    rows: Vec<Row>,
    next: Instant,
}

impl Log {
    pub(crate) fn new(from: Instant) -> Self {
        Self { rows: Vec::new(), next: from }
    }

    /// The next moment to sample, if it is not after `now`.
    pub(crate) fn due(&self, now: Instant) -> Option<Instant> {
        (self.next <= now && self.rows.len() < MAX_ROWS).then_some(self.next)
    }

    pub(crate) fn push(&mut self, row: Row) {
        if row.event == Event::Sample {
            self.next = row.at + SAMPLE_EACH;
        }
        if self.rows.len() < MAX_ROWS {
            self.rows.push(row);
        }
    }

    /// All rows.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }
}
