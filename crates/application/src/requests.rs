//! Requests: a client asks for objects, thinks, and asks again, over one connection that stays open;
//! or it uploads them, and the server confirms each.
//! How an object is asked for and served: `objects.rs`.

use crate::application::Application;
use crate::describe::Describe;
use crate::error::{WorkloadError, within};
use crate::objects::{
    LEAST_URGENCY, MAX_OBJECT_BYTES, Message, Server, fill, follows_answer, follows_request,
    head_of, size_of,
};
use crate::streams::{Priority, StreamId, Streams};
use crate::table::{Cell, Column, Row};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use units::{Direction, Duration, Instant};

const MAX_REQUESTS: u32 = 1_000_000;

const COLUMNS: &[Column] = &[
    Column { name: "request", kind: "count", meaning: "which request of the client, from 0" },
    Column { name: "object_bytes", kind: "count", meaning: "size of the object" },
    Column { name: "requested_s", kind: "number", meaning: "the client wrote the request" },
    Column { name: "first_byte_s", kind: "number", meaning: "the first byte of the answer came" },
    Column { name: "completed_s", kind: "number", meaning: "the last byte of the answer came" },
    Column {
        name: "completion_ms",
        kind: "number",
        meaning: "time from the request to the last byte; none: not complete",
    },
];

/// Objects that a client asks for, or uploads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requests {
    /// Which way the objects go.
    #[serde(default = "down")]
    pub direction: Direction,
    /// Sizes of the objects, over and over.
    pub object_bytes: Vec<u64>,
    /// How many are asked for; as many as there are sizes if it is left out, without end if a
    /// duration is given.
    #[serde(default)]
    pub count: Option<u32>,
    /// From the last byte of an object to the next request.
    #[serde(default)]
    pub think_s: f64,
    /// Requests that may be under way at a time.
    #[serde(default = "one")]
    pub parallel: u32,
    /// How urgent the objects are, from 0 to 7 (RFC 9218 §4.1), where the transport has streams.
    #[serde(default = "usual")]
    pub urgency: u8,
    /// A download without end goes on beside them on a stream of its own, of the usual urgency and in
    /// pieces; not where the transport has one stream.
    #[serde(default)]
    pub background: bool,
    /// End after the start, finished or not.
    #[serde(default)]
    pub duration_s: Option<f64>,
}

fn usual() -> u8 {
    Priority::default().urgency
}

fn down() -> Direction {
    Direction::Down
}

fn one() -> u32 {
    1
}

impl Requests {
    /// Of its table in the record.
    pub const COLUMNS: &'static [Column] = COLUMNS;

    fn count(&self) -> u32 {
        let sizes = u32::try_from(self.object_bytes.len()).unwrap_or(MAX_REQUESTS);
        self.count.unwrap_or(if self.duration_s.is_some() { MAX_REQUESTS } else { sizes })
    }
}

impl Describe for Requests {
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
        Box::new(Client {
            sizes: self.object_bytes.clone(),
            count: self.count(),
            direction: self.direction,
            priority: Priority { urgency: self.urgency, ..Priority::default() },
            background: if self.background { Background::Wanted } else { Background::None },
            think: Duration::from_secs_f64(self.think_s),
            free: self.parallel,
            thinking: VecDeque::new(),
            asked: Vec::new(),
            unwritten: VecDeque::new(),
            answers: BTreeMap::new(),
            completed: 0,
        })
    }

    fn server(&self) -> Box<dyn Application> {
        Box::new(Server::new(self.direction))
    }

    fn check(&self) -> Result<(), WorkloadError> {
        if self.object_bytes.is_empty() {
            return Err(WorkloadError::Empty("object_bytes"));
        }
        for bytes in &self.object_bytes {
            within("object_bytes", *bytes as f64, (1.0, MAX_OBJECT_BYTES as f64))?;
        }
        within("count", f64::from(self.count()), (1.0, f64::from(MAX_REQUESTS)))?;
        within("think_s", self.think_s, (0.0, 1e6))?;
        within("urgency", f64::from(self.urgency), (0.0, f64::from(LEAST_URGENCY)))?;
        within("parallel", f64::from(self.parallel), (1.0, 64.0))
    }
}

/// A request that was made.
#[derive(Debug)]
struct Asked {
    bytes: u64,
    at: Instant,
    first_at: Option<Instant>,
    completed_at: Option<Instant>,
}

/// What a client expects on a stream.
#[derive(Debug, Default)]
struct Answers {
    /// Numbers of the requests, in their order.
    waiting: VecDeque<usize>,
    head: Vec<u8>,
    /// Of the object at the front; `None`: its size has not come yet.
    left_bytes: Option<u64>,
}

/// The download beside the objects.
#[derive(Debug)]
enum Background {
    None,
    Wanted,
    /// On this stream, with what was not written yet of its request.
    Asked(StreamId, Message),
}

