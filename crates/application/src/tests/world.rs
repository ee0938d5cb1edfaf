//! Two applications over a connection in memory, in virtual time: streams or one stream, DATAGRAMs or
//! none, and a delay each way.

use crate::*;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use units::{Duration, Instant};

/// What the transport can do.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub one_stream: bool,
    /// Longest DATAGRAM; 0: none.
    pub datagram_bytes: usize,
    /// Room for unread bytes of a stream.
    pub window_bytes: u64,
    pub delay: Duration,
    /// Every DATAGRAM whose number this divides is lost; 0: none.
    pub loses_each: usize,
}

impl Kind {
    pub fn tcp() -> Self {
        let delay = Duration::from_millis(10);
        Self { one_stream: true, datagram_bytes: 0, window_bytes: 10_000, delay, loses_each: 0 }
    }

    pub fn quic() -> Self {
        Self { one_stream: false, datagram_bytes: 1300, ..Self::tcp() }
    }
}

/// A side of the connection.
#[derive(Debug, Default)]
struct Side {
    pipes: BTreeMap<StreamId, Pipe>,
    /// Bytes of each stream that have come here.
    arrived: BTreeMap<StreamId, u64>,
    datagrams: VecDeque<Vec<u8>>,
    blocked: bool,
}

/// What is under way.
#[derive(Debug)]
enum Cargo {
    Stream(StreamId, u64),
    Datagram(Vec<u8>),
}

#[derive(Debug)]
pub struct Wire {
    kind: Kind,
    pub now: Instant,
    sides: [Side; 2],
    /// When, to which side, and what.
    under_way: VecDeque<(Instant, usize, Cargo)>,
    next_stream: u64,
    sent_datagrams: usize,
    /// Most bytes of a stream that were ever unread.
    pub most_unread: u64,
}

struct End<'a> {
    wire: &'a mut Wire,
    side: usize,
}

impl End<'_> {
    fn unread(&self, stream: StreamId) -> u64 {
        let side = &self.wire.sides[self.side];
        let read = side.pipes.get(&stream).map_or(0, Pipe::read_bytes);
        side.arrived.get(&stream).copied().unwrap_or(0) - read
    }

    /// Room at the other side, and where its pipe stands.
    fn room(&self, stream: StreamId) -> u64 {
        let other = &self.wire.sides[1 - self.side];
        let read = other.pipes.get(&stream).map_or(0, Pipe::read_bytes);
        let sent = other.arrived.get(&stream).copied().unwrap_or(0);
        let flying = self.wire.under_way.iter().map(|(_, to, cargo)| match cargo {
            Cargo::Stream(of, bytes) if *of == stream && *to != self.side => *bytes,
            _ => 0,
        });
        (read + self.wire.kind.window_bytes).saturating_sub(sent + flying.sum::<u64>())
    }

    fn ship(&mut self, stream: StreamId, bytes: u64) {
        let at = self.wire.now + self.wire.kind.delay;
        self.wire.under_way.push_back((at, 1 - self.side, Cargo::Stream(stream, bytes)));
    }
}

impl Streams for End<'_> {
    fn has_one_stream(&self) -> bool {
        self.wire.kind.one_stream
    }

    fn open(&mut self, _both_ways: bool) -> Option<StreamId> {
        if self.wire.kind.one_stream {
            return Some(StreamId(0));
        }
        self.wire.next_stream += 1;
        Some(StreamId(self.wire.next_stream))
    }

    fn write(&mut self, stream: StreamId, data: &[u8]) -> usize {
        let taken = data.len().min(self.room(stream) as usize);
        let blocked = taken < data.len();
        self.wire.sides[self.side].blocked |= blocked;
        let pipe = self.wire.sides[1 - self.side].pipes.entry(stream).or_default();
        pipe.write(&data[..taken]);
        self.ship(stream, taken as u64);
        taken
    }

    fn write_filler(&mut self, stream: StreamId, bytes: u64) -> u64 {
        let taken = bytes.min(self.room(stream));
        self.wire.sides[self.side].blocked |= taken < bytes;
        let pipe = self.wire.sides[1 - self.side].pipes.entry(stream).or_default();
        pipe.write_zeros(taken);
        self.ship(stream, taken);
        taken
    }

    fn finish(&mut self, stream: StreamId) {
        self.wire.sides[1 - self.side].pipes.entry(stream).or_default().finish();
    }

    fn read(&mut self, stream: StreamId, most_bytes: usize) -> Read {
        let most = most_bytes.min(self.unread(stream) as usize);
        let pipe = self.wire.sides[self.side].pipes.entry(stream).or_default();
        match pipe.read(most) {
            data if !data.is_empty() => Read::Data(data),
            _ if pipe.is_drained() => Read::Finished,
            _ => Read::Blocked,
        }
    }

    fn paths(&self) -> Vec<PathStatus> {
        Vec::new()
    }

    fn longest_datagram_bytes(&self) -> usize {
        self.wire.kind.datagram_bytes
    }

    fn send_datagram(&mut self, data: &[u8]) -> bool {
        assert!(data.len() <= self.wire.kind.datagram_bytes);
        self.wire.sent_datagrams += 1;
        let lost = self.wire.sent_datagrams.is_multiple_of(self.wire.kind.loses_each.max(1));
        if self.wire.kind.loses_each == 0 || !lost {
            let at = self.wire.now + self.wire.kind.delay;
            self.wire.under_way.push_back((at, 1 - self.side, Cargo::Datagram(data.to_vec())));
        }
        true
    }

    fn read_datagram(&mut self) -> Option<Vec<u8>> {
        self.wire.sides[self.side].datagrams.pop_front()
    }
}

