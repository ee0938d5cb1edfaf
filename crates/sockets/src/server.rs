//! A server: many connections on one UDP port.

use crate::clock::Clock;
use crate::error::SocketError;
use crate::gate::{Entry, Gate, RetryPolicy};
use crate::limits::{Census, LOOK_AGAIN, Limits, neighbourhoods};
use crate::log;
use crate::peer::Peer;
use crate::poller::Poller;
use crate::session::Session;
use crate::socket::{Route, Socket, Space, TURN_BYTES, TURN_RECEIVES};
use crate::tls::{random, random_u64};
use crate::wait::wait;
use mpquic::wire::{ConnectionId, Kind, MIN_INITIAL_BYTES, WireError, parse, version_negotiation};
use mpquic::{Closed, Ecn, LOCAL_CID_BYTES, Retried, refuse, stateless_reset};
use std::collections::{BTreeSet, HashMap};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use units::{Duration, Instant};

/// How long a handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Answers to what belongs to no connection, in one turn: more would be a tool for floods.
const TURN_ANSWERS: usize = 8;
/// Retries and refusals in one turn: as many as it receives first packets, so that a flood cannot keep
/// an honest client from its own. Each is a tenth of what it answers.
const TURN_RETRIES: usize = 64;
/// How long a connection has to be idle before another one may have its place: a client asks within
/// a round trip or two.
const IDLE_ENOUGH: Duration = Duration::from_secs(5);
/// Why an idle connection is closed.
const MAKES_ROOM: u64 = 0x503;

/// What a server is built from.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// Each connection's endpoint.
    pub endpoint: mpquic::Config,
    /// Builds each connection's scheduler: which path carries the next packet of data.
    pub scheduler: scheduler::Factory,
    /// Folder for a qlog file of each connection.
    pub qlog: Option<PathBuf>,
    /// Connections and handshakes at a time; further ones are refused.
    pub limits: Limits,
    /// When a client has to prove its address first.
    pub retry: RetryPolicy,
    /// Time 0 of the endpoints and of forecasts.
    pub clock: Clock,
}

/// What runs on a server.
pub trait Service {
    /// A client's handshake is complete.
    fn open(&mut self, now: Instant, remote: SocketAddr) -> Box<dyn Session>;

    /// A connection is over.
    fn closed(&mut self, _remote: SocketAddr, _how: &Closed) {}

    /// When [`Service::look`] is to be called next.
    fn due(&self) -> Instant;

    /// A look at [`Service::due`]: false ends the server.
    fn look(&mut self, now: Instant, connections: usize) -> bool;
}

/// A listener and its connections.
pub struct Server {
    config: ServerConfig,
    port: u16,
    socket: Socket,
    space: Space,
    peers: HashMap<u64, Peer>,
    by_cid: HashMap<ConnectionId, u64>,
    next: u64,
    half_open: usize,
    census: Census,
    /// Connections that made room for others.
    evicted: Vec<SocketAddr>,
    /// Before then nobody is idle.
    busy_until: Instant,
    /// When each connection wants to be woken.
    timers: BTreeSet<(Instant, u64)>,
    /// Connections that something happened to.
    active: BTreeSet<u64>,
    /// What sessions have to be woken for; none of those of files has.
    wakers: Poller,
    gate: Gate,
    answers: usize,
    retries: usize,
}

impl Server {
    /// Listens on `address`.
    ///
    /// # Errors
    /// An address or port that is not available.
    pub fn bind(address: SocketAddr, mut config: ServerConfig) -> Result<Self, SocketError> {
        let socket = Socket::listen(address)?;
        config.qlog.as_deref().map_or(Ok(()), log::prepare)?;
        if config.endpoint.reset_key == [0; 32] {
            config.endpoint.reset_key = random();
        }
        let port = socket.local_addr().map_or(address.port(), |address| address.port());
        Ok(Self {
            wakers: Poller::new().map_err(SocketError::Wait)?,
            gate: Gate::new(config.retry),
            config,
            port,
            socket,
            space: Space::new(),
            peers: HashMap::new(),
            by_cid: HashMap::new(),
            next: 0,
            half_open: 0,
            census: Census::default(),
            evicted: Vec::new(),
            busy_until: Instant::ZERO,
            timers: BTreeSet::new(),
            active: BTreeSet::new(),
            answers: 0,
            retries: 0,
        })
    }

