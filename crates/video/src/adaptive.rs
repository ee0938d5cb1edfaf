//! The adaptive player: chunks in turn, each in the quality that an algorithm chooses.
//!
//! Sans-IO. The caller asks [`Adaptive::poll`] for the next request, reports what comes of it, and calls
//! [`Adaptive::poll`] again when [`Adaptive::poll_at`] is due. Rules as in Sabre: the play-out starts with
//! the first chunk, stops when the buffer is empty, goes on with the next chunk; a request waits until
//! buffer and chunk together fit.

use crate::abr::{Abr, Download, Estimator, HISTORY, View};
use crate::error::within;
use crate::session::{Entry, Event, Session};
use crate::{Ladder, Qoe, VideoError};
use forecast::Forecast;
use recovery::BlockedTime;
use units::{Duration, Instant};

/// A download is looked at again after both of these.
const LOOK_EACH: Duration = Duration::from_millis(50);
const LOOK_BYTES: u64 = 1500;

/// What a session is about.
#[derive(Clone, Debug)]
pub struct Film {
    /// Qualities and sizes of all chunks.
    pub ladder: Ladder,
    /// What the session is judged by.
    pub qoe: Qoe,
    /// Media that the player keeps at most.
    pub most_buffer_s: f64,
    /// What is foreseen of the rate at the beginning, if anything is.
    pub forecast: Option<Forecast>,
    /// Chunks may be given up on their way.
    pub gives_up: bool,
}

impl Film {
    /// # Errors
    /// [`VideoError::Range`]: a buffer that no chunk fits into.
    pub fn check(&self) -> Result<(), VideoError> {
        within("buffer_s", self.most_buffer_s, (self.ladder.chunk_s(), 3600.0))
    }
}

/// A chunk to ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Which, from 0.
    pub chunk: usize,
    /// In which quality.
    pub quality: usize,
    /// Its size.
    pub bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// The next chunk is chosen when there is room for it.
    Full {
        since: Instant,
        until: Instant,
    },
    /// It was chosen, and is asked for then.
    Holding {
        quality: usize,
        until: Instant,
    },
    Asking(Pending),
    Done,
}

/// A chunk on its way.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Pending {
    request: Request,
    asked_at: Instant,
    buffer_s: f64,
    first_at: Option<Instant>,
    received_bytes: u64,
    looked_at: Instant,
    looked_bytes: u64,
}

/// An adaptive session.
#[derive(Debug)]
pub struct Adaptive {
    film: Film,
    abr: Box<dyn Abr>,
    state: State,
    chunk: usize,
    past: Vec<Download>,
    estimator: Estimator,
    session: Session,
}

impl Adaptive {
    /// A session that begins at `now`.
    ///
    /// # Errors
    /// As [`Film::check`].
    pub fn new(film: Film, abr: Box<dyn Abr>, now: Instant) -> Result<Self, VideoError> {
        film.check()?;
        let chunk_s = film.ladder.chunk_s();
        Ok(Self {
            abr,
            state: State::Full { since: now, until: now },
            chunk: 0,
            past: Vec::new(),
            estimator: Estimator::new(chunk_s),
            session: Session::new(chunk_s, now),
            film,
        })
    }

    /// What is foreseen of the rate from now on, unless what is known was issued later.
    pub fn foresee(&mut self, forecast: Forecast) {
        let known = self.film.forecast.as_ref();
        if known.is_none_or(|known| known.issued_at <= forecast.issued_at) {
            self.film.forecast = Some(forecast);
        }
    }

    /// What was seen so far.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// What a session was worth.
    pub fn qoe(&self, session: &Session) -> f64 {
        self.film.qoe.total(&session.terms())
    }

    /// The session after `end`, or after the film if all of it is there.
    pub fn closed(&self, end: Instant) -> Session {
        self.session.closed(end)
    }

    /// Everything has come.
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// When [`Adaptive::poll`] has something to say; `None`: not before a chunk comes.
    pub fn poll_at(&self) -> Option<Instant> {
        match self.state {
            State::Full { until, .. } | State::Holding { until, .. } => Some(until),
            State::Asking(_) | State::Done => None,
        }
    }

    /// The chunk to ask for now, if one is due.
    pub fn poll(&mut self, now: Instant) -> Option<Request> {
        self.session.pass(now);
        if let State::Full { since, until } = self.state {
            if until > now {
                return None;
            }
            let waited = (until - since).as_secs_f64();
            if waited > 0.0 {
                self.abr.on_full(waited);
            }
            let (quality, wait_s) = self.choose(now);
            let until = now + Duration::try_from_secs_f64(wait_s).unwrap_or(Duration::ZERO);
            self.state = State::Holding { quality, until };
        }
        let State::Holding { quality, until } = self.state else { return None };
        if until > now {
            return None;
        }
        Some(self.ask(now, quality))
    }

    /// What comes now filled a hole: until then something had waited for it for so long. Called before
    /// [`Adaptive::on_bytes`].
    pub fn on_blocked(&mut self, now: Instant, blocked: BlockedTime) {
        self.session.on_blocked(now, blocked);
    }

    /// `received_bytes` of the chunk have arrived. True if the player abandons the chunk; [`Adaptive::poll`]
    /// then has the next request.
    pub fn on_bytes(&mut self, now: Instant, received_bytes: u64) -> bool {
        self.session.pass(now);
        let State::Asking(mut pending) = self.state else { return false };
        let received = received_bytes.min(pending.request.bytes);
        if received == 0 {
            return false;
        }
        pending.first_at.get_or_insert(now);
        pending.received_bytes = received.max(pending.received_bytes);
        self.state = State::Asking(pending);
        if pending.received_bytes == pending.request.bytes {
            self.complete(now, &pending);
            return false;
        }
        self.look(now, pending)
    }

