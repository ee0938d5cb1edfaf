//! Bulk: one side writes as fast as the connection takes it, until this many bytes have come or the
//! time is over.

use crate::application::Application;
use crate::describe::Describe;
use crate::error::{WorkloadError, within};
use crate::streams::{StreamId, Streams};
use crate::table::Column;
use serde::{Deserialize, Serialize};
use units::{Direction, Instant};

/// Bulk data without end: more than any link carries in a run.
const ENDLESS_BYTES: u64 = 1 << 60;

/// One bulk transfer: this many bytes, or as much as fits into a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bulk {
    /// Which way.
    #[serde(default = "down")]
    pub direction: Direction,
    /// Size of the transfer.
    #[serde(default)]
    pub bytes: Option<u64>,
    /// End of the transfer after its start, finished or not.
    #[serde(default)]
    pub duration_s: Option<f64>,
}

fn down() -> Direction {
    Direction::Down
}

impl Bulk {
    /// None: samples and totals say everything.
    pub const COLUMNS: &'static [Column] = &[];

    fn end(&self, sends: Direction) -> Box<dyn Application> {
        if self.direction == sends {
            let left_bytes = self.bytes.unwrap_or(ENDLESS_BYTES);
            Box::new(Source { left_bytes, stream: None, finished: false })
        } else {
            Box::new(Sink { left_bytes: self.bytes.unwrap_or(ENDLESS_BYTES) })
        }
    }
}

impl Describe for Bulk {
    fn direction(&self) -> Direction {
        self.direction
    }

    fn duration_s(&self) -> Option<f64> {
        self.duration_s
    }

    fn columns(&self) -> &'static [Column] {
        Self::COLUMNS
    }

    fn client(&self) -> Box<dyn Application> {
        self.end(Direction::Up)
    }

    fn server(&self) -> Box<dyn Application> {
        self.end(Direction::Down)
    }

    fn check(&self) -> Result<(), WorkloadError> {
        if self.bytes.is_none() && self.duration_s.is_none() {
            return Err(WorkloadError::Endless);
        }
        self.bytes
            .map_or(Ok(()), |bytes| within("bytes", bytes as f64, (1.0, ENDLESS_BYTES as f64)))
    }
}

#[derive(Debug)]
struct Source {
    left_bytes: u64,
    stream: Option<StreamId>,
    finished: bool,
}

impl Source {
    fn write(&mut self, streams: &mut dyn Streams) {
        if self.stream.is_none() {
            self.stream = streams.open(false);
        }
        let Some(stream) = self.stream.filter(|_| !self.finished) else { return };
        self.left_bytes -= streams.write_filler(stream, self.left_bytes);
        if self.left_bytes == 0 {
            streams.finish(stream);
            self.finished = true;
        }
    }
}

impl Application for Source {
    fn on_open(&mut self, _now: Instant, streams: &mut dyn Streams) {
        self.write(streams);
    }

    fn on_writable(&mut self, _now: Instant, streams: &mut dyn Streams) {
        self.write(streams);
    }
}

#[derive(Debug)]
struct Sink {
    left_bytes: u64,
}

impl Application for Sink {
    fn on_readable(&mut self, _now: Instant, stream: StreamId, streams: &mut dyn Streams) {
        self.left_bytes = self.left_bytes.saturating_sub(streams.skip(stream, u64::MAX));
    }

    fn is_done(&self) -> bool {
        self.left_bytes == 0
    }
}
