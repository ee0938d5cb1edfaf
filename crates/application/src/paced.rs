//! Paced: pieces of one size leave at times that are known beforehand and have to arrive before a
//! deadline: a call, or the upload of live video.
//!
//! A piece begins with its number, its length and the time at which it was made. It travels as a
//! DATAGRAM (RFC 9221) where the transport has them and it fits into one, and else behind the pieces
//! before it on one stream. One-way delays need one clock at both ends.

use crate::application::Application;
use crate::describe::Describe;
use crate::ease::Ease;
use crate::error::{WorkloadError, within};
use crate::streams::{Read, StreamId, Streams};
use crate::table::{Cell, Column, Row};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use units::{Direction, Duration, Instant};

/// Number and length in four bytes each, time in ns in eight, all in network byte order.
const HEAD_BYTES: usize = 16;
const MAX_PIECE_BYTES: u64 = 1 << 20;
/// Pieces of a run; each is a row of the record.
const MAX_PIECES: u64 = 1 << 24;
/// Pieces that wait for the send buffer; further ones are dropped, as a device would.
const MAX_WAITING: usize = 1 << 12;

const COLUMNS: &[Column] = &[
    Column { name: "direction", kind: "word", meaning: "the way that the piece went" },
    Column { name: "piece", kind: "count", meaning: "which piece of its direction, from 0" },
    Column { name: "sent_s", kind: "number", meaning: "the piece was made" },
    Column { name: "arrived_s", kind: "number", meaning: "its last byte came; none: it never did" },
    Column { name: "delay_ms", kind: "number", meaning: "from one to the other" },
    Column { name: "bytes", kind: "count", meaning: "its size" },
    Column { name: "late", kind: "flag", meaning: "it came after its deadline" },
    Column { name: "lost", kind: "flag", meaning: "it did not come" },
];

/// Which ends send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ways {
    /// The server.
    Down,
    /// The client.
    Up,
    /// Both: a call.
    Both,
}

/// Pieces at a constant rate, or on and off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paced {
    /// Which ends send.
    #[serde(default = "up")]
    pub direction: Ways,
    /// Rate of the pieces while it is on.
    pub rate_mbps: f64,
    /// Size of a piece.
    #[serde(default = "a_packet")]
    pub piece_bytes: u64,
    /// A piece that needs longer is late.
    pub deadline_ms: f64,
    /// End after the start.
    pub duration_s: f64,
    /// Length of the times with pieces; always on without it.
    #[serde(default)]
    pub on_s: Option<f64>,
    /// Length of the times without.
    #[serde(default)]
    pub off_s: Option<f64>,
    /// Use a stream even where there are DATAGRAMs.
    #[serde(default)]
    pub reliable: bool,
    /// Make smaller pieces about foreseen outages.
    #[serde(default)]
    pub ease: Option<Ease>,
}

fn up() -> Ways {
    Ways::Up
}

fn a_packet() -> u64 {
    1200
}

impl Paced {
    /// Of its table in the record.
    pub const COLUMNS: &'static [Column] = COLUMNS;

    fn schedule(&self) -> Schedule {
        let nanos = |seconds: f64| (seconds * 1e9).round() as u64;
        let interval_ns = ((self.piece_bytes as f64 * 8e3 / self.rate_mbps).round() as u64).max(1);
        let on_off_ns = self.on_s.zip(self.off_s).map(|(on, off)| (nanos(on), nanos(off)));
        Schedule { interval_ns, on_off_ns, length_ns: nanos(self.duration_s) }
    }

    fn end(&self, sends: Direction) -> Box<dyn Application> {
        let (way, back) = match sends {
            Direction::Up => (Ways::Up, Direction::Down),
            Direction::Down => (Ways::Down, Direction::Up),
        };
        let is_sender = [way, Ways::Both].contains(&self.direction);
        let is_receiver = self.direction != way;
        Box::new(End {
            sender: is_sender.then(|| Sender::new(self)),
            receiver: is_receiver.then(|| Receiver::new(self, back)),
        })
    }
}

impl Describe for Paced {
    /// Both: down.
    fn direction(&self) -> Direction {
        if self.direction == Ways::Up { Direction::Up } else { Direction::Down }
    }

    fn duration_s(&self) -> Option<f64> {
        Some(self.duration_s)
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
        within("rate_mbps", self.rate_mbps, (1e-6, 1e5))?;
        let piece_bytes = (HEAD_BYTES as f64, MAX_PIECE_BYTES as f64);
        within("piece_bytes", self.piece_bytes as f64, piece_bytes)?;
        if let Some(ease) = self.ease {
            ease.check()?;
        }
        within("deadline_ms", self.deadline_ms, (0.0, 1e9))?;
        within("duration_s", self.duration_s, (1e-3, 1e6))?;
        if self.on_s.is_some() != self.off_s.is_some() {
            let why = "has on_s or off_s alone: give both, or none for a constant rate";
            return Err(WorkloadError::Together(why));
        }
        for (field, value) in [("on_s", self.on_s), ("off_s", self.off_s)] {
            within(field, value.unwrap_or(1.0), (1e-3, 1e6))?;
        }
        let pieces = self.duration_s * self.rate_mbps * 125e3 / self.piece_bytes as f64;
        within("the number of pieces", pieces.ceil(), (1.0, MAX_PIECES as f64))
    }
}

