//! Video: a client asks for a film in one file and plays it while it comes.
//!
//! How an object is asked for and served: `objects.rs`. What a player does: `video::progressive`.

use crate::application::Application;
use crate::blocked::{self, Heard};
use crate::describe::Describe;
use crate::error::WorkloadError;
use crate::objects::{Fetch, Server};
use crate::streams::{StreamId, Streams};
use crate::table::{Cell, Column, Row};
use serde::{Deserialize, Serialize};
use units::{Direction, Instant};
use video::progressive::{Kind, Player, Settings};
use video::{FrameTable, VideoError};

const COLUMNS: &[Column] = &[
    Column { name: "time_s", kind: "number", meaning: "when" },
    Column {
        name: "event",
        kind: "word",
        meaning: "sample, playing, underflow, ended (the film) or closed (the connection)",
    },
    Column { name: "position_s", kind: "number", meaning: "where in the film the viewer is" },
    Column { name: "buffer_s", kind: "number", meaning: "media that are there beyond it" },
    Column { name: "film_s", kind: "number", meaning: "length of the film" },
    Column { name: "received_bytes", kind: "count", meaning: "in-order bytes of the file" },
    Column { name: "shown", kind: "count", meaning: "pictures that came in time" },
    Column { name: "discarded", kind: "count", meaning: "pictures that came too late" },
    Column {
        name: "flushed",
        kind: "count",
        meaning: "pictures that were thrown away when the player buffered anew",
    },
    Column { name: "underflows", kind: "count", meaning: "times that the player ran dry" },
    Column {
        name: "stall_s",
        kind: "number",
        meaning: "time that the clock stood after its start",
    },
    blocked::BY_OTHER,
    blocked::BY_OWN,
];

/// A film in one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Film {
    /// One that is built in: "cbr".
    Named(String),
    /// What `ffprobe` says of a file ([`FrameTable::parse`]).
    Table {
        /// How the film is called.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// Its lines.
        csv: String,
    },
}

impl Film {
    fn table(&self) -> Result<FrameTable, VideoError> {
        match self {
            Self::Named(name) => FrameTable::named(name),
            Self::Table { csv, .. } => FrameTable::parse(csv),
        }
    }
}

/// A film that a client plays while it comes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Video {
    /// Down: films are not uploaded.
    #[serde(default = "down")]
    pub direction: Direction,
    /// What is played.
    #[serde(default = "cbr")]
    pub film: Film,
    /// What plays it.
    #[serde(default)]
    pub player: Kind,
    /// Media that must be there for the start; that of the player if it is left out, as below.
    #[serde(default)]
    pub start_s: Option<f64>,
    /// Media that must be there after an underflow; `wait` only.
    #[serde(default)]
    pub resume_s: Option<f64>,
    /// The beginning of the file, which another connection has brought: this one asks for the rest.
    #[serde(default)]
    pub index_bytes: u64,
    /// Pictures that the decoder holds back.
    #[serde(default)]
    pub held_pictures: Option<u32>,
    /// End after the start, finished or not.
    #[serde(default)]
    pub duration_s: Option<f64>,
}

fn down() -> Direction {
    Direction::Down
}

fn cbr() -> Film {
    Film::Named("cbr".into())
}

impl Default for Video {
    fn default() -> Self {
        Self {
            direction: down(),
            film: cbr(),
            player: Kind::default(),
            start_s: None,
            resume_s: None,
            index_bytes: 0,
            held_pictures: None,
            duration_s: None,
        }
    }
}

impl Video {
    /// Of its table in the record.
    pub const COLUMNS: &'static [Column] = COLUMNS;

    fn settings(&self) -> Settings {
        let Self { start_s, resume_s, held_pictures, .. } = *self;
        Settings { start_s, resume_s, held_pictures }
    }
}

impl Describe for Video {
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
        // What `check` refuses has no film here, and asks for nothing.
        let film = self.film.table().ok();
        let rest = |film: &FrameTable| film.file_bytes().saturating_sub(self.index_bytes);
        let fetch = film.as_ref().map(|film| Fetch::new(rest(film)));
        let (settings, heard) = (self.settings(), Heard::default());
        let (kind, index_bytes) = (self.player, self.index_bytes);
        Box::new(Client { kind, settings, film, index_bytes, fetch, player: None, heard })
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
        if self.player == Kind::Discard && self.resume_s.is_some() {
            return Err(WorkloadError::Together(
                "has resume_s, which only player = \"wait\" knows",
            ));
        }
        self.settings().check()?;
        let file_bytes = self.film.table()?.file_bytes() as f64;
        crate::error::within("file_bytes", file_bytes, (1.0, 1e12))?;
        crate::error::within("index_bytes", self.index_bytes as f64, (0.0, file_bytes - 1.0))
    }
}

#[derive(Debug)]
struct Client {
    kind: Kind,
    settings: Settings,
    film: Option<FrameTable>,
    index_bytes: u64,
    fetch: Option<Fetch>,
    player: Option<Box<dyn Player>>,
    heard: Heard,
}

impl Client {
    fn write(&mut self, streams: &mut dyn Streams) {
        if let Some(fetch) = &mut self.fetch {
            fetch.write(streams);
        }
    }
}

impl Application for Client {
    fn on_open(&mut self, now: Instant, streams: &mut dyn Streams) {
        let start = |film| self.kind.start(film, &self.settings, now).ok();
        self.player = self.film.as_ref().and_then(start);
        self.film = None; // the player has it
        self.write(streams);
    }

    fn on_readable(&mut self, now: Instant, stream: StreamId, streams: &mut dyn Streams) {
        if let (Some(fetch), Some(player)) = (&mut self.fetch, &mut self.player) {
            player.on_blocked(now, self.heard.news(streams));
            player.on_bytes(now, self.index_bytes + fetch.read(stream, streams));
        }
    }

    fn on_writable(&mut self, _now: Instant, streams: &mut dyn Streams) {
        self.write(streams);
    }

    fn is_done(&self) -> bool {
        self.fetch.as_ref().is_some_and(Fetch::is_complete)
    }

    fn rows(&self, zero: Instant, end: Instant) -> Vec<Row> {
        let Some(player) = &self.player else { return Vec::new() };
        let film_s = player.film().duration().as_secs_f64();
        let row = |row: &video::progressive::Row| {
            let [by_other, by_own] = self.heard.cells(row.counts.blocked);
            vec![
                Cell::seconds(zero, Some(row.at)),
                Cell::Word(row.event.name()),
                Cell::Number(row.position.as_secs_f64()),
                Cell::Number(row.buffer.as_secs_f64()),
                Cell::Number(film_s),
                Cell::Count(row.counts.received_bytes),
                Cell::Count(row.counts.shown),
                Cell::Count(row.counts.discarded),
                Cell::Count(row.counts.flushed),
                Cell::Count(row.counts.underflows),
                Cell::Number(row.counts.stall.as_secs_f64()),
                by_other,
                by_own,
            ]
        };
        player.closed(end).log().rows().iter().map(row).collect()
    }
}
