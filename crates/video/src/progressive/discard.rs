//! `discard`: the clock runs on, and pictures that come late are dropped, as VLC 3.0 does.
//!
//! VLC reads the film in steps of 250 ms and tells its clock of the end of each. It starts when more than
//! its delay is there, counted in steps, and drops a picture that leaves the decoder more than half a
//! picture's time late. When the end of a step is due before the step is read ("called too late"), it
//! throws away what is decoded, raises its delay by the median of the last three latenesses, and buffers
//! anew from the end of the *next* step on: that step is read, and dropped as late when the clock runs
//! (videolan/vlc, `es_out.c`, `clock.c`, `video_output.c`, `mp4.c`, read in 3.0.24).

use super::clock::Clock;
use super::lateness::Lateness;
use super::log::{Counts, Event, Log, Row};
use super::{Player, Settings};
use crate::FrameTable;
use recovery::BlockedTime;
use units::{Duration, Instant};

/// `network-caching`.
const START_S: f64 = 1.0;
/// Media that the demultiplexer reads at a time.
const STEP: Duration = Duration::from_millis(250);
/// From the moment that enough is there to the first picture.
const WAKE_UP: Duration = Duration::from_millis(10);
/// By so much earlier are decoded pictures let go.
const JUST_BEFORE: Duration = Duration::from_millis(1);
/// `clock-jitter`: the delay grows by at most so much.
const MOST_JITTER: Duration = Duration::from_secs(5);
/// Threads − 1 and the depth of reordering, at three threads.
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
    late: Lateness,
    asked_at: Instant,
    started_at: Option<Instant>,
    /// When the clock was stopped.
    stopped_at: Option<Instant>,
    clock: Clock,
    /// Where the viewer is.
    position: Duration,
    /// The step from whose end the clock runs, or will, and when it was there; `None`: the next one.
    first_step: Option<(usize, Instant)>,
    /// When all of the film was there.
    complete_at: Option<Instant>,
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
            late: Lateness::default(),
            asked_at: now,
            started_at: None,
            stopped_at: None,
            clock: Clock::Stopped { position: Duration::ZERO },
            position: Duration::ZERO,
            first_step: Some((0, now)),
            complete_at: None,
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
            let time = self.film.time(self.picture);
            let is_late = match self.clock {
                // They wait until just before the clock starts, and are looked at then.
                Clock::Stopped { position } => time + grace + JUST_BEFORE < position,
                Clock::Running { since, from } => now + from > since + time + grace,
            };
            if is_late {
                self.counts.discarded += 1;
            } else {
                self.counts.shown += 1;
            }
            self.picture += 1;
        }
    }

    /// A step is there: its end is due now, or later, or was due already.
    fn take_step(&mut self, now: Instant) {
        self.step += 1;
        let end = Self::step_time(self.step);
        if self.is_complete() {
            self.complete_at = Some(now);
            self.start(now);
            return;
        }
        match (self.clock, self.first_step) {
            (Clock::Running { .. }, _) => {
                let due = self.clock.reaches(end).filter(|due| now > *due);
                if let Some(due) = due {
                    self.flush(now, now - due);
                }
            }
            (Clock::Stopped { .. }, None) => self.first_step = Some((self.step, now)),
            (Clock::Stopped { .. }, Some((first, since))) => {
                let due = since + self.delay + (end - Self::step_time(first));
                self.late.note(now.since(due));
                self.start(now);
            }
        }
    }

    /// Starts the clock if more than the delay is there.
    fn start(&mut self, now: Instant) {
        let (first, _) = self.first_step.unwrap_or((self.step, now));
        let there = Self::step_time(self.step - first);
        if matches!(self.clock, Clock::Running { .. })
            || (there <= self.delay && !self.is_complete())
        {
            return;
        }
        let since = now + WAKE_UP;
        self.started_at.get_or_insert(since);
        self.clock = Clock::Running { since, from: Self::step_time(first) };
        if let Some(stopped) = self.stopped_at.take() {
            self.counts.stall += since - stopped;
        }
        self.note(now, Event::Playing);
    }

    /// Throws away what the decoder holds, raises the delay, and buffers from the end of the next step on.
    fn flush(&mut self, now: Instant, late: Duration) {
        self.counts.underflows += 1;
        self.stopped_at = Some(now);
        self.clock = Clock::Stopped { position: Self::step_time(self.step + 1) };
        self.first_step = None;
        self.note(now, Event::Underflow);
        self.late.note(late);
        let raised = self.delay + self.late.median();
        let raise =
            if raised <= self.base + MOST_JITTER { raised - self.delay } else { Duration::ZERO };
        self.delay += raise;
        self.late.lower(raise);
        // The first one that is decoded afterwards finds no clock.
        let lost = Self::step_time(self.step) + self.film.period() - JUST_BEFORE;
        while self.film.time(self.picture) < lost && self.picture < self.film.count() {
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

    fn on_blocked(&mut self, now: Instant, blocked: BlockedTime) {
        self.pass(now);
        let stood = self.stopped_at.map_or(Duration::ZERO, |since| now - since);
        self.counts.blocked += blocked.within_last(stood);
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
        // A clock that passed the end before the last step came ends with that step.
        let complete = self.complete_at?;
        self.clock.reaches(self.film.duration()).map(|end| end.max(complete))
    }
}