/// When each piece is due after the first.
#[derive(Clone, Copy, Debug)]
struct Schedule {
    interval_ns: u64,
    on_off_ns: Option<(u64, u64)>,
    length_ns: u64,
}

impl Schedule {
    /// `None`: the time is over before.
    fn due(&self, piece: u64) -> Option<Duration> {
        let on_ns = piece.checked_mul(self.interval_ns)?;
        let at_ns = match self.on_off_ns {
            None => on_ns,
            Some((on, off)) => on_ns / on * (on + off) + on_ns % on,
        };
        (at_ns < self.length_ns).then(|| Duration::from_nanos(at_ns))
    }
}

/// One end: a sender, a receiver, or both.
#[derive(Debug)]
struct End {
    sender: Option<Sender>,
    receiver: Option<Receiver>,
}

impl Application for End {
    fn on_open(&mut self, now: Instant, streams: &mut dyn Streams) {
        if let Some(sender) = &mut self.sender {
            sender.started_at = Some(now);
            sender.work(now, streams);
        }
    }

    fn on_readable(&mut self, now: Instant, stream: StreamId, streams: &mut dyn Streams) {
        if let Some(receiver) = &mut self.receiver {
            receiver.read(now, stream, streams);
        }
    }

    fn on_writable(&mut self, _now: Instant, streams: &mut dyn Streams) {
        if let Some(sender) = &mut self.sender {
            sender.write(streams);
        }
    }

    fn on_datagram(&mut self, now: Instant, streams: &mut dyn Streams) {
        while let Some(data) = streams.read_datagram() {
            if let Some(receiver) = &mut self.receiver
                && let Some(head) = Head::parse(&data)
                && head.bytes == data.len() as u64
            {
                receiver.note(now, head);
            }
        }
    }

    fn poll_at(&self) -> Option<Instant> {
        self.sender.as_ref().and_then(Sender::due_at)
    }

    fn on_timer(&mut self, now: Instant, streams: &mut dyn Streams) {
        if let Some(sender) = &mut self.sender {
            sender.work(now, streams);
        }
    }

    fn rows(&self, zero: Instant, end: Instant) -> Vec<Row> {
        self.receiver.as_ref().map_or_else(Vec::new, |receiver| receiver.rows(zero, end))
    }
}

#[derive(Clone, Copy, Debug)]
struct Head {
    piece: u32,
    bytes: u64,
    sent_at: Instant,
}

impl Head {
    fn to_bytes(self) -> Vec<u8> {
        let mut head = self.piece.to_be_bytes().to_vec();
        head.extend((self.bytes as u32).to_be_bytes());
        head.extend(self.sent_at.as_nanos().to_be_bytes());
        head
    }

    fn parse(data: &[u8]) -> Option<Self> {
        let (piece, rest) = data.split_first_chunk()?;
        let (bytes, rest) = rest.split_first_chunk()?;
        let (nanos, _) = rest.split_first_chunk()?;
        Some(Self {
            piece: u32::from_be_bytes(*piece),
            bytes: u64::from(u32::from_be_bytes(*bytes)),
            sent_at: Instant::from_nanos(u64::from_be_bytes(*nanos)),
        })
    }
}

/// A piece always has its head.
fn eased(piece_bytes: u64, share: f64) -> u64 {
    ((piece_bytes as f64 * share) as u64).max(HEAD_BYTES as u64)
}

#[derive(Debug)]
struct Sender {
    schedule: Schedule,
    piece_bytes: u64,
    reliable: bool,
    ease: Option<Ease>,
    started_at: Option<Instant>,
    next: u64,
    stream: Option<StreamId>,
    /// Pieces that are not written yet: what is left of each head, and of what follows it.
    waiting: VecDeque<(Vec<u8>, u64)>,
}

impl Sender {
    fn new(paced: &Paced) -> Self {
        Self {
            schedule: paced.schedule(),
            piece_bytes: paced.piece_bytes,
            reliable: paced.reliable,
            ease: paced.ease,
            started_at: None,
            next: 0,
            stream: None,
            waiting: VecDeque::new(),
        }
    }

    fn due_at(&self) -> Option<Instant> {
        Some(self.started_at? + self.schedule.due(self.next)?)
    }

    /// Makes the pieces that are due.
    fn work(&mut self, now: Instant, streams: &mut dyn Streams) {
        let fits = streams.longest_datagram_bytes() as u64 >= self.piece_bytes;
        while self.due_at().is_some_and(|at| at <= now) {
            let bytes = self.bytes(now, streams);
            let mut head = Head { piece: self.next as u32, bytes, sent_at: now }.to_bytes();
            self.next += 1;
            if fits && !self.reliable {
                head.resize(bytes as usize, 0);
                streams.send_datagram(&head);
            } else if self.waiting.len() < MAX_WAITING {
                self.waiting.push_back((head, bytes - HEAD_BYTES as u64));
            }
        }
        self.write(streams);
    }

