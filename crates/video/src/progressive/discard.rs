//! `discard`: the clock runs on, and pictures that come late are dropped, as VLC 3.0 does.
//!
//! VLC reads the film in steps of 250 ms. It starts when more than its delay is there, counted in steps,
//! drops a picture that leaves the decoder more than half a picture's time late, and when a step is
//! due before the one ahead of it is read ("called too late") it throws away what is decoded, raises its
//! delay by the median of the last three latenesses, and buffers anew (videolan/vlc, src/input/es_out.c
//! and clock.c, src/video_output/video_output.c, read in 3.0.24).

use super::clock::Clock;
use super::log::{Counts, Event, Log, Row};
use super::{Player, Settings};
use crate::FrameTable;
use units::{Duration, Instant};

/// `network-caching`.
const START_S: f64 = 1.0;
/// Media that the demultiplexer reads at a time.
const STEP: Duration = Duration::from_millis(250);
/// From the moment that enough is there to the first picture.
const WAKE_UP: Duration = Duration::from_millis(10);
/// `clock-jitter`: the delay grows by at most so much.
const MOST_JITTER: Duration = Duration::from_secs(5);
/// Threads − 1 and the depth of reordering.
const HELD_PICTURES: u32 = 3;

/// A player whose clock runs on.
#[derive(Clone, Debug)]
pub struct Discard {
    film: FrameTable,
    /// Bytes that must be there for each picture, and for each step.
    needed: Vec<u64>,
    step_ends: Vec<u64>,
    base: Duration,
    delay: Duration,
    late: [Duration; 3],
    late_place: usize,
    asked_at: Instant,
    started_at: Option<Instant>,
    /// When the picture that is next should have been shown.
    stopped_at: Option<Instant>,
    clock: Clock,
    /// Where the viewer is.
    position: Duration,
    /// The step from which the clock runs, or will.
    first_step: usize,
    /// The first step that is not there, and the first picture.
    step: usize,
    picture: usize,
    ended: bool,
    counts: Counts,
    log: Log,
}

impl Discard {
    pub(super) fn new(film: &FrameTable, settings: &Settings, now: Instant) -> Self {
        let base = Duration::from_secs_f64(settings.start_s.unwrap_or(START_S));
        Self {
            needed: film.needed_bytes(settings.held(HELD_PICTURES)),
            step_ends: film.step_ends(STEP),
            film: film.clone(),
            base,
            delay: base,
            late: [Duration::ZERO; 3],
            late_place: 0,
            asked_at: now,
            started_at: None,
            stopped_at: None,
            clock: Clock::Stopped { position: Duration::ZERO },
            position: Duration::ZERO,
            first_step: 0,
            step: 0,
            picture: 0,
            ended: false,
            counts: Counts::default(),
            log: Log::new(now),
        }
    }

    /// Where a step begins in the film.
    fn step_time(step: usize) -> Duration {
        STEP * u32::try_from(step).unwrap_or(u32::MAX)
    }

    fn is_complete(&self) -> bool {
        self.step == self.step_ends.len()
    }

    /// Media that are there, counted from the beginning of the film.
    fn there(&self) -> Duration {
        if self.is_complete() { self.film.duration() } else { self.film.time(self.picture) }
    }

    fn note(&mut self, at: Instant, event: Event) {
        // A clock that ran on without pictures goes back to what is there: the viewer does not.
        self.position = self.clock.position(at).min(self.there()).max(self.position);
        let (position, buffer) = (self.position, self.there().saturating_sub(self.position));
        let mut counts = self.counts;
        counts.stall += self.stopped_at.map_or(Duration::ZERO, |since| at - since);
        self.log.push(Row { at, event, position, buffer, counts });
    }

    /// Takes the pictures of which everything up to `received` bytes is there.
    fn take_pictures(&mut self, now: Instant, received: u64) {
        let grace = self.film.period() / 2;
        while self.needed.get(self.picture).is_some_and(|bytes| *bytes <= received) {
            let deadline = self.clock.reaches(self.film.time(self.picture));
            if deadline.is_some_and(|deadline| now > deadline + grace) {
                self.counts.discarded += 1;
            } else {
                self.counts.shown += 1;
            }
            self.picture += 1;
        }
    }

    /// A step is there: the next one is due now, or later, or was due already.
    fn take_step(&mut self, now: Instant) {
        self.step += 1;
        if self.is_complete() {
            self.start(now);
            return;
        }
        match self.clock.reaches(Self::step_time(self.step)) {
            Some(due) if now > due => self.flush(now, due),
            Some(_) => {}
            None => self.start(now),
        }
    }

    /// Starts the clock if more than the delay is there.
    fn start(&mut self, now: Instant) {
        let there = Self::step_time(self.step - self.first_step);
        if matches!(self.clock, Clock::Running { .. })
            || (there <= self.delay && !self.is_complete())
        {
            return;
        }
        let since = now + WAKE_UP;
        self.started_at.get_or_insert(since);
        self.clock = Clock::Running { since, from: Self::step_time(self.first_step) };
        if let Some(stopped) = self.stopped_at.take() {
            self.counts.stall += since - stopped;
        }
        self.note(now, Event::Playing);
    }

    /// Throws away what the decoder holds, raises the delay, and buffers from the next step on.
    fn flush(&mut self, now: Instant, due: Instant) {
        self.counts.underflows += 1;
        self.stopped_at = Some(due);
        self.clock = Clock::Stopped { position: Self::step_time(self.step) };
        self.note(now, Event::Underflow);
        self.late[self.late_place] = now - due;
        self.late_place = (self.late_place + 1) % self.late.len();
        let mut sorted = self.late;
        sorted.sort_unstable();
        if self.delay + sorted[1] <= self.base + MOST_JITTER {
            self.delay += sorted[1];
        }
        self.first_step = self.step;
        while self.film.time(self.picture) < Self::step_time(self.step) {
            self.picture += 1;
            self.counts.flushed += 1;
        }
    }
}

impl Player for Discard {
    fn on_bytes(&mut self, now: Instant, received_bytes: u64) {
        self.pass(now);
        let received = received_bytes.max(self.counts.received_bytes);
        self.counts.received_bytes = received;
        while self.step_ends.get(self.step).is_some_and(|end| *end <= received) {
            let end = self.step_ends[self.step];
            self.take_pictures(now, end);
            self.take_step(now);
        }
        self.take_pictures(now, received);
    }

    fn pass(&mut self, now: Instant) {
        let end = self.ends_at().filter(|at| *at < now && !self.ended);
        while let Some(at) = self.log.due(end.unwrap_or(now)).filter(|_| !self.ended) {
            self.note(at, Event::Sample);
        }
        if let Some(at) = end {
            self.ended = true;
            self.note(at, Event::Ended);
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
