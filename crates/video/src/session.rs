//! What a viewer of an adaptive session saw: the clock, its events and samples.

use crate::Qoe;
use crate::qoe::Terms;
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
    /// A chunk was asked for.
    Request,
    /// A chunk was there.
    Response,
    /// The rest of a chunk was not wanted any more.
    GivenUp,
    /// The clock begins to run, or runs again.
    Playing,
    /// The buffer is empty.
    Underflow,
    /// The last chunk was played.
    Ended,
    /// The session was over before that.
    Closed,
}

impl Event {
    /// The word in the record.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sample => "sample",
            Self::Request => "request",
            Self::Response => "response",
            Self::GivenUp => "abandoned",
            Self::Playing => "playing",
            Self::Underflow => "underflow",
            Self::Ended => "ended",
            Self::Closed => "closed",
        }
    }
}

/// The chunk that a row is about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// Which, from 0.
    pub chunk: usize,
    /// Its quality, and the nominal bitrate of that.
    pub quality: usize,
    /// See `quality`.
    pub mbps: f64,
    /// Its size.
    pub bytes: u64,
    /// What of it has come.
    pub received_bytes: u64,
}

/// One row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// When.
    pub at: Instant,
    /// What.
    pub event: Event,
    /// Of which chunk.
    pub entry: Option<Entry>,
    /// Where in the film the clock is.
    pub position: Duration,
    /// Media that are there beyond it.
    pub buffer: Duration,
    /// Totals.
    pub underflows: u64,
    /// Time that the clock stood after its start.
    pub stall: Duration,
    /// Of that, the time in which something had come and waited for earlier bytes.
    pub blocked: BlockedTime,
    /// Changes of quality between chunks.
    pub switches: u64,
}

/// The clock and its record.
#[derive(Clone, Debug)]
pub struct Session {
    chunk: Duration,
    asked_at: Instant,
    started_at: Option<Instant>,
    /// Since when the clock runs, and from where; `None`: it stands at `position`.
    running: Option<Instant>,
    position: Duration,
    stopped_at: Option<Instant>,
    /// Media that came, in order.
    there: Duration,
    complete: bool,
    ended: bool,
    last: Option<usize>,
    terms: Terms,
    mbps_sum: f64,
    chunks: u64,
    underflows: u64,
    switches: u64,
    stall: Duration,
    blocked: BlockedTime,
    rows: Vec<Row>,
    next_sample: Instant,
}

impl Session {
    pub(crate) fn new(chunk_s: f64, now: Instant) -> Self {
        Self {
            chunk: Duration::from_secs_f64(chunk_s),
            asked_at: now,
            started_at: None,
            running: None,
            position: Duration::ZERO,
            stopped_at: None,
            there: Duration::ZERO,
            complete: false,
            ended: false,
            last: None,
            terms: Terms::default(),
            mbps_sum: 0.0,
            chunks: 0,
            underflows: 0,
            switches: 0,
            stall: Duration::ZERO,
            blocked: BlockedTime::default(),
            rows: Vec::new(),
            next_sample: now,
        }
    }

    /// All rows, in order of time.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Times that the buffer was empty.
    pub fn underflows(&self) -> u64 {
        self.underflows
    }

    /// Changes of quality between chunks.
    pub fn switches(&self) -> u64 {
        self.switches
    }

    /// Time that the clock stood after its start.
    pub fn stall(&self) -> Duration {
        self.stall
    }

    /// From the start of the session to its first picture.
    pub fn startup(&self) -> Option<Duration> {
        self.started_at.map(|at| at - self.asked_at)
    }

    /// Mean nominal bitrate of all chunks that came.
    pub fn mean_mbps(&self) -> Option<f64> {
        (self.chunks > 0).then(|| self.mbps_sum / self.chunks as f64)
    }

    /// Terms of its quality of experience.
    pub fn terms(&self) -> Terms {
        Terms { rebuffer_s: self.stall.as_secs_f64(), ..self.terms }
    }

    /// When the last chunk has been played, if all are there.
    pub fn ends_at(&self) -> Option<Instant> {
        let since = self.running.filter(|_| self.complete)?;
        Some(since + self.there.saturating_sub(self.position))
    }

    fn position(&self, now: Instant) -> Duration {
        let ran = self.running.map_or(Duration::ZERO, |since| now - since);
        (self.position + ran).min(self.there)
    }

    /// Media there and not played, in seconds.
    pub fn buffer_s(&self, now: Instant) -> f64 {
        (self.there - self.position(now)).as_secs_f64()
    }

    pub(crate) fn note(&mut self, at: Instant, event: Event, entry: Option<Entry>) {
        if event == Event::Sample {
            self.next_sample = at + SAMPLE_EACH;
        }
        let position = self.position(at);
        let waits = self.stopped_at.map_or(Duration::ZERO, |since| at - since);
        if self.rows.len() < MAX_ROWS {
            self.rows.push(Row {
                at,
                event,
                entry,
                position,
                buffer: self.there - position,
                underflows: self.underflows,
                stall: self.stall + waits,
                blocked: self.blocked,
                switches: self.switches,
            });
        }
    }

    fn sample_to(&mut self, now: Instant) {
        while self.next_sample <= now && self.rows.len() < MAX_ROWS && !self.ended {
            self.note(self.next_sample, Event::Sample, None);
        }
    }

    /// Nothing came until `now`: the buffer may have run empty on the way.
    pub(crate) fn pass(&mut self, now: Instant) {
        if let Some(since) = self.running {
            let empty_at = since + self.there.saturating_sub(self.position);
            if empty_at < now {
                self.sample_to(empty_at);
                (self.position, self.running) = (self.there, None);
                if self.complete {
                    self.ended = true;
                    self.note(empty_at, Event::Ended, None);
                } else {
                    self.underflows += 1;
                    self.stopped_at = Some(empty_at);
                    self.note(empty_at, Event::Underflow, None);
                }
            }
        }
        self.sample_to(now);
    }

    /// What comes now filled a hole: until then something had waited for it for so long.
    pub(crate) fn on_blocked(&mut self, now: Instant, blocked: BlockedTime) {
        self.pass(now);
        let stood = self.stopped_at.map_or(Duration::ZERO, |since| now - since);
        self.blocked += blocked.within_last(stood);
    }

    pub(crate) fn add_chunk(&mut self, now: Instant, qoe: &Qoe, quality: usize, mbps: f64) {
        qoe.add(&mut self.terms, self.last, quality);
        self.switches += u64::from(self.last.is_some_and(|last| last != quality));
        self.last = Some(quality);
        self.there += self.chunk;
        self.mbps_sum += mbps;
        self.chunks += 1;
        if self.running.is_none() {
            self.running = Some(now);
            self.started_at.get_or_insert(now);
            if let Some(since) = self.stopped_at.take() {
                self.stall += now - since;
            }
            self.note(now, Event::Playing, None);
        }
    }

    pub(crate) fn finish(&mut self) {
        self.complete = true;
    }

    /// The session after `end`, or after the film if all of it is there: the last row says how things
    /// stand.
    pub(crate) fn closed(&self, end: Instant) -> Self {
        let mut session = self.clone();
        if let Some(at) = session.ends_at() {
            session.pass(at + Duration::from_nanos(1));
            return session;
        }
        session.pass(end);
        if let Some(since) = session.stopped_at.take() {
            session.stall += end - since;
        }
        session.note(end, Event::Closed, None);
        session
    }
}