    /// The port that it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Serves until `service` ends it.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn run(&mut self, service: &mut dyn Service) -> Result<(), SocketError> {
        loop {
            let now = self.config.clock.now();
            if service.due() <= now && !service.look(now, self.peers.len()) {
                self.close_all(now);
                return Ok(());
            }
            let received = self.receive(now);
            let more = self.serve(now, service);
            if !received && !more {
                let timer = self.timers.first().map_or(Instant::FAR_FUTURE, |(at, _)| *at);
                // With a full socket nothing can be done before it takes more.
                let timer = if self.socket.is_blocked() { Instant::FAR_FUTURE } else { timer };
                let until = timer.min(service.due());
                let wakers = [self.wakers.fd()];
                wait(self.config.clock, std::iter::once(&self.socket), wakers, until)?;
            }
        }
    }

    fn close_all(&mut self, now: Instant) {
        for peer in self.peers.values_mut() {
            peer.endpoint.close(now, 0, b"the server ends");
            peer.transmit(now, &mut self.socket);
        }
        self.socket.flush().ok(); // it is over either way
    }

    // ---- what comes -----------------------------------------------------------------------------

    fn receive(&mut self, now: Instant) -> bool {
        (self.answers, self.retries) = (0, 0);
        let mut space = std::mem::replace(&mut self.space, Space::empty());
        let io = self.socket.io();
        let (mut rounds, mut bytes, mut more) = (0, 0, true);
        while more && rounds < TURN_RECEIVES && bytes < TURN_BYTES {
            more = io.receive(&mut space, |route, ecn, datagram| {
                bytes += datagram.len() as u64;
                self.on_datagram(now, (route, ecn), datagram);
            });
            rounds += 1;
        }
        self.space = space;
        more
    }

    fn on_datagram(&mut self, now: Instant, (route, ecn): (Route, Option<Ecn>), data: &mut [u8]) {
        let header = match parse(data, LOCAL_CID_BYTES) {
            Ok(header) => header,
            Err(WireError::Version(_)) => {
                let answer = version_negotiation(data, random::<1>()[0]);
                return self.answer(route, answer);
            }
            Err(_) => return,
        };
        if let Some(id) = self.by_cid.get(&header.dcid) {
            let id = *id;
            if let Some(peer) = self.peers.get_mut(&id) {
                peer.handle(now, (route, ecn), data);
                self.active.insert(id);
            }
            return;
        }
        match header.kind {
            Kind::Initial if data.len() >= MIN_INITIAL_BYTES => self.admit(now, (route, ecn), data),
            Kind::Short => {
                let key = self.config.endpoint.reset_key;
                self.answer(route, stateless_reset(&key, data, random()));
            }
            _ => {}
        }
    }

    fn answer(&mut self, route: Route, answer: Option<Vec<u8>>) {
        if self.answers < TURN_ANSWERS
            && let Some(answer) = answer
        {
            self.answers += 1;
            self.socket.queue(route, &answer, None).ok(); // lost, as packets are
        }
    }

    fn ask(&mut self, route: Route, retry: Option<Vec<u8>>) {
        if self.retries < TURN_RETRIES
            && let Some(retry) = retry
        {
            self.retries += 1;
            self.socket.queue(route, &retry, None).ok(); // lost, as packets are
        }
    }

    /// A first packet: a connection, if its address needs no proof or has one, there is room, and it
    /// decrypts.
    fn admit(&mut self, now: Instant, (route, ecn): (Route, Option<Ecn>), data: &mut [u8]) {
        let (limits, ip) = (self.config.limits, route.remote.ip());
        let settled = self.peers.len() - self.half_open;
        let full = self.half_open >= limits.half_open || settled >= limits.connections;
        let crowded = full || self.census.full(ip, &limits, false).is_some();
        let load = (self.half_open, limits.half_open, crowded);
        let retried = match self.gate.judge(now, route, data, load) {
            Entry::Open(retried) => retried,
            Entry::Ask(retry) => return self.ask(route, retry),
        };
        if !self.has_room(now, ip, retried.is_some()) {
            return self.ask(route, refuse(data, random())); // RFC 9000 §5.2.2
        }
        self.begin(now, (route, ecn), data, retried);
    }

    /// Whether there is room for another connection from `ip`, if need be in the place of an idle one.
    fn has_room(&mut self, now: Instant, ip: IpAddr, proven: bool) -> bool {
        let limits = self.config.limits;
        if self.half_open >= limits.half_open {
            return false;
        }
        if let Some(place) = self.census.full(ip, &limits, proven) {
            return self.census.may_look(now, ip, place) && self.evict(now, Some((place, ip)));
        }
        if self.peers.len() - self.half_open < limits.connections {
            return true;
        }
        self.busy_until <= now && self.evict(now, None)
    }

    /// Closes the connection that is idle the longest, of a neighbourhood or of all: false when none is.
    fn evict(&mut self, now: Instant, of: Option<(usize, IpAddr)>) -> bool {
        let of = of.map(|(place, ip)| (place, neighbourhoods(ip)[place]));
        let there =
            |peer: &Peer| of.is_none_or(|(place, key)| neighbourhoods(peer.ip)[place] == key);
        let idle = self.peers.iter().filter(|(_, peer)| there(peer));
        let idle = idle.filter_map(|(id, peer)| Some((peer.idle_since()?, *id))).min();
        let Some((_, id)) = idle.filter(|(since, _)| *since + IDLE_ENOUGH <= now) else {
            if of.is_none() {
                self.busy_until = now + LOOK_AGAIN;
            }
            return false;
        };
        if let Some(peer) = self.peers.get_mut(&id) {
            if !peer.closed {
                self.evicted.push(peer.remote());
            }
            peer.endpoint.close(now, MAKES_ROOM, b"idle, and others want in");
            peer.transmit(now, &mut self.socket);
        }
        self.forget(id);
        true
    }

    /// A handshake is complete; others may have taken the last places meanwhile.
    fn settle(&mut self, now: Instant, id: u64) {
        let settled = self.peers.len() - self.half_open;
        if settled > self.config.limits.connections
            && !self.evict(now, None)
            && let Some(peer) = self.peers.get_mut(&id)
        {
            peer.endpoint.close(now, MAKES_ROOM, b"busy");
            self.active.insert(id);
        }
    }

    fn begin(
        &mut self,
        now: Instant,
        (route, ecn): (Route, Option<Ecn>),
        data: &mut [u8],
        retried: Option<Retried>,
    ) {
        let scheduler = self.config.scheduler.build();
        let seed = random_u64();
        let endpoint = mpquic::Config { retried, ..self.config.endpoint.clone() };
        let Some(mut peer) = Peer::new(endpoint, scheduler, (now, route), seed) else { return };
        if let Some(folder) = &self.config.qlog {
            log::start(&mut peer.endpoint, now, folder, &format!("server-{seed:016x}"));
        }
        peer.handle(now, (route, ecn), data);
        if !peer.is_begun() {
            return;
        }
        let id = self.next;
        self.next += 1;
        self.half_open += 1;
        self.census.add(peer.ip, peer.proven);
        peer.gives_up_at = now + HANDSHAKE;
        self.peers.insert(id, peer);
        self.active.insert(id);
        self.register(id); // the first flight may have more than one datagram
    }

    /// Drops a connection and all that is known of it.
    fn forget(&mut self, id: u64) {
        let Some(peer) = self.peers.remove(&id) else { return };
        self.half_open -= usize::from(peer.is_half_open());
        self.census.remove(peer.ip, peer.proven);
        self.timers.remove(&(peer.wakes_at, id));
        self.active.remove(&id);
        for cid in peer.cids {
            self.by_cid.remove(&cid);
        }
    }

    /// Notes which connection IDs are a connection's.
    fn register(&mut self, id: u64) {
        let Some(peer) = self.peers.get_mut(&id) else { return };
        for (cid, came) in peer.endpoint.take_cid_changes() {
            if came {
                self.by_cid.insert(cid, id);
                peer.cids.insert(cid);
            } else {
                self.by_cid.remove(&cid);
                peer.cids.remove(&cid);
            }
        }
    }

    // ---- connections ----------------------------------------------------------------------------

    /// Lets every connection act that something happened to: true when one has more to send.
    fn serve(&mut self, now: Instant, service: &mut dyn Service) -> bool {
        while let Some((at, id)) = self.timers.first().copied()
            && at <= now
        {
            self.timers.pop_first();
            self.active.insert(id);
        }
        self.active.extend(self.wakers.take().into_iter().map(|ready| ready.token));
        for remote in std::mem::take(&mut self.evicted) {
            service.closed(remote, &Closed::Local);
        }
        let blocked = self.socket.is_blocked();
        let active = std::mem::take(&mut self.active);
        for id in active {
            self.advance(now, id, service, blocked);
        }
        self.socket.flush().ok(); // a route that is gone: what was sent there is lost
        !blocked && !self.active.is_empty() && !self.socket.is_blocked()
    }

    fn advance(&mut self, now: Instant, id: u64, service: &mut dyn Service, blocked: bool) {
        let Some(peer) = self.peers.get_mut(&id) else { return };
        let was_half_open = peer.is_half_open();
        peer.work(now, self.port, service);
        let more = blocked || peer.transmit(now, &mut self.socket) || peer.has_more();
        self.register(id);
        let Some(peer) = self.peers.get_mut(&id) else { return };
        if was_half_open && !peer.is_half_open() {
            self.half_open -= 1;
            if !std::mem::replace(&mut peer.proven, true) {
                self.census.prove(peer.ip); // RFC 9000 §8.1: by the handshake itself
            }
            if let Some(fd) = peer.descriptor()
                && self.wakers.add(fd, id).is_err()
            {
                // Too many watches (epoll(7)): it could not serve.
                peer.endpoint.close(now, MAKES_ROOM, b"busy");
            }
            self.settle(now, id);
        }
        let Some(peer) = self.peers.get_mut(&id) else { return };
        self.timers.remove(&(peer.wakes_at, id));
        if peer.is_over(now) {
            return self.forget(id);
        }
        peer.wakes_at = peer.next_timer();
        self.timers.insert((peer.wakes_at, id));
        if more {
            self.active.insert(id);
        }
    }
}
