//! One connection of a server.

use crate::server::Service;
use crate::session::{Ends, PathReport, Session, Status};
use crate::socket::{Route, Socket};
use mpquic::wire::ConnectionId;
use mpquic::{Config, Ecn, Endpoint, Event};
use scheduler::Scheduler;
use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::BorrowedFd;
use units::{Instant, PathId};

/// Addresses of a client that are distinguished; the endpoint's own limit of paths.
const MAX_ROUTES: usize = 64;
/// Datagrams made in one turn, before the next connection has its turn.
const TURN_DATAGRAMS: usize = 256;

/// Addresses of both ends, and what came from there.
#[derive(Clone, Copy, Debug)]
struct Place {
    route: Route,
    received_bytes: u64,
}

pub(crate) struct Peer {
    pub endpoint: Endpoint,
    /// [`PathId`]s are places in it.
    places: Vec<Place>,
    session: Option<Box<dyn Session>>,
    pub cids: BTreeSet<ConnectionId>,
    pub wakes_at: Instant,
    /// A handshake that is not complete then will not be.
    pub gives_up_at: Instant,
    /// Where its first packet came from; it counts there.
    pub ip: IpAddr,
    /// That address is proven.
    pub proven: bool,
    pub closed: bool,
}

impl Peer {
    pub fn new(
        config: Config,
        scheduler: Box<dyn Scheduler>,
        (now, route): (Instant, Route),
        seed: u64,
    ) -> Option<Self> {
        let proven = config.retried.is_some();
        let endpoint = Endpoint::new(config, scheduler, (now, PathId(0)), seed).ok()?;
        Some(Self {
            endpoint,
            places: vec![Place { route, received_bytes: 0 }],
            session: None,
            cids: BTreeSet::new(),
            wakes_at: Instant::FAR_FUTURE,
            gives_up_at: Instant::FAR_FUTURE,
            ip: route.remote.ip(),
            proven,
            closed: false,
        })
    }

    /// The first packet was a client's.
    pub fn is_begun(&self) -> bool {
        self.is_bound(0)
    }

    pub fn is_half_open(&self) -> bool {
        self.session.is_none()
    }

    /// Since when nobody would miss it: it is closed, or without a request.
    pub fn idle_since(&self) -> Option<Instant> {
        if self.closed {
            return Some(Instant::ZERO);
        }
        self.session.as_ref().and_then(|session| session.idle_since())
    }

    /// What else it has to be woken for.
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.session.as_ref().and_then(|session| session.descriptor())
    }

    /// Its application has more, and there is room.
    pub fn has_more(&self) -> bool {
        !self.closed
            && self.session.as_ref().is_some_and(|session| session.has_more(&self.endpoint))
    }

    /// Where its client is.
    pub fn remote(&self) -> SocketAddr {
        self.places[0].route.canonical().remote
    }

    /// Nothing more will come of it.
    pub fn is_over(&self, now: Instant) -> bool {
        self.endpoint.is_over() || (self.is_half_open() && self.gives_up_at <= now)
    }

    pub fn next_timer(&self) -> Instant {
        let own = self.session.as_ref().map_or(self.gives_up_at, |session| session.due());
        self.endpoint.poll_timeout().map_or(own, |at| at.min(own))
    }

    fn is_bound(&self, place: usize) -> bool {
        self.endpoint.has_path(PathId(place as u8))
    }

    /// A datagram for this connection. Its addresses become a path's when it is authentic.
    pub fn handle(&mut self, now: Instant, (route, ecn): (Route, Option<Ecn>), data: &mut [u8]) {
        let Some(place) = self.place_of(route) else { return };
        self.places[place].received_bytes += data.len() as u64;
        self.endpoint.handle_in_place(now, PathId(place as u8), data, ecn);
    }

    fn place_of(&mut self, route: Route) -> Option<usize> {
        if let Some(known) = self.places.iter().position(|place| place.route == route) {
            return Some(known);
        }
        let fresh = Place { route, received_bytes: 0 };
        if self.places.len() < MAX_ROUTES {
            self.places.push(fresh);
            return Some(self.places.len() - 1);
        }
        // Places without a path are those of what was not authentic, or is over.
        let free = (0..MAX_ROUTES).find(|place| !self.is_bound(*place))?;
        self.places[free] = fresh;
        Some(free)
    }

    /// Timers, and the application's part.
    pub fn work(&mut self, now: Instant, port: u16, service: &mut dyn Service) {
        if self.endpoint.poll_timeout().is_some_and(|at| at <= now) {
            self.endpoint.on_timeout(now);
        }
        let events = self.endpoint.take_events();
        let remote = self.remote();
        if self.session.is_none() && events.contains(&Event::Connected) {
            self.session = Some(service.open(now, remote));
        }
        let Some(session) = &mut self.session else { return };
        for event in &events {
            if let Event::PathEstablished(net) = event
                && let Some(place) = self.places.get(net.index())
            {
                let Route { local, remote } = place.route.canonical();
                session.on_path(&mut self.endpoint, *net, Ends { local, remote: remote.ip() });
            }
        }
        let status = session.work(now, &mut self.endpoint, &events);
        let is_due = session.due() <= now;
        let looked = if is_due { self.look(now, port) } else { Status::Working };
        for status in [status, looked] {
            if let Status::Done(code) = status {
                self.endpoint.close(now, code, b"");
            }
        }
        let later = self.endpoint.take_events(); // of closing
        for event in events.iter().chain(&later) {
            if let Event::Closed(how) = event {
                self.closed = true;
                service.closed(remote, how);
            }
        }
    }

    fn look(&mut self, now: Instant, port: u16) -> Status {
        let reports: Vec<PathReport> = self
            .places
            .iter()
            .enumerate()
            .map(|(place, of)| {
                let stats = self.endpoint.path_stats(PathId(place as u8));
                let found = (stats, self.is_bound(place));
                PathReport::of_route(of.route, port, found, of.received_bytes)
            })
            .collect();
        match &mut self.session {
            Some(session) => session.look(now, &reports),
            None => Status::Working,
        }
    }

    /// Sends what the endpoint has: true when it may have more.
    pub fn transmit(&mut self, now: Instant, socket: &mut Socket) -> bool {
        for _ in 0..TURN_DATAGRAMS {
            let Some((net, datagram)) = self.endpoint.poll_transmit(now) else { return false };
            if let Some(place) = self.places.get(net.index()) {
                // A route that is gone: what was sent there is lost.
                let mark = self.endpoint.marks_ecn(net).then_some(Ecn::Ect0);
                socket.queue(place.route, &datagram, mark).ok();
            }
        }
        true
    }
}
