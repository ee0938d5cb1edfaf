//! Objects over streams: a request, the object that answers it, and the end that serves them.
//!
//! Where the transport has streams each object has one of its own, as in HTTP/3 (RFC 9114 §4.1); on
//! TCP's only stream the objects come one after the other in the order of the requests, as with
//! pipelining in HTTP/1.1 (RFC 9112 §9.3.2). A request is [`REQUEST_BYTES`] long, of which the first
//! eight are the size of the object; the answer is that size in eight bytes, and the object. An upload
//! has the object behind the eight bytes, and the answer does not. The first byte of a size is the
//! object's priority (RFC 9218 §4): zero for the default.

use crate::application::Application;
use crate::streams::{Priority, Read, StreamId, Streams};
use std::collections::{BTreeMap, VecDeque};
use units::{Direction, Instant};

/// About what a browser's GET takes.
pub(crate) const REQUEST_BYTES: u64 = 300;
/// The lowest urgency (RFC 9218 §4.1).
pub(crate) const LEAST_URGENCY: u8 = 7;
const INCREMENTAL: u8 = LEAST_URGENCY + 1;
/// The size at the front of requests and answers, in network byte order.
pub(crate) const HEAD_BYTES: usize = 8;
/// Larger objects are not served: a peer that asks for one is not answered any more.
pub(crate) const MAX_OBJECT_BYTES: u64 = 1 << 40;
/// Requests of one stream that a server keeps; more wait unread.
const MAX_WAITING: usize = 256;

/// One stream at the server.
#[derive(Debug, Default)]
struct Served {
    head: Vec<u8>,
    /// Of the request read last.
    priority: Priority,
    /// The request whose size is known: how much of it is still to come.
    request: Option<u64>,
    /// What is still to be written.
    answers: VecDeque<Message>,
    answered: bool,
    refused: bool,
}

/// The end that serves objects, or takes uploads.
#[derive(Debug)]
pub(crate) struct Server {
    direction: Direction,
    streams: BTreeMap<StreamId, Served>,
    /// Wrote something last: those alike come before it the next time.
    last: Option<StreamId>,
}

impl Server {
    pub(crate) fn new(direction: Direction) -> Self {
        Self { direction, streams: BTreeMap::new(), last: None }
    }

    /// Reads requests and writes answers, as far as both go.
    fn serve(&mut self, stream: StreamId, streams: &mut dyn Streams) {
        let served = self.streams.entry(stream).or_default();
        loop {
            let read = served.read(self.direction, stream, streams);
            let before = served.left_bytes();
            let whole = served.write(stream, streams);
            if served.left_bytes() < before {
                self.last = Some(stream);
            }
            if !whole || !read {
                break;
            }
        }
        if served.is_idle() && !streams.has_one_stream() {
            if served.answered {
                streams.finish(stream);
                streams.read(stream, 1); // its end
            }
            self.streams.remove(&stream);
        }
    }
}

impl Served {
    /// Reads a request, if one is complete and there is room for it.
    fn read(&mut self, direction: Direction, stream: StreamId, streams: &mut dyn Streams) -> bool {
        if self.refused || self.answers.len() >= MAX_WAITING {
            return false;
        }
        if self.request.is_none() {
            if !fill(&mut self.head, stream, streams) {
                return false;
            }
            let bytes = size_of(&self.head);
            self.refused = bytes > MAX_OBJECT_BYTES;
            if self.refused {
                return false;
            }
            self.priority = priority_of(&self.head);
            streams.set_priority(stream, self.priority);
            self.request = Some(follows_request(direction, bytes));
        }
        let left = self.request.get_or_insert(0);
        *left -= streams.skip(stream, *left);
        if *left > 0 {
            return false;
        }
        let left_bytes = follows_answer(direction, size_of(&self.head));
        self.answers.push_back(Message { head: std::mem::take(&mut self.head), left_bytes });
        self.request = None;
        true
    }

    /// True when everything is written.
    fn write(&mut self, stream: StreamId, streams: &mut dyn Streams) -> bool {
        while let Some(answer) = self.answers.front_mut() {
            if !answer.write(stream, streams) {
                return false;
            }
            self.answers.pop_front();
            self.answered = true;
        }
        true
    }

    /// What is still to be written of answers, heads not counted.
    fn left_bytes(&self) -> u64 {
        self.answers.iter().map(|answer| answer.left_bytes).sum()
    }

    /// Nothing of it is half done.
    fn is_idle(&self) -> bool {
        self.answers.is_empty() && self.head.is_empty()
    }
}

impl Application for Server {
    fn on_readable(&mut self, _now: Instant, stream: StreamId, streams: &mut dyn Streams) {
        self.serve(stream, streams);
    }

