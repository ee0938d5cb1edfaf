//! The client's side: TCP connections of players to streams.

use super::origins::check_name;
use super::splice::{End, give_up, prepare};
use super::splices::{OWN_TOKENS, Splices};
use super::{GATEWAY, LOOK, MOST_CONNECTIONS, Passed, bound_for_gateway, code, why, words};
use crate::client::{Client, ClientConfig};
use crate::clock::Clock;
use crate::error::{SocketError, words as how};
use crate::fetch::{authority, resolve};
use crate::hints::{Aware, Hints};
use crate::interfaces::Local;
use crate::options::Options;
use crate::poller::Poller;
use crate::session::{Notice, PathReport, Session, Status};
use crate::socket::reason;
use crate::tls::{Anchor, Trust};
use crate::wait::wait;
use mpquic::{Endpoint, Error, Event};
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::BorrowedFd;
use units::{Duration, Instant};

/// The user wants no more.
const GIVEN_UP: u64 = 0;

/// Where players connect to, and what they get there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Door {
    /// An address of this machine that nobody else reaches; port 0: any.
    pub listen: SocketAddr,
    /// What the gateway calls the origin; empty: its first one.
    pub origin: String,
}

/// A gateway, and how it is reached.
#[derive(Clone, Debug)]
pub struct Connect {
    /// Name or address of the gateway.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Local ends of the paths.
    pub locals: Vec<Local>,
    /// How the gateway is known.
    pub anchor: Anchor,
    /// How long it may take to answer.
    pub patience: Duration,
    /// How the connection behaves.
    pub options: Options,
    /// What is foreseen of its paths meanwhile.
    pub hints: Hints,
}

/// What a watcher gets.
#[derive(Clone, Debug)]
pub struct Passing<'a> {
    /// TCP connections that pass.
    pub connections: usize,
    /// The paths; none while there is no connection.
    pub paths: &'a [PathReport],
    /// What happened to paths since the last time.
    pub notices: Vec<Notice>,
    /// What else happened.
    pub news: Vec<Passed>,
}

/// Listens for players, and passes their connections to a gateway.
#[derive(Debug)]
pub struct Doors {
    doors: Vec<(Door, TcpListener)>,
    poller: Poller,
}

impl Doors {
    /// Listens.
    ///
    /// # Errors
    /// An address that others reach, or one that is not available.
    pub fn bind(doors: &[Door]) -> Result<Self, SocketError> {
        let poller = Poller::new().map_err(SocketError::Wait)?;
        let mut open = Vec::new();
        for door in doors {
            let listen = door.listen;
            check_name(&door.origin)?;
            if !listen.ip().to_canonical().is_loopback() {
                let say = "others would reach it; listen on 127.0.0.1 or [::1]";
                return Err(SocketError::Config(format!("{listen} is no loopback address: {say}")));
            }
            let begin = || {
                let listener = TcpListener::bind(listen)?;
                listener.set_nonblocking(true)?;
                poller.add(&listener, 0)?;
                Ok(listener)
            };
            let refused = |error: io::Error| SocketError::Bind {
                address: listen.to_string(),
                reason: reason(&error, "another program uses that port; take another one"),
            };
            open.push((door.clone(), begin().map_err(refused)?));
        }
        Ok(Self { doors: open, poller })
    }