/// A connection with its applications.
pub struct World {
    pub wire: Wire,
    pub ends: [Box<dyn Application>; 2],
}

pub const CLIENT: usize = 0;
pub const SERVER: usize = 1;

impl World {
    pub fn new(kind: Kind, workload: &dyn Describe) -> Self {
        workload.check().expect("a workload that can be");
        Self::of(kind, [workload.client(), workload.server()])
    }

    pub fn of(kind: Kind, ends: [Box<dyn Application>; 2]) -> Self {
        let wire = Wire {
            kind,
            now: Instant::ZERO,
            sides: [Side::default(), Side::default()],
            under_way: VecDeque::new(),
            next_stream: 0,
            sent_datagrams: 0,
            most_unread: 0,
        };
        Self { wire, ends }
    }

    fn tell(&mut self, side: usize, signal: Signal) {
        let now = self.wire.now;
        deliver(&mut *self.ends[side], now, signal, &mut End { wire: &mut self.wire, side });
    }

    /// Runs until nothing more happens, one end is done, or `end`.
    pub fn run(&mut self, end: Instant) {
        self.tell(SERVER, Signal::Open);
        self.tell(CLIENT, Signal::Open);
        while !self.ends.iter().any(|end| end.is_done()) {
            let timers = self.ends.iter().filter_map(|end| end.poll_at());
            let cargo = self.wire.under_way.front().map(|(at, ..)| *at);
            let Some(next) = timers.chain(cargo).min().filter(|at| *at <= end) else { break };
            self.wire.now = self.wire.now.max(next);
            self.step();
        }
        self.wire.now = self.wire.now.max(end);
    }

    fn step(&mut self) {
        let mut readable = BTreeSet::new();
        while let Some((at, side, cargo)) = self.wire.under_way.pop_front() {
            if at > self.wire.now {
                self.wire.under_way.push_front((at, side, cargo));
                break;
            }
            match cargo {
                Cargo::Stream(stream, bytes) => {
                    *self.wire.sides[side].arrived.entry(stream).or_default() += bytes;
                    let unread = End { wire: &mut self.wire, side }.unread(stream);
                    self.wire.most_unread = self.wire.most_unread.max(unread);
                    readable.insert((side, stream));
                }
                Cargo::Datagram(data) => {
                    self.wire.sides[side].datagrams.push_back(data);
                    self.tell(side, Signal::Datagram);
                }
            }
        }
        for (side, stream) in readable {
            self.tell(side, Signal::Readable(stream));
        }
        for side in [CLIENT, SERVER] {
            self.tell(side, Signal::Timer);
            if std::mem::take(&mut self.wire.sides[side].blocked) {
                self.tell(side, Signal::Writable);
            }
        }
    }

    /// Bytes that an end has left unread.
    pub fn unread(&mut self, side: usize) -> u64 {
        let streams: Vec<StreamId> = self.wire.sides[side].arrived.keys().copied().collect();
        let end = End { wire: &mut self.wire, side };
        streams.into_iter().map(|stream| end.unread(stream)).sum()
    }

    pub fn rows(&self, side: usize) -> Vec<Row> {
        self.ends[side].rows(Instant::ZERO, self.wire.now)
    }
}

pub fn seconds(seconds: f64) -> Instant {
    Instant::from_nanos((seconds * 1e9) as u64)
}

/// The values of a column.
pub fn column(rows: &[Row], columns: &[Column], name: &str) -> Vec<Cell> {
    let place = columns.iter().position(|column| column.name == name).expect("a column");
    rows.iter().map(|row| row[place]).collect()
}

pub fn numbers(rows: &[Row], columns: &[Column], name: &str) -> Vec<f64> {
    let number = |cell: &Cell| match cell {
        Cell::Number(value) => *value,
        Cell::Count(value) => *value as f64,
        other => panic!("{name} is {other:?}"),
    };
    column(rows, columns, name).iter().map(number).collect()
}