    fn on_writable(&mut self, _now: Instant, streams: &mut dyn Streams) {
        // What is urgent has the room in the send buffer first; those alike take turns.
        let last = self.last;
        let turn = |(stream, served): (&StreamId, &Served)| {
            (served.priority, last.is_some_and(|last| *stream <= last), *stream)
        };
        let mut all: Vec<_> = self.streams.iter().map(turn).collect();
        all.sort_unstable();
        for (.., stream) in all {
            self.serve(stream, streams);
        }
    }
}

/// A head and as many zeros as follow it, as far as they are not written yet.
#[derive(Debug)]
pub(crate) struct Message {
    pub head: Vec<u8>,
    pub left_bytes: u64,
}

impl Message {
    pub(crate) fn is_written(&self) -> bool {
        self.head.is_empty() && self.left_bytes == 0
    }

    /// Writes what the send buffer takes: whether that was all.
    pub(crate) fn write(&mut self, stream: StreamId, streams: &mut dyn Streams) -> bool {
        let taken = streams.write(stream, &self.head);
        self.head.drain(..taken);
        if self.head.is_empty() {
            self.left_bytes -= streams.write_filler(stream, self.left_bytes);
        }
        self.is_written()
    }
}

/// Bytes behind the head of a request.
pub(crate) fn follows_request(direction: Direction, object_bytes: u64) -> u64 {
    match direction {
        Direction::Down => REQUEST_BYTES - HEAD_BYTES as u64,
        Direction::Up => object_bytes,
    }
}

/// Bytes behind the head of an answer.
pub(crate) fn follows_answer(direction: Direction, object_bytes: u64) -> u64 {
    match direction {
        Direction::Down => object_bytes,
        Direction::Up => 0,
    }
}

/// Reads until the head is complete: whether it is.
pub(crate) fn fill(head: &mut Vec<u8>, stream: StreamId, streams: &mut dyn Streams) -> bool {
    while head.len() < HEAD_BYTES {
        match streams.read(stream, HEAD_BYTES - head.len()) {
            Read::Data(data) => head.extend(data),
            Read::Blocked | Read::Finished | Read::Reset => return false,
        }
    }
    true
}

/// The size of an object and its priority, as eight bytes.
pub(crate) fn head_of(bytes: u64, priority: Priority) -> Vec<u8> {
    let mut head = bytes.to_be_bytes().to_vec();
    let incremental = if priority.incremental { INCREMENTAL } else { 0 };
    head[0] = priority.urgency ^ Priority::default().urgency | incremental;
    head
}

pub(crate) fn size_of(head: &[u8]) -> u64 {
    head.iter().skip(1).fold(0, |size, byte| size << 8 | u64::from(*byte))
}

fn priority_of(head: &[u8]) -> Priority {
    let byte = head.first().copied().unwrap_or(0);
    let urgency = (byte & LEAST_URGENCY) ^ Priority::default().urgency;
    Priority { urgency, incremental: byte & INCREMENTAL != 0 }
}

/// One object on its way to a client.
#[derive(Debug)]
pub(crate) struct Fetch {
    bytes: u64,
    stream: Option<StreamId>,
    request: Message,
    head: Vec<u8>,
    received_bytes: u64,
    /// The server answers something else: it is not listened to any more.
    refused: bool,
}

impl Fetch {
    pub(crate) fn new(bytes: u64) -> Self {
        let follows = follows_request(Direction::Down, bytes);
        let request = Message { head: head_of(bytes, Priority::default()), left_bytes: follows };
        Self { bytes, stream: None, request, head: Vec::new(), received_bytes: 0, refused: false }
    }

    /// Opens a stream and writes the request, as far as both go.
    pub(crate) fn write(&mut self, streams: &mut dyn Streams) {
        if self.request.is_written() {
            return;
        }
        if self.stream.is_none() {
            self.stream = streams.open(true);
        }
        let Some(stream) = self.stream else { return };
        if self.request.write(stream, streams) && !streams.has_one_stream() {
            streams.finish(stream);
        }
    }

    /// Reads what is there of the object: how many bytes have come since its beginning.
    pub(crate) fn read(&mut self, stream: StreamId, streams: &mut dyn Streams) -> u64 {
        if self.refused || self.stream != Some(stream) || self.is_complete() {
            return self.received_bytes;
        }
        if self.head.len() < HEAD_BYTES {
            if !fill(&mut self.head, stream, streams) {
                return 0;
            }
            self.refused = size_of(&self.head) != self.bytes;
            if self.refused {
                return 0;
            }
        }
        self.received_bytes += streams.skip(stream, self.bytes - self.received_bytes);
        if self.is_complete() && !streams.has_one_stream() {
            streams.read(stream, 1); // its end
        }
        self.received_bytes
    }

    /// What of it has come.
    pub(crate) fn received_bytes(&self) -> u64 {
        self.received_bytes
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.received_bytes == self.bytes
    }
}