    /// Where it listens, in the order of the doors.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        let address =
            |(door, listener): &(Door, TcpListener)| listener.local_addr().unwrap_or(door.listen);
        self.doors.iter().map(address).collect()
    }

    /// Passes connections until `watch`, which is called ten times a second, returns false. A connection
    /// to the gateway that is lost is made anew when the next player comes.
    ///
    /// # Errors
    /// A gateway that is not reached at first, and what the system refuses.
    pub fn run(
        &self,
        connect: &Connect,
        mut watch: impl FnMut(&Passing<'_>) -> bool + Send,
    ) -> Result<(), SocketError> {
        let clock = Clock::start();
        let mut news = Vec::new();
        let mut is_first = true;
        loop {
            match self.pass(connect, clock, (&mut news, &mut watch)) {
                Ok(None) | Err(SocketError::Stopped) => return Ok(()),
                Ok(Some(closed)) => news.push(closed),
                Err(error) if is_first => return Err(error),
                Err(error) => self.refuse_waiting(&error, &mut news),
            }
            is_first = false;
            if !self.wait_for_player(clock, (&mut news, &mut watch))? {
                return Ok(());
            }
        }
    }

    /// One connection to the gateway: how it ended; `None`: the watcher ended it.
    fn pass<F: FnMut(&Passing<'_>) -> bool + Send>(
        &self,
        connect: &Connect,
        clock: Clock,
        (news, watch): (&mut Vec<Passed>, &mut F),
    ) -> Result<Option<Passed>, SocketError> {
        let config = connect.config(clock)?;
        let mut hall = Hall::new(&self.doors, (std::mem::take(news), watch))?;
        let mut session = Aware::new(&mut hall, connect.hints.clone());
        let closed = Client::connect(config, &mut session).and_then(|mut client| {
            let hall = &mut session.inner;
            hall.gateway = client.reports().first().map(|path| path.remote);
            let gateway = hall.gateway.unwrap_or(SocketAddr::new([0, 0, 0, 0].into(), 0));
            hall.news.push(Passed::Opened(gateway));
            let closed = client.run(&mut session)?;
            Ok(Passed::Closed(gateway, how(&closed)))
        });
        *news = std::mem::take(&mut hall.news);
        let closed = closed?;
        Ok((!hall.stopped).then_some(closed))
    }

    /// Lets those know who came while the gateway could not be reached.
    fn refuse_waiting(&self, error: &SocketError, news: &mut Vec<Passed>) {
        for (door, listener) in &self.doors {
            while let Ok((socket, player)) = listener.accept() {
                prepare(&socket).ok(); // else it ends with a FIN
                news.push(Passed::Refused(player, door.origin.clone(), error.to_string()));
            }
        }
    }

    fn wait_for_player<F: FnMut(&Passing<'_>) -> bool>(
        &self,
        clock: Clock,
        (news, watch): (&mut Vec<Passed>, &mut F),
    ) -> Result<bool, SocketError> {
        loop {
            let (notices, news) = (Vec::new(), std::mem::take(news));
            if !watch(&Passing { connections: 0, paths: &[], notices, news }) {
                return Ok(false);
            }
            wait(clock, std::iter::empty(), [self.poller.fd()], clock.now() + LOOK)?;
            if !self.poller.take().is_empty() {
                return Ok(true);
            }
        }
    }
}

impl Connect {
    fn config(&self, clock: Clock) -> Result<ClientConfig, SocketError> {
        let trust = Trust::new(&self.anchor)?;
        let mut endpoint = self.options.config(trust.role(&self.host, GATEWAY)?)?;
        bound_for_gateway(&mut endpoint);
        Ok(ClientConfig {
            servers: resolve(&self.host, self.port)?,
            name: authority(&self.host, self.port),
            paths: self.locals.clone(),
            backups: Vec::new(),
            endpoint,
            trust,
            scheduler: self.options.scheduler.clone().into(),
            qlog: self.options.qlog.clone(),
            patience: self.patience,
            clock,
        })
    }
}

/// A player, and the door that it came through.
struct Player {
    from: SocketAddr,
    door: usize,
}

/// The client's part in one connection.
struct Hall<'a, F> {
    doors: &'a [(Door, TcpListener)],
    splices: Splices,
    /// Players for whom the gateway has no stream yet.
    waiting: VecDeque<(Player, TcpStream)>,
    players: BTreeMap<u64, Player>,
    /// Somebody may be at a door.
    knocks: bool,
    gateway: Option<SocketAddr>,
    look_at: Instant,
    notices: Vec<Notice>,
    news: Vec<Passed>,
    stopped: bool,
    watch: &'a mut F,
}

