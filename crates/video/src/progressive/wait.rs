//! `wait`: the clock stops where the film has a gap, until enough is there.

use super::clock::Clock;
use super::log::{Counts, Event, Log, Row};
use super::{Player, Settings};
use crate::FrameTable;
use recovery::BlockedTime;
use units::{Duration, Instant};

/// As mpv with `cache-pause-initial`: 1.0 s in both settings and what its demultiplexer needs on top,
/// found on curves of the real player.
const START_S: f64 = 1.5;
const RESUME_S: f64 = 1.25;

/// A player that waits for what is missing.
#[derive(Clone, Debug)]
pub struct Wait {
    film: FrameTable,
    /// Bytes that must be there for each picture.
    needed: Vec<u64>,
    resume: Duration,
    /// Media that must be there before the clock runs.
    wanted: Duration,
    asked_at: Instant,
    started_at: Option<Instant>,
    stopped_at: Option<Instant>,
    clock: Clock,
    /// The first picture that is not there.
    missing: usize,
    ended: bool,
    counts: Counts,
    log: Log,
}

impl Wait {
    pub(super) fn new(film: &FrameTable, settings: &Settings, now: Instant) -> Self {
        Self {
            needed: film.needed_bytes(settings.held(0)),
            film: film.clone(),
            resume: Duration::from_secs_f64(settings.resume_s.unwrap_or(RESUME_S)),
            wanted: Duration::from_secs_f64(settings.start_s.unwrap_or(START_S)),
            asked_at: now,
            started_at: None,
            stopped_at: None,
            clock: Clock::Stopped { position: Duration::ZERO },
            missing: 0,
            ended: false,
            counts: Counts::default(),
            log: Log::new(now),
        }
    }

    fn is_complete(&self) -> bool {
        self.missing == self.film.count()
    }

    fn note(&mut self, at: Instant, event: Event) {
        let position = self.clock.position(at).min(self.film.duration());
        let buffer = self.film.time(self.missing).saturating_sub(position);
        let mut counts = self.counts;
        counts.stall += self.stopped_at.map_or(Duration::ZERO, |since| at - since);
        self.log.push(Row { at, event, position, buffer, counts });
    }

    fn sample_to(&mut self, now: Instant) {
        while let Some(at) = self.log.due(now) {
            self.note(at, Event::Sample);
        }
    }

    /// Lets the clock run if enough is there.
    fn resume(&mut self, now: Instant) {
        let Clock::Stopped { position } = self.clock else { return };
        let there = self.film.time(self.missing).saturating_sub(position);
        if self.ended || (there < self.wanted && !self.is_complete()) {
            return;
        }
        self.wanted = self.resume;
        self.started_at.get_or_insert(now);
        if let Some(since) = self.stopped_at.take() {
            self.counts.stall += now - since;
        }
        self.clock = Clock::Running { since: now, from: position };
        self.note(now, Event::Playing);
    }
}

impl Player for Wait {
    fn on_bytes(&mut self, now: Instant, received_bytes: u64) {
        self.pass(now);
        self.counts.received_bytes = received_bytes.max(self.counts.received_bytes);
        while self.needed.get(self.missing).is_some_and(|bytes| *bytes <= received_bytes) {
            self.missing += 1;
            self.counts.shown += 1;
        }
        self.resume(now);
    }

    fn on_blocked(&mut self, now: Instant, blocked: BlockedTime) {
        self.pass(now);
        let stood = self.stopped_at.map_or(Duration::ZERO, |since| now - since);
        self.counts.blocked += blocked.within_last(stood);
    }

    fn pass(&mut self, now: Instant) {
        let gap = self.film.time(self.missing);
        // A picture that comes at its deadline is in time.
        if let Some(at) = self.clock.reaches(gap).filter(|at| *at < now) {
            self.sample_to(at);
            self.clock = Clock::Stopped { position: gap };
            if self.is_complete() {
                self.ended = true;
                self.note(at, Event::Ended);
            } else {
                self.counts.underflows += 1;
                self.stopped_at = Some(at);
                self.note(at, Event::Underflow);
            }
        }
        if !self.ended {
            self.sample_to(now);
        }
    }

    fn closed(&self, end: Instant) -> Box<dyn Player> {
        let mut player = self.clone();
        if let Some(at) = player.ends_at() {
            player.pass(at + Duration::from_nanos(1));
        } else {
            player.pass(end);
            player.note(end, Event::Closed);
        }
        Box::new(player)
    }

    fn film(&self) -> &FrameTable {
        &self.film
    }

    fn log(&self) -> &Log {
        &self.log
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn startup(&self) -> Option<Duration> {
        self.started_at.map(|at| at - self.asked_at)
    }

    fn ends_at(&self) -> Option<Instant> {
        self.clock.reaches(self.film.duration()).filter(|_| self.is_complete())
    }
}
