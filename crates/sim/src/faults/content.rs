//! What is transferred, and the comparison of every byte with what it should be.

use super::Verdict;
use application::{Application, Read, StreamId, Streams};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use units::{Direction, Duration, Instant};

/// Most that is read at once.
const READ_BYTES: usize = 1 << 16;
/// Most that is made at once.
const WRITE_BYTES: u64 = 1 << 16;

/// Bytes of each stream, none empty, from server to client and from client to server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// From server to client.
    pub down_bytes: Vec<u64>,
    /// From client to server.
    pub up_bytes: Vec<u64>,
    /// Both ends write a part of each stream, then nothing for this long, then the rest.
    pub pause_ms: u64,
}

impl Transfer {
    fn bytes(&self, direction: Direction) -> &[u64] {
        match direction {
            Direction::Down => &self.down_bytes,
            Direction::Up => &self.up_bytes,
        }
    }
}

/// The byte at a place of a stream: neighbours, and the same place of other streams, differ.
fn byte_at(direction: Direction, stream: usize, offset: u64) -> u8 {
    let way = if direction == Direction::Up { 1 << 40 } else { 0 };
    let place = (offset | (stream as u64) << 32 | way).wrapping_add(1);
    (place.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8
}

/// What has come at either end.
#[derive(Debug)]
struct Arrivals {
    /// Streams that are not complete yet.
    missing: usize,
    bytes: u64,
    wrong: Option<String>,
}

impl Arrivals {
    /// The first thing that is wrong counts.
    fn note(&mut self, wrong: String) {
        self.wrong.get_or_insert(wrong);
    }
}

/// The applications of a run, and what they found.
#[derive(Debug)]
pub(crate) struct Contents {
    transfer: Transfer,
    arrivals: Arc<Mutex<Arrivals>>,
}

impl Contents {
    pub fn new(transfer: &Transfer) -> Self {
        let missing = transfer.down_bytes.len() + transfer.up_bytes.len();
        let arrivals = Arrivals { missing, bytes: 0, wrong: None };
        Self { transfer: transfer.clone(), arrivals: Arc::new(Mutex::new(arrivals)) }
    }

    /// The application of the end that sends this way.
    pub fn end(&self, sends: Direction) -> Box<dyn Application> {
        let receives = if sends == Direction::Down { Direction::Up } else { Direction::Down };
        Box::new(End {
            sends,
            receives,
            transfer: self.transfer.clone(),
            opened: Vec::new(),
            resumes_at: None,
            paused: false,
            came: vec![0; self.transfer.bytes(receives).len()],
            arrivals: Arc::clone(&self.arrivals),
        })
    }

    pub fn verdict(&self) -> Verdict {
        let arrivals = lock(&self.arrivals);
        match &arrivals.wrong {
            Some(wrong) => Verdict::Lost(wrong.clone()),
            None if arrivals.missing == 0 => Verdict::Finished,
            None => Verdict::Hung(format!(
                "{} bytes had come, {} streams were not complete",
                arrivals.bytes, arrivals.missing
            )),
        }
    }
}

fn lock(arrivals: &Mutex<Arrivals>) -> MutexGuard<'_, Arrivals> {
    arrivals.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One end: writes its streams and compares those of the other.
#[derive(Debug)]
struct End {
    sends: Direction,
    receives: Direction,
    transfer: Transfer,
    /// Streams opened so far, and what each has taken.
    opened: Vec<(StreamId, u64)>,
    resumes_at: Option<Instant>,
    paused: bool,
    came: Vec<u64>,
    arrivals: Arc<Mutex<Arrivals>>,
}

impl End {
    /// Writes half of every stream, and the other half after the pause.
    fn write(&mut self, now: Instant, streams: &mut dyn Streams) {
        let sizes = self.transfer.bytes(self.sends).to_vec();
        let mut all_taken = true;
        for (index, size) in sizes.iter().enumerate() {
            if index == self.opened.len() {
                let Some(stream) = streams.open(false) else { return };
                self.opened.push((stream, 0));
            }
            let until = if self.paused { *size } else { size / 2 };
            let before = self.opened[index].1;
            self.write_one(streams, index, until);
            let (stream, taken) = self.opened[index];
            all_taken &= taken >= until;
            if before < taken && taken == *size {
                streams.finish(stream);
            }
        }
        if all_taken && !self.paused && self.resumes_at.is_none() {
            self.resumes_at = Some(now + Duration::from_millis(self.transfer.pause_ms));
        }
    }

    fn write_one(&mut self, streams: &mut dyn Streams, index: usize, until: u64) {
        let (stream, taken) = &mut self.opened[index];
        while *taken < until {
            let wanted = (until - *taken).min(WRITE_BYTES);
            let data: Vec<u8> = (*taken..*taken + wanted)
                .map(|offset| byte_at(self.sends, index, offset))
                .collect();
            let written = streams.write(*stream, &data) as u64;
            *taken += written;
            if written < wanted {
                return;
            }
        }
    }

    /// Compares what came on a stream with what it should be.
    fn compare(&mut self, stream: usize, data: &[u8]) {
        let mut arrivals = lock(&self.arrivals);
        arrivals.bytes += data.len() as u64;
        let Some(size) = self.transfer.bytes(self.receives).get(stream) else {
            arrivals.note(format!("data on stream {stream}, which nobody opened"));
            return;
        };
        let came = &mut self.came[stream];
        for byte in data {
            if came == size || *byte != byte_at(self.receives, stream, *came) {
                let way = self.receives.name();
                arrivals.note(format!("{way}, stream {stream}: wrong at byte {came} of {size}"));
                return;
            }
            *came += 1;
        }
        if !data.is_empty() && came == size {
            arrivals.missing -= 1;
        }
    }

    /// The stream is over, which it may be at its end only.
    fn compare_end(&mut self, stream: usize, how: &str) {
        let (came, size) = (self.came.get(stream), self.transfer.bytes(self.receives).get(stream));
        if came != size {
            let what = format!("stream {stream} {how} after {came:?} of {size:?} bytes");
            lock(&self.arrivals).note(what);
        }
    }
}

impl Application for End {
    fn on_open(&mut self, now: Instant, streams: &mut dyn Streams) {
        self.write(now, streams);
    }

    fn on_writable(&mut self, now: Instant, streams: &mut dyn Streams) {
        self.write(now, streams);
    }

    fn on_readable(&mut self, _now: Instant, stream: StreamId, streams: &mut dyn Streams) {
        // Streams of one kind count in fours (RFC 9000 §2.1); the only one of TCP is the first.
        let index = (stream.0 / 4) as usize;
        loop {
            match streams.read(stream, READ_BYTES) {
                Read::Data(data) => self.compare(index, &data),
                Read::Blocked => return,
                Read::Finished => return self.compare_end(index, "ended"),
                Read::Reset => return self.compare_end(index, "was reset"),
            }
        }
    }

    fn poll_at(&self) -> Option<Instant> {
        self.resumes_at
    }

    fn on_timer(&mut self, now: Instant, streams: &mut dyn Streams) {
        self.resumes_at = None;
        self.paused = true;
        self.write(now, streams);
    }

    fn is_done(&self) -> bool {
        let arrivals = lock(&self.arrivals);
        arrivals.missing == 0 || arrivals.wrong.is_some()
    }
}