    /// The first byte is on its way from here on, as far as the transport knows: only a network in
    /// which latency and rate are apart says so, others leave it to [`Adaptive::on_bytes`].
    pub fn on_first_byte(&mut self, now: Instant) {
        self.session.pass(now);
        if let State::Asking(pending) = &mut self.state {
            pending.first_at.get_or_insert(now);
        }
    }

    fn view<'a>(&'a self, now: Instant, buffer_s: f64) -> View<'a> {
        View {
            now,
            buffer_s,
            most_buffer_s: self.film.most_buffer_s,
            chunk: self.chunk,
            ladder: &self.film.ladder,
            qoe: &self.film.qoe,
            past: &self.past,
            estimate: self.estimator.estimate(),
            forecast: self.film.forecast.as_ref(),
        }
    }

    /// Lets the algorithm see the session.
    fn with_abr<T>(
        &mut self,
        now: Instant,
        buffer_s: f64,
        act: impl FnOnce(&mut dyn Abr, &View<'_>) -> T,
    ) -> T {
        let mut abr = std::mem::replace(&mut self.abr, Box::new(Away));
        let found = act(&mut *abr, &self.view(now, buffer_s));
        self.abr = abr;
        found
    }

    fn choose(&mut self, now: Instant) -> (usize, f64) {
        let buffer_s = self.session.buffer_s(now);
        let is_first = self.chunk == 0 && self.past.is_empty();
        let (quality, wait_s) = self.with_abr(now, buffer_s, |abr, view| {
            if is_first {
                return (abr.first(view), 0.0);
            }
            let wanted = abr.choose(view);
            (wanted.quality, wanted.wait_s)
        });
        (quality.min(self.film.ladder.top()), wait_s)
    }

    fn ask(&mut self, now: Instant, quality: usize) -> Request {
        let bytes = self.film.ladder.bytes(self.chunk, quality);
        let request = Request { chunk: self.chunk, quality, bytes };
        self.note(now, Event::Request, &request, 0);
        self.state = State::Asking(Pending {
            request,
            asked_at: now,
            buffer_s: self.session.buffer_s(now),
            first_at: None,
            received_bytes: 0,
            looked_at: now,
            looked_bytes: 0,
        });
        request
    }

    /// Asks the algorithm whether to give the chunk up; the first one never is.
    fn look(&mut self, now: Instant, mut pending: Pending) -> bool {
        let due = now >= pending.looked_at + LOOK_EACH
            && pending.received_bytes >= pending.looked_bytes + LOOK_BYTES;
        if !self.film.gives_up || pending.request.chunk == 0 || !due {
            return false;
        }
        (pending.looked_at, pending.looked_bytes) = (now, pending.received_bytes);
        self.state = State::Asking(pending);
        let download = download(now, &pending);
        let buffer_s = (pending.buffer_s - download.elapsed_s).max(0.0);
        let wanted = self.with_abr(now, buffer_s, |abr, view| abr.give_up(&download, view));
        let Some(instead) = wanted else { return false };
        self.note(now, Event::GivenUp, &pending.request, pending.received_bytes);
        let buffer_s = self.session.buffer_s(now);
        self.with_abr(now, buffer_s, |abr, view| abr.on_chunk(&download, Some(instead), view));
        self.wait_for_room(now);
        true
    }

    fn complete(&mut self, now: Instant, pending: &Pending) {
        let quality = pending.request.quality;
        self.note(now, Event::Response, &pending.request, pending.received_bytes);
        self.session.add_chunk(now, &self.film.qoe, quality, self.film.ladder.mbps(quality));
        let download = download(now, pending);
        let buffer_s = self.session.buffer_s(now);
        self.with_abr(now, buffer_s, |abr, view| abr.on_chunk(&download, None, view));
        let seconds = download.elapsed_s - download.latency_s;
        self.estimator.push(seconds, download.mbps(), download.latency_s);
        if self.past.len() == HISTORY {
            self.past.remove(0);
        }
        self.past.push(download);
        self.chunk += 1;
        if self.chunk == self.film.ladder.chunks() {
            self.state = State::Done;
            self.session.finish();
        } else {
            self.wait_for_room(now);
        }
    }

    fn wait_for_room(&mut self, now: Instant) {
        let beyond_s =
            self.session.buffer_s(now) + self.film.ladder.chunk_s() - self.film.most_buffer_s;
        let until = now + Duration::try_from_secs_f64(beyond_s).unwrap_or(Duration::ZERO);
        self.state = State::Full { since: now, until };
    }

    fn note(&mut self, now: Instant, event: Event, request: &Request, received_bytes: u64) {
        let entry = Entry {
            chunk: request.chunk,
            quality: request.quality,
            mbps: self.film.ladder.mbps(request.quality),
            bytes: request.bytes,
            received_bytes,
        };
        self.session.note(now, event, Some(entry));
    }
}

fn download(now: Instant, pending: &Pending) -> Download {
    let first_at = pending.first_at.unwrap_or(now);
    Download {
        quality: pending.request.quality,
        bytes: pending.request.bytes,
        received_bytes: pending.received_bytes,
        latency_s: (first_at - pending.asked_at).as_secs_f64(),
        elapsed_s: (now - pending.asked_at).as_secs_f64(),
    }
}

/// Stands where the algorithm was while it looks at the session.
#[derive(Debug)]
struct Away;

impl Abr for Away {
    fn choose(&mut self, _view: &View<'_>) -> crate::abr::Wanted {
        crate::abr::Wanted::now(0)
    }
}