    /// Size of the piece that is due.
    fn bytes(&self, now: Instant, streams: &dyn Streams) -> u64 {
        match self.ease.filter(|ease| ease.is_due(now, streams)) {
            None => self.piece_bytes,
            Some(ease) => eased(self.piece_bytes, ease.share),
        }
    }

    fn write(&mut self, streams: &mut dyn Streams) {
        while let Some((head, left)) = self.waiting.front_mut() {
            if self.stream.is_none() {
                self.stream = streams.open(false);
            }
            let Some(stream) = self.stream else { return };
            let taken = streams.write(stream, head);
            head.drain(..taken);
            if !head.is_empty() {
                return;
            }
            *left -= streams.write_filler(stream, *left);
            if *left > 0 {
                return;
            }
            self.waiting.pop_front();
        }
    }
}

/// The piece that is being read.
#[derive(Debug, Default)]
struct Incoming {
    head: Vec<u8>,
    /// What has come of what follows it.
    read_bytes: u64,
    /// What came makes no sense: nothing more is read.
    broken: bool,
}

#[derive(Debug)]
struct Receiver {
    schedule: Schedule,
    piece_bytes: u64,
    /// Size of a piece that is made about a foreseen outage.
    eased_bytes: Option<u64>,
    deadline: Duration,
    direction: Direction,
    /// Head and arrival.
    pieces: BTreeMap<u32, (Head, Instant)>,
    incoming: BTreeMap<StreamId, Incoming>,
}

impl Receiver {
    fn new(paced: &Paced, direction: Direction) -> Self {
        Self {
            schedule: paced.schedule(),
            piece_bytes: paced.piece_bytes,
            eased_bytes: paced.ease.map(|ease| eased(paced.piece_bytes, ease.share)),
            deadline: Duration::from_secs_f64(paced.deadline_ms * 1e-3),
            direction,
            pieces: BTreeMap::new(),
            incoming: BTreeMap::new(),
        }
    }

    /// A piece is complete. One that cannot be, or came before, is left out.
    fn note(&mut self, now: Instant, head: Head) {
        let known = self.schedule.due(u64::from(head.piece)).is_some();
        if known && self.has_size(head.bytes) && head.sent_at <= now {
            self.pieces.entry(head.piece).or_insert((head, now));
        }
    }

    fn has_size(&self, bytes: u64) -> bool {
        bytes == self.piece_bytes || self.eased_bytes == Some(bytes)
    }

    fn read(&mut self, now: Instant, stream: StreamId, streams: &mut dyn Streams) {
        let sizes = [Some(self.piece_bytes), self.eased_bytes];
        loop {
            let incoming = self.incoming.entry(stream).or_default();
            while incoming.head.len() < HEAD_BYTES && !incoming.broken {
                match streams.read(stream, HEAD_BYTES - incoming.head.len()) {
                    Read::Data(data) => incoming.head.extend(data),
                    Read::Blocked | Read::Finished | Read::Reset => return,
                }
            }
            let Some(head) = Head::parse(&incoming.head) else { return };
            incoming.broken |= !sizes.contains(&Some(head.bytes));
            if incoming.broken {
                return;
            }
            let left_bytes = head.bytes - HEAD_BYTES as u64 - incoming.read_bytes;
            incoming.read_bytes += streams.skip(stream, left_bytes);
            if incoming.read_bytes < head.bytes - HEAD_BYTES as u64 {
                return;
            }
            *incoming = Incoming::default();
            self.note(now, head);
        }
    }

    /// Every piece that was to be here by `end`. What the sender did not make, because the connection
    /// came late, counts from the first piece on that is known.
    fn rows(&self, zero: Instant, end: Instant) -> Vec<Row> {
        let Some((first, (head, _))) = self.pieces.first_key_value() else { return Vec::new() };
        let before = self.schedule.due(u64::from(*first)).unwrap_or_default();
        let started_at = head.sent_at.saturating_sub(before);
        let pieces = (0..).map_while(|piece| Some((piece, started_at + self.schedule.due(piece)?)));
        let judged = pieces.take_while(|(_, due_at)| *due_at + self.deadline <= end);
        judged.map(|(piece, due_at)| self.row(zero, piece as u32, due_at)).collect()
    }

    fn row(&self, zero: Instant, piece: u32, due_at: Instant) -> Row {
        let came = self.pieces.get(&piece);
        let sent_at = came.map_or(due_at, |(head, _)| head.sent_at);
        let delay = came.map(|(head, arrived_at)| *arrived_at - head.sent_at);
        vec![
            Cell::Word(self.direction.name()),
            Cell::Count(u64::from(piece)),
            Cell::seconds(zero, Some(sent_at)),
            Cell::seconds(zero, came.map(|(_, arrived_at)| *arrived_at)),
            Cell::number(delay.map(|delay| delay.as_secs_f64() * 1e3)),
            came.map_or(Cell::Nothing, |(head, _)| Cell::Count(head.bytes)),
            Cell::Flag(delay.is_some_and(|delay| delay > self.deadline)),
            Cell::Flag(delay.is_none()),
        ]
    }
}