impl<'a, F: FnMut(&Passing<'_>) -> bool + Send> Hall<'a, F> {
    fn new(
        doors: &'a [(Door, TcpListener)],
        (news, watch): (Vec<Passed>, &'a mut F),
    ) -> Result<Self, SocketError> {
        let splices = Splices::new().map_err(SocketError::Wait)?;
        for (door, (_, listener)) in (0..).zip(doors) {
            splices.poller.add_edges(listener, OWN_TOKENS + door).map_err(SocketError::Wait)?;
        }
        Ok(Self {
            doors,
            splices,
            waiting: VecDeque::new(),
            players: BTreeMap::new(),
            knocks: true,
            gateway: None,
            look_at: Instant::ZERO,
            notices: Vec::new(),
            news,
            stopped: false,
            watch,
        })
    }

    fn origin(&self, door: usize) -> String {
        self.doors[door].0.origin.clone()
    }

    /// Takes in who is at the doors.
    fn accept(&mut self) {
        if !std::mem::take(&mut self.knocks) {
            return;
        }
        for (door, (_, listener)) in self.doors.iter().enumerate() {
            loop {
                match listener.accept() {
                    Ok((socket, from)) => self.enter(Player { from, door }, socket),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
                    Err(error) => {
                        // Without a descriptor: those at the door wait for one.
                        let here = listener.local_addr().unwrap_or(self.doors[door].0.listen);
                        self.refuse(Player { from: here, door }, error.to_string());
                        self.knocks = true;
                        break;
                    }
                }
            }
        }
    }

    fn enter(&mut self, player: Player, socket: TcpStream) {
        // Dropped from here on, the connection ends with a RST.
        if let Err(error) = prepare(&socket) {
            return self.refuse(player, error.to_string());
        }
        if self.splices.len() + self.waiting.len() >= MOST_CONNECTIONS {
            let why = format!("{MOST_CONNECTIONS} connections pass, which is the most");
            return self.refuse(player, why);
        }
        self.waiting.push_back((player, socket));
    }

    fn refuse(&mut self, player: Player, why: String) {
        self.news.push(Passed::Refused(player.from, self.origin(player.door), why));
    }

    /// Opens streams for those who wait.
    fn open(&mut self, endpoint: &mut Endpoint) {
        while let Some((player, socket)) = self.waiting.pop_front() {
            let stream = match endpoint.open_stream(true) {
                Ok(stream) => stream,
                Err(Error::StreamLimit | Error::NotOpen) => {
                    return self.waiting.push_front((player, socket));
                }
                Err(error) => {
                    self.refuse(player, error.to_string());
                    continue;
                }
            };
            let name = self.origin(player.door);
            let opening = [&[name.len() as u8], name.as_bytes()].concat(); // checked at the start
            let begun = endpoint.write(stream, &opening) == Ok(opening.len());
            if !begun || self.splices.add(stream, socket).is_err() {
                give_up(endpoint, stream, code::BUSY);
                self.refuse(player, "there is no room for it now".into());
                continue;
            }
            self.news.push(Passed::Begun(player.from, name));
            self.players.insert(stream, player);
        }
    }

    fn on_over(&mut self, stream: u64, end: End, bytes: [u64; 2]) {
        let Some(player) = self.players.remove(&stream) else { return };
        let origin = self.origin(player.door);
        self.news.push(match end {
            End::GivenUp(code @ (code::NO_SUCH_ORIGIN | code::UNREACHABLE | code::BUSY)) => {
                Passed::Refused(player.from, origin, words(code))
            }
            end => Passed::Ended(player.from, origin, bytes, why(end)),
        });
    }
}

impl<F: FnMut(&Passing<'_>) -> bool + Send> Session for Hall<'_, F> {
    fn work(&mut self, now: Instant, endpoint: &mut Endpoint, events: &[Event]) -> Status {
        self.knocks |= !self.splices.look().is_empty();
        self.accept();
        self.open(endpoint);
        for (stream, end, bytes) in self.splices.work(now, endpoint, events) {
            self.on_over(stream, end, bytes);
        }
        Status::Working
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.splices.fd())
    }

    fn has_more(&self, endpoint: &Endpoint) -> bool {
        self.splices.has_more(endpoint)
    }

    fn due(&self) -> Instant {
        self.look_at
    }

    fn look(&mut self, now: Instant, paths: &[PathReport]) -> Status {
        self.look_at = now + LOOK;
        let (notices, news) = (std::mem::take(&mut self.notices), std::mem::take(&mut self.news));
        let connections = self.splices.len() + self.waiting.len();
        if (self.watch)(&Passing { connections, paths, notices, news }) {
            return Status::Working;
        }
        self.stopped = true;
        Status::Done(GIVEN_UP)
    }

    fn notice(&mut self, notice: Notice) {
        self.notices.push(notice);
    }
}
