//! Adaptive video: a client asks for one chunk of a film after the other, each in a quality that an
//! algorithm chooses, and plays them.
//!
//! How an object is asked for and served: `objects.rs`. What the player does: `video::Adaptive`. A chunk
//! that was asked for is read to its end: [`Streams`] cannot take a request back, so no algorithm may
//! give one up.

use crate::application::Application;
use crate::blocked::{self, Heard};
use crate::describe::Describe;
use crate::error::{WorkloadError, within};
use crate::objects::{Fetch, MAX_OBJECT_BYTES, Server};
use crate::streams::{StreamId, Streams};
use crate::table::{Cell, Column, Row};
use forecast::{ForecastConfig, Update, UpdateConfig, updates};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use units::{Direction, Instant};
use video::abr::{Abr, Choice, build};
use video::{Film, Ladder, MAX_CHUNKS, Qoe, Session, Value};

const COLUMNS: &[Column] = &[
    Column { name: "time_s", kind: "number", meaning: "when" },
    Column {
        name: "event",
        kind: "word",
        meaning: "sample, request, response, playing, underflow, ended (the film) or closed (the connection)",
    },
    Column { name: "position_s", kind: "number", meaning: "where in the film the viewer is" },
    Column { name: "buffer_s", kind: "number", meaning: "media that are there beyond it" },
    Column { name: "chunk", kind: "count", meaning: "which chunk was asked for or came, from 0" },
    Column { name: "quality", kind: "count", meaning: "its quality, from 0" },
    Column { name: "bitrate_mbps", kind: "number", meaning: "nominal bitrate of that quality" },
    Column { name: "chunk_bytes", kind: "count", meaning: "size of the chunk" },
    Column { name: "underflows", kind: "count", meaning: "times that the buffer was empty" },
    Column {
        name: "stall_s",
        kind: "number",
        meaning: "time that the clock stood after its start",
    },
    blocked::BY_OTHER,
    blocked::BY_OWN,
    Column { name: "switches", kind: "count", meaning: "changes of quality between chunks" },
    Column { name: "qoe", kind: "number", meaning: "quality of experience, in the last row" },
    Column {
        name: "qoe_quality",
        kind: "number",
        meaning: "its term for the quality of all chunks",
    },
    Column { name: "qoe_switches", kind: "number", meaning: "its term for changes of quality" },
];

/// A film in chunks of several qualities.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adaptive {
    /// Down: films are not uploaded.
    #[serde(default = "down")]
    pub direction: Direction,
    /// What chooses the qualities.
    pub abr: Choice,
    /// Nominal bitrates of the qualities, rising.
    pub ladder_mbps: Vec<f64>,
    /// Media in a chunk.
    #[serde(default = "four")]
    pub chunk_s: f64,
    /// Length of the film, in whole chunks.
    #[serde(default = "three_minutes")]
    pub film_s: f64,
    /// Sizes of the chunks in each quality, as many as the film has; those of the nominal bitrates if
    /// they are left out.
    #[serde(default)]
    pub chunk_bytes: Option<Vec<Vec<u64>>>,
    /// Media that the player keeps at most.
    #[serde(default = "a_minute")]
    pub buffer_s: f64,
    /// How a bitrate is valued.
    #[serde(default)]
    pub qoe: Value,
    /// What the player knows of the rate ahead, in the seconds of the run.
    #[serde(default)]
    pub forecast: Option<Box<ForecastConfig>>,
    /// Forecasts that reach the player later; each replaces what was known before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forecast_updates: Vec<UpdateConfig>,
    /// End after the start, finished or not.
    #[serde(default)]
    pub duration_s: Option<f64>,
}

fn down() -> Direction {
    Direction::Down
}

fn four() -> f64 {
    4.0
}

fn three_minutes() -> f64 {
    180.0
}

/// Pensieve's `BUFFER_THRESH`.
fn a_minute() -> f64 {
    60.0
}

impl Adaptive {
    /// Of its table in the record.
    pub const COLUMNS: &'static [Column] = COLUMNS;

    /// The end that plays, with an algorithm of the caller's in place of `abr`.
    pub fn client_with(&self, abr: Box<dyn Abr>) -> Box<dyn Application> {
        // What `check` refuses has no film here, and asks for nothing.
        Box::new(Client {
            film: self.film().ok().map(|film| (film, abr)),
            // Those that `check` refuses are not there.
            updates: updates(&self.forecast_updates).unwrap_or_default().into(),
            player: None,
            fetch: None,
            heard: Heard::default(),
        })
    }

    fn film(&self) -> Result<Film, WorkloadError> {
        let chunks = (self.film_s / self.chunk_s).round();
        within("the chunks of its film", chunks, (1.0, MAX_CHUNKS as f64))?;
        let mbps = self.ladder_mbps.clone();
        let ladder = match &self.chunk_bytes {
            Some(bytes) => {
                within("chunk_bytes for chunks", bytes.len() as f64, (chunks, chunks))?;
                Ladder::new(self.chunk_s, mbps, bytes.clone())?
            }
            None => Ladder::constant(self.chunk_s, mbps, chunks as usize)?,
        };
        let largest = ladder.largest_bytes() as f64;
        within("chunk_bytes", largest, (1.0, MAX_OBJECT_BYTES as f64))?;
        let forecast = self.forecast.as_ref().map(|one| one.build(Instant::ZERO));
        let film = Film {
            qoe: Qoe::new(self.qoe, &ladder),
            ladder,
            most_buffer_s: self.buffer_s,
            forecast: forecast.transpose()?,
            gives_up: false,
        };
        film.check()?;
        Ok(film)
    }
}

