//! The beginning of a connection: paths and addresses are tried one after the other, and the first
//! that answers wins (after RFC 8305).

use crate::client::{ClientConfig, MOST_LANES, error_of};
use crate::error::SocketError;
use crate::interfaces::{Local, exists};
use crate::log;
use crate::session::{Session, Status};
use crate::socket::{Route, Socket, Space};
use crate::tls::{random, random_u64};
use crate::wait::wait;
use mpquic::{Closed, Endpoint, Event};
use std::collections::VecDeque;
use std::net::SocketAddr;
use units::{Duration, Instant, PathId};

/// How long after a candidate the next one begins (RFC 8305 §5).
const STAGGER: Duration = Duration::from_millis(250);
/// How long after a refusal by the server's machine the same is tried again: it may be starting.
const AGAIN: Duration = Duration::from_millis(500);
/// Closes the connections that are not needed.
const FASTER: u64 = 0xfa;

struct Attempt {
    lane: usize,
    remote: SocketAddr,
    socket: Socket,
    endpoint: Endpoint,
    events: Vec<Event>,
}

/// What a connection begins with.
pub(crate) struct Winner {
    pub lane: usize,
    pub remote: SocketAddr,
    pub endpoint: Endpoint,
    pub socket: Socket,
    pub events: Vec<Event>,
}

pub(crate) struct Race<'a> {
    config: &'a ClientConfig,
    candidates: VecDeque<(usize, SocketAddr)>,
    next_at: Instant,
    /// Those where nobody listened, and when they are tried again.
    refused: Vec<(Instant, (usize, SocketAddr))>,
    attempts: Vec<Attempt>,
    error: Option<SocketError>,
}

impl<'a> Race<'a> {
    pub fn new(config: &'a ClientConfig) -> Result<Self, SocketError> {
        if config.paths.is_empty() || config.paths.len() > MOST_LANES {
            let paths = config.paths.len();
            let say = format!("{paths} paths were given; a client has 1 to {MOST_LANES}");
            return Err(SocketError::Config(say));
        }
        for local in &config.paths {
            if let Local::Interface(name) = local
                && !exists(name)
            {
                return Err(SocketError::NoInterface(name.clone()));
            }
        }
        config.qlog.as_deref().map_or(Ok(()), log::prepare)?;
        let lanes = 0..config.paths.len();
        let remotes = config.servers.iter();
        let candidates =
            remotes.flat_map(|remote| lanes.clone().map(|lane| (lane, *remote))).collect();
        let next_at = config.clock.now();
        let (refused, attempts) = (Vec::new(), Vec::new());
        Ok(Self { config, candidates, next_at, refused, attempts, error: None })
    }

    pub fn run(
        mut self,
        space: &mut Space,
        session: &mut dyn Session,
    ) -> Result<Winner, SocketError> {
        let clock = self.config.clock;
        let deadline = clock.now() + self.config.patience;
        loop {
            let now = clock.now();
            if session.due() <= now && session.look(now, &[]) != Status::Working {
                return Err(SocketError::Stopped);
            }
            self.launch(now)?;
            if let Some(winner) = self.turn(now, space)? {
                return Ok(winner);
            }
            let left = self.candidates.len() + self.refused.len() + self.attempts.len();
            if left == 0 {
                return Err(self.error.take().unwrap_or_else(|| self.no_answer()));
            }
            if now >= deadline {
                return Err(self.no_answer());
            }
            let timers = self.attempts.iter().filter_map(|one| one.endpoint.poll_timeout());
            let until = timers.min().unwrap_or(deadline).min(deadline).min(session.due());
            let again = self.refused.iter().map(|(at, _)| *at).min().unwrap_or(deadline);
            let next_at = if self.candidates.is_empty() { again } else { self.next_at.min(again) };
            wait(clock, self.attempts.iter().map(|one| &one.socket), None, until.min(next_at))?;
        }
    }

    fn no_answer(&self) -> SocketError {
        let paths: Vec<String> = self.config.paths.iter().map(Local::to_string).collect();
        SocketError::NoAnswer {
            remote: self.config.name.clone(),
            seconds: self.config.patience.as_secs(),
            paths: paths.join(", "),
        }
    }

