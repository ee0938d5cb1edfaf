//! A client: one connection over several interfaces.

mod paths;

use crate::clock::Clock;
use crate::connect::{Race, Winner};
use crate::error::{SocketError, words};
use crate::interfaces::Local;
use crate::lane::Lane;
use crate::session::{PathReport, Session, Status};
use crate::socket::{Route, Space, TURN_BYTES, TURN_RECEIVES};
use crate::tls::Trust;
use crate::wait::wait;
use crate::watch::Watch;
use mpquic::{Closed, Code, Ecn, Endpoint, Event, PathManager};
use std::net::SocketAddr;
use std::path::PathBuf;
use units::{Duration, Instant, PathId};

/// How often interfaces are looked at.
const TEND: Duration = Duration::from_millis(250);
/// How soon they are looked at after a datagram could not be sent.
const TEND_SOON: Duration = Duration::from_millis(20);
/// How long a socket that takes no more holds the others up; then its datagrams are lost.
const PATIENCE: Duration = Duration::from_millis(20);
/// Datagrams made in one turn, before what came is looked at.
const TURN_DATAGRAMS: usize = 256;
/// Paths of one client.
pub(crate) const MOST_LANES: usize = 32;

/// What a client is built from.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// Addresses of the server, the preferred one first.
    pub servers: Vec<SocketAddr>,
    /// What the server is called in messages.
    pub name: String,
    /// Local ends of the paths, the preferred one first.
    pub paths: Vec<Local>,
    /// Those of them, by place, that carry data only while no other path is usable.
    pub backups: Vec<usize>,
    /// The endpoint.
    pub endpoint: mpquic::Config,
    /// How the server is verified; the same as in `endpoint`.
    pub trust: Trust,
    /// Builds the scheduler: which path carries the next packet of data.
    pub scheduler: scheduler::Factory,
    /// Folder for a qlog file of each connection.
    pub qlog: Option<PathBuf>,
    /// How long the server may take to answer.
    pub patience: Duration,
    /// Time 0 of the endpoint and of forecasts.
    pub clock: Clock,
}

impl ClientConfig {
    /// Tells a new endpoint which paths are backups.
    pub(crate) fn mark_backups(&self, endpoint: &mut Endpoint) {
        for place in &self.backups {
            for net in nets_of(*place) {
                let _known = endpoint.set_path_status(net, true); // places are below `MOST_LANES`
            }
        }
    }
}

/// What the paths of a lane are called: its place, or the one beside while the former path there
/// could not be given up yet.
fn nets_of(place: usize) -> [PathId; 2] {
    [place, place + MOST_LANES].map(|net| PathId(net as u8))
}

/// A connection and its paths.
pub struct Client {
    config: ClientConfig,
    endpoint: Endpoint,
    lanes: Vec<Lane>,
    space: Space,
    events: Vec<Event>,
    watch: Option<Watch>,
    tend_at: Instant,
    blocked_since: Option<Instant>,
    /// What becomes of the paths; a lane is an interface.
    manager: PathManager,
}

impl Client {
    /// Connects: the first path that answers becomes the connection's first.
    ///
    /// # Errors
    /// No interface, no answer, a certificate that is refused, or the session's wish to stop.
    pub fn connect(config: ClientConfig, session: &mut dyn Session) -> Result<Self, SocketError> {
        let mut space = Space::new();
        let Winner { lane, remote, endpoint, socket, events } =
            Race::new(&config)?.run(&mut space, session)?;
        let lane_of = |local: &Local| Lane::new(local.clone(), remote, config.servers.clone());
        let mut lanes: Vec<Lane> = config.paths.iter().map(lane_of).collect();
        lanes[lane].begin(socket, PathId(lane as u8));
        let mut manager = PathManager::default();
        manager.begin(PathId(lane as u8));
        let tend_at = Instant::ZERO;
        let client = Self {
            config,
            endpoint,
            lanes,
            space,
            events,
            watch: Watch::new(),
            tend_at,
            blocked_since: None,
            manager,
        };
        Ok(client)
    }