impl Describe for Adaptive {
    fn direction(&self) -> Direction {
        Direction::Down
    }

    fn duration_s(&self) -> Option<f64> {
        self.duration_s
    }

    fn columns(&self) -> &'static [Column] {
        Self::COLUMNS
    }

    fn client(&self) -> Box<dyn Application> {
        self.client_with(build(&self.abr))
    }

    fn server(&self) -> Box<dyn Application> {
        Box::new(Server::new(Direction::Down))
    }

    fn check(&self) -> Result<(), WorkloadError> {
        if self.direction != Direction::Down {
            return Err(WorkloadError::Together(
                "is a film, which comes down: leave direction out",
            ));
        }
        updates(&self.forecast_updates)?;
        self.film().map(drop)
    }
}

#[derive(Debug)]
struct Client {
    /// What it will play, and what will choose the qualities.
    film: Option<(Film, Box<dyn Abr>)>,
    /// Forecasts that have not reached the player, in the order in which they will.
    updates: VecDeque<Update>,
    player: Option<video::Adaptive>,
    /// The chunk on its way.
    fetch: Option<Fetch>,
    heard: Heard,
}

impl Client {
    fn ask(&mut self, now: Instant, streams: &mut dyn Streams) {
        while self.updates.front().is_some_and(|one| one.arrives <= now) {
            if let (Some(due), Some(player)) = (self.updates.pop_front(), &mut self.player) {
                player.foresee(due.forecast);
            }
        }
        if let Some(request) = self.player.as_mut().and_then(|player| player.poll(now)) {
            self.fetch = Some(Fetch::new(request.bytes));
        }
        if let Some(fetch) = &mut self.fetch {
            fetch.write(streams);
        }
    }
}

impl Application for Client {
    fn on_open(&mut self, now: Instant, streams: &mut dyn Streams) {
        let start = |(film, abr)| video::Adaptive::new(film, abr, now).ok();
        self.player = self.film.take().and_then(start);
        self.ask(now, streams);
    }

    fn on_readable(&mut self, now: Instant, stream: StreamId, streams: &mut dyn Streams) {
        let (Some(fetch), Some(player)) = (&mut self.fetch, &mut self.player) else { return };
        player.on_blocked(now, self.heard.news(streams));
        let before = fetch.received_bytes();
        let received = fetch.read(stream, streams);
        if received == before {
            return;
        }
        if fetch.is_complete() {
            self.fetch = None;
        }
        player.on_bytes(now, received);
        self.ask(now, streams);
    }

    fn on_writable(&mut self, now: Instant, streams: &mut dyn Streams) {
        self.ask(now, streams);
    }

    fn poll_at(&self) -> Option<Instant> {
        self.player.as_ref().and_then(video::Adaptive::poll_at)
    }

    fn on_timer(&mut self, now: Instant, streams: &mut dyn Streams) {
        self.ask(now, streams);
    }

    fn is_done(&self) -> bool {
        self.player.as_ref().is_some_and(video::Adaptive::is_done)
    }

    fn rows(&self, zero: Instant, end: Instant) -> Vec<Row> {
        let Some(player) = &self.player else { return Vec::new() };
        let session = player.closed(end);
        let mut rows: Vec<Row> =
            session.rows().iter().map(|one| row(zero, one, &self.heard)).collect();
        if let Some(last) = rows.last_mut() {
            last.truncate(COLUMNS.len() - 3);
            last.extend(verdict(player, &session));
        }
        rows
    }
}

fn row(zero: Instant, row: &video::Row, heard: &Heard) -> Row {
    let [by_other, by_own] = heard.cells(row.blocked);
    let count = |value: Option<u64>| value.map_or(Cell::Nothing, Cell::Count);
    let entry = row.entry;
    vec![
        Cell::seconds(zero, Some(row.at)),
        Cell::Word(row.event.name()),
        Cell::Number(row.position.as_secs_f64()),
        Cell::Number(row.buffer.as_secs_f64()),
        count(entry.map(|one| one.chunk as u64)),
        count(entry.map(|one| one.quality as u64)),
        Cell::number(entry.map(|one| one.mbps)),
        count(entry.map(|one| one.bytes)),
        Cell::Count(row.underflows),
        Cell::Number(row.stall.as_secs_f64()),
        by_other,
        by_own,
        Cell::Count(row.switches),
        Cell::Nothing,
        Cell::Nothing,
        Cell::Nothing,
    ]
}

/// The quality of experience of a session, and its terms; that for waiting is `stall_s`.
fn verdict(player: &video::Adaptive, session: &Session) -> [Cell; 3] {
    let terms = session.terms();
    [player.qoe(session), terms.quality, terms.switches].map(Cell::Number)
}