    /// Begins with the next candidate when it is time, or when none is under way.
    fn launch(&mut self, now: Instant) -> Result<(), SocketError> {
        let due = self.refused.extract_if(.., |(at, _)| *at <= now);
        self.candidates.extend(due.map(|(_, candidate)| candidate));
        while (self.next_at <= now || self.attempts.is_empty())
            && let Some((lane, remote)) = self.candidates.pop_front()
        {
            let socket = match Socket::connect(&self.config.paths[lane], remote, 0) {
                Ok(socket) => socket,
                Err(error) => {
                    self.error = Some(error); // the next one may do
                    continue;
                }
            };
            let scheduler = self.config.scheduler.build();
            let at = (now, PathId(lane as u8));
            let seed = random_u64();
            // (Whoever knew the key could reset the connection: RFC 9000 §10.3.2.)
            let config = mpquic::Config { reset_key: random(), ..self.config.endpoint.clone() };
            let endpoint = Endpoint::new(config, scheduler, at, seed);
            let mut endpoint = endpoint.map_err(|error| SocketError::Tls(error.to_string()))?;
            self.config.mark_backups(&mut endpoint);
            if let Some(folder) = &self.config.qlog {
                log::start(&mut endpoint, now, folder, &format!("client-{seed:016x}"));
            }
            self.attempts.push(Attempt { lane, remote, socket, endpoint, events: Vec::new() });
            self.next_at = now + STAGGER;
        }
        Ok(())
    }

    /// Lets every attempt advance; the one that is connected, if there is one.
    fn turn(&mut self, now: Instant, space: &mut Space) -> Result<Option<Winner>, SocketError> {
        let mut won = None;
        let mut failed = Vec::new();
        for (place, attempt) in self.attempts.iter_mut().enumerate() {
            match attempt.turn(now, space) {
                Outcome::Open => {}
                Outcome::Connected => won = won.or(Some(place)),
                Outcome::Refused => {
                    self.refused.push((now + AGAIN, (attempt.lane, attempt.remote)));
                    failed.push(place);
                }
                Outcome::Over(closed) => match error_of(self.config, &closed) {
                    error @ SocketError::Certificate(_) => return Err(error),
                    error => {
                        self.error = Some(error);
                        failed.push(place);
                    }
                },
                Outcome::NoPath(error) => {
                    self.error = Some(error);
                    failed.push(place);
                }
            }
        }
        let Some(place) = won else {
            failed.into_iter().rev().for_each(|place| drop(self.attempts.remove(place)));
            return Ok(None);
        };
        let Attempt { lane, remote, socket, endpoint, events } = self.attempts.swap_remove(place);
        for mut other in self.attempts.drain(..) {
            other.endpoint.close(now, FASTER, b"another path was faster");
            other.transmit(now).ok(); // it is over either way
        }
        Ok(Some(Winner { lane, remote, endpoint, socket, events }))
    }
}

enum Outcome {
    Open,
    Connected,
    /// Nobody listens there.
    Refused,
    Over(Closed),
    NoPath(SocketError),
}

impl Attempt {
    fn turn(&mut self, now: Instant, space: &mut Space) -> Outcome {
        let (endpoint, net) = (&mut self.endpoint, PathId(self.lane as u8));
        self.socket.io().receive(space, |_, ecn, datagram| {
            endpoint.handle_in_place(now, net, datagram, ecn);
        });
        if self.endpoint.poll_timeout().is_some_and(|at| at <= now) {
            self.endpoint.on_timeout(now);
        }
        self.events.append(&mut self.endpoint.take_events());
        if let Err(error) = self.transmit(now) {
            let address = self.remote.to_string();
            return Outcome::NoPath(SocketError::Bind { address, reason: error.to_string() });
        }
        let closed = self.events.iter().find_map(|event| match event {
            Event::Closed(closed) => Some(closed.clone()),
            _ => None,
        });
        match closed {
            Some(closed) => Outcome::Over(closed),
            None if self.endpoint.is_connected() => Outcome::Connected,
            None if self.socket.io().take_refused() => Outcome::Refused,
            None => Outcome::Open,
        }
    }

    fn transmit(&mut self, now: Instant) -> std::io::Result<()> {
        let route = Route { remote: self.remote, local: None };
        while let Some((_, datagram)) = self.endpoint.poll_transmit(now) {
            self.socket.queue(route, &datagram, None)?;
        }
        self.socket.flush()
    }
}