    /// The endpoint, to read from.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Runs `session` until it is done or the connection over: how it ended.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn run(&mut self, session: &mut dyn Session) -> Result<Closed, SocketError> {
        loop {
            let now = self.config.clock.now();
            let received = self.receive(now);
            if self.endpoint.poll_timeout().is_some_and(|at| at <= now) {
                self.endpoint.on_timeout(now);
            }
            let closed = self.advance(now, session);
            let closed = self.look(now, session).or(closed);
            let mut more = self.transmit(now); // with the last words of a connection that is over
            if let Some(closed) = closed {
                return Ok(closed);
            }
            if self.is_refused() {
                return Ok(Closed::StatelessReset); // who is gone has lost its state, too
            }
            more |= self.blocked_since.is_none() && session.has_more(&self.endpoint);
            if !received && !more {
                self.wait(now, session)?;
            }
        }
    }

    fn look(&mut self, now: Instant, session: &mut dyn Session) -> Option<Closed> {
        if session.due() > now {
            return None;
        }
        let Status::Done(code) = session.look(now, &self.reports()) else { return None };
        self.endpoint.close(now, code, b"");
        Some(Closed::Local)
    }

    fn wait(&self, now: Instant, session: &dyn Session) -> Result<(), SocketError> {
        let blocked = self.blocked_since.map(|since| since + PATIENCE).filter(|at| *at > now);
        let timer = match blocked {
            Some(at) => at, // nothing is made meanwhile, whatever the endpoint wants
            None => self.endpoint.poll_timeout().unwrap_or(Instant::FAR_FUTURE),
        };
        let policy = self.manager.poll_timeout().unwrap_or(Instant::FAR_FUTURE);
        let until = timer.min(session.due()).min(self.tend_at).min(policy);
        let sockets = self.lanes.iter().filter_map(|lane| lane.socket.as_ref());
        let others = self.watch.iter().map(Watch::fd).chain(session.descriptor());
        wait(self.config.clock, sockets, others, until)
    }

    /// Hands over what came; true when there may be more.
    fn receive(&mut self, now: Instant) -> bool {
        let mut more = false;
        for lane in &mut self.lanes {
            let Some((socket, net)) = lane.socket.as_ref().zip(lane.net) else { continue };
            let mut came_bytes = 0;
            for round in 0..TURN_RECEIVES {
                let (remote, mut bytes) = (lane.remote, 0);
                let came = socket.io().receive(&mut self.space, |route, ecn, datagram| {
                    if same(route.remote, remote) {
                        bytes += datagram.len() as u64;
                        self.endpoint.handle_in_place(now, net, datagram, ecn);
                    }
                });
                came_bytes += bytes;
                if !came {
                    break;
                }
                if round + 1 == TURN_RECEIVES || came_bytes >= TURN_BYTES {
                    more = true;
                    break;
                }
            }
            lane.hear(now, came_bytes);
        }
        more
    }

    /// Lets the session and the lanes act on what happened: how the connection ended, if it did.
    fn advance(&mut self, now: Instant, session: &mut dyn Session) -> Option<Closed> {
        self.events.append(&mut self.endpoint.take_events());
        let events = std::mem::take(&mut self.events);
        for event in &events {
            self.on_event(now, event, session);
        }
        if self.tend_at <= now || self.watch.as_ref().is_some_and(Watch::take) {
            self.tend(now, session);
            self.tend_at = now + TEND;
        }
        self.manage_paths(now);
        let status = session.work(now, &mut self.endpoint, &events);
        let ended = events.into_iter().find_map(|event| match event {
            Event::Closed(closed) => Some(closed),
            _ => None,
        });
        if ended.is_none()
            && let Status::Done(code) = status
        {
            self.endpoint.close(now, code, b"");
            return Some(Closed::Local);
        }
        ended
    }

    // ---- sending --------------------------------------------------------------------------------

    /// Sends what the endpoint has: true when it may have more.
    fn transmit(&mut self, now: Instant) -> bool {
        let blocked =
            self.lanes.iter().filter_map(|lane| lane.socket.as_ref()).any(|s| s.is_blocked());
        if !blocked {
            self.blocked_since = None;
        } else if *self.blocked_since.get_or_insert(now) + PATIENCE > now {
            self.flush(now);
            return false;
        }
        let mut left = TURN_DATAGRAMS;
        while left > 0
            && let Some((net, datagram)) = self.endpoint.poll_transmit(now)
        {
            left -= 1;
            let Some(lane) = self.lanes.iter_mut().find(|lane| lane.net == Some(net)) else {
                continue; // a path whose end is gone
            };
            let route = Route { remote: lane.remote, local: None };
            let mark = self.endpoint.marks_ecn(net).then_some(Ecn::Ect0);
            if let Some(socket) = &mut lane.socket
                && socket.queue(route, &datagram, mark).is_err()
            {
                lane.gone = true;
            }
        }
        self.flush(now);
        left == 0
    }

    fn flush(&mut self, now: Instant) {
        for lane in &mut self.lanes {
            if let Some(socket) = &mut lane.socket {
                lane.gone |= socket.flush().is_err();
            }
            if lane.gone {
                self.tend_at = self.tend_at.min(now + TEND_SOON);
            }
        }
    }

    /// The paths as they are, in the order in which they were given.
    pub fn reports(&self) -> Vec<PathReport> {
        let report = |lane: &Lane| PathReport {
            name: lane.local.to_string(),
            local: lane.address(),
            remote: lane.remote,
            stats: lane.net.or(lane.last).and_then(|net| self.endpoint.path_stats(net)),
            open: lane.net.is_some(),
            received_bytes: lane.received_bytes,
        };
        self.lanes.iter().map(report).collect()
    }

    /// On every path the server's machine says that nobody listens there.
    fn is_refused(&self) -> bool {
        let mut open = self.lanes.iter().filter(|lane| lane.socket.is_some()).peekable();
        open.peek().is_some() && open.all(Lane::is_refused)
    }

    /// The error for a connection that ended before its work was done.
    pub fn error(&self, closed: &Closed) -> SocketError {
        if self.is_refused() {
            return SocketError::Lost("nobody listens at the server's port any more".into());
        }
        error_of(&self.config, closed)
    }
}

/// A sentence for how the connection ended, with what the verifier found.
pub(crate) fn error_of(config: &ClientConfig, closed: &Closed) -> SocketError {
    const NO_ALPN: u64 = 0x100 + 120; // RFC 7301 §3.2: no_application_protocol
    const REFUSED: u64 = Code::ConnectionRefused as u64;
    match closed {
        Closed::Error(error) if (0x100..0x200).contains(&error.value) => match config.trust.why() {
            Some(why) => SocketError::Certificate(format!("{}: {why}", config.name)),
            None => SocketError::Lost(words(closed)),
        },
        Closed::PeerTransport(NO_ALPN, _) => SocketError::Protocol(config.name.clone()),
        Closed::PeerTransport(REFUSED, _) => SocketError::Busy,
        _ => SocketError::Lost(words(closed)),
    }
}

/// Whether a datagram comes from the server we talk to, as IPv4 or as IPv4 in IPv6.
fn same(from: SocketAddr, to: SocketAddr) -> bool {
    from.port() == to.port() && from.ip().to_canonical() == to.ip().to_canonical()
}