#[derive(Debug)]
struct Client {
    direction: Direction,
    priority: Priority,
    background: Background,
    sizes: Vec<u64>,
    count: u32,
    think: Duration,
    /// Requests that may be made now.
    free: u32,
    /// When the next ones may, in order.
    thinking: VecDeque<Instant>,
    asked: Vec<Asked>,
    /// What the send buffer did not take yet of requests: their heads, and how much follows each.
    unwritten: VecDeque<(StreamId, Message)>,
    answers: BTreeMap<StreamId, Answers>,
    completed: u32,
}

impl Client {
    /// Asks for the download beside the objects, if one is wanted and a stream is available.
    fn begin_background(&mut self, streams: &mut dyn Streams) {
        if matches!(self.background, Background::Wanted)
            && !streams.has_one_stream()
            && let Some(stream) = streams.open(true)
        {
            let follows = follows_request(Direction::Down, MAX_OBJECT_BYTES);
            let head = head_of(MAX_OBJECT_BYTES, Priority { incremental: true, ..<_>::default() });
            self.background = Background::Asked(stream, Message { head, left_bytes: follows });
        }
        if let Background::Asked(stream, request) = &mut self.background
            && !request.is_written()
        {
            request.write(*stream, streams);
        }
    }

    fn ask(&mut self, now: Instant, streams: &mut dyn Streams) {
        self.begin_background(streams);
        while self.free > 0 && self.asked.len() < self.count as usize {
            let Some(stream) = streams.open(true) else { return };
            let number = self.asked.len();
            let bytes = self.sizes[number % self.sizes.len()];
            let follows = follows_request(self.direction, bytes);
            let request = Message { head: head_of(bytes, self.priority), left_bytes: follows };
            streams.set_priority(stream, self.priority);
            self.asked.push(Asked { bytes, at: now, first_at: None, completed_at: None });
            self.answers.entry(stream).or_default().waiting.push_back(number);
            self.unwritten.push_back((stream, request));
            self.free -= 1;
            self.write(streams);
        }
    }

    fn write(&mut self, streams: &mut dyn Streams) {
        while let Some((stream, request)) = self.unwritten.front_mut() {
            if !request.write(*stream, streams) {
                return;
            }
            if !streams.has_one_stream() {
                streams.finish(*stream);
            }
            self.unwritten.pop_front();
        }
    }

    /// Reads what is there of one object; true when it is complete.
    fn read(&mut self, now: Instant, stream: StreamId, streams: &mut dyn Streams) -> bool {
        let Some(answers) = self.answers.get_mut(&stream) else { return false };
        let Some(asked) = answers.waiting.front().map(|number| &mut self.asked[*number]) else {
            return false;
        };
        if answers.left_bytes.is_none() {
            if !fill(&mut answers.head, stream, streams) {
                return false;
            }
            // A server that answers something else is not listened to any more.
            if size_of(&answers.head) != asked.bytes {
                answers.waiting.clear();
                return false;
            }
            answers.head.clear();
            answers.left_bytes = Some(follows_answer(self.direction, asked.bytes));
            asked.first_at = Some(now);
        }
        let left = answers.left_bytes.get_or_insert(0);
        *left -= streams.skip(stream, *left);
        if *left > 0 {
            return false;
        }
        asked.completed_at = Some(now);
        answers.left_bytes = None;
        answers.waiting.pop_front();
        true
    }
}

impl Application for Client {
    fn on_open(&mut self, now: Instant, streams: &mut dyn Streams) {
        self.ask(now, streams);
    }

    fn on_readable(&mut self, now: Instant, stream: StreamId, streams: &mut dyn Streams) {
        if matches!(&self.background, Background::Asked(own, _) if *own == stream) {
            streams.skip(stream, u64::MAX);
            return;
        }
        while self.read(now, stream, streams) {
            self.completed += 1;
            self.thinking.push_back(now + self.think);
        }
        if !streams.has_one_stream()
            && self.answers.get(&stream).is_none_or(|answers| answers.waiting.is_empty())
        {
            self.answers.remove(&stream);
            streams.read(stream, 1); // its end
        }
        self.on_timer(now, streams);
    }

    fn on_writable(&mut self, now: Instant, streams: &mut dyn Streams) {
        self.write(streams);
        self.ask(now, streams);
    }

    fn poll_at(&self) -> Option<Instant> {
        self.thinking.front().copied()
    }

    fn on_timer(&mut self, now: Instant, streams: &mut dyn Streams) {
        while self.thinking.front().is_some_and(|at| *at <= now) {
            self.thinking.pop_front();
            self.free += 1;
        }
        self.ask(now, streams);
    }

    fn is_done(&self) -> bool {
        self.completed == self.count
    }

    fn rows(&self, zero: Instant, _end: Instant) -> Vec<Row> {
        let row = |(number, asked): (usize, &Asked)| {
            let took = asked.completed_at.map(|at| (at - asked.at).as_secs_f64() * 1e3);
            vec![
                Cell::Count(number as u64),
                Cell::Count(asked.bytes),
                Cell::seconds(zero, Some(asked.at)),
                Cell::seconds(zero, asked.first_at),
                Cell::seconds(zero, asked.completed_at),
                Cell::number(took),
            ]
        };
        self.asked.iter().enumerate().map(row).collect()
    }
}
