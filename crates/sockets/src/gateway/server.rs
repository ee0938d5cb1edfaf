//! The server's side: streams to origins.

use super::origins::{Origins, dial};
use super::splice::give_up;
use super::splices::Splices;
use super::{LOOK, Passed, code, why};
use crate::poller::Ready;
use crate::server::Service;
use crate::session::{Ends, PathReport, Session, Status};
use crate::tell::{News, Tell, channel};
use mpquic::{Closed, Endpoint, Event, Read};
use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::BorrowedFd;
use units::{Duration, Instant, PathId};

/// How long one address of an origin may take to answer.
const DIAL: Duration = Duration::from_secs(10);
/// How long a client may be without a TCP connection; it comes back with the next one.
const IDLE: Duration = Duration::from_secs(60);
/// The connection's end then.
const TIMED_OUT: u64 = 0x408;

/// Splices the streams of all clients with origins.
pub struct Gateway<F> {
    origins: Origins,
    look_at: Instant,
    news: News<Passed>,
    tell: Tell<Passed>,
    watch: F,
}

impl<F: FnMut(&[Passed], usize) -> bool> Gateway<F> {
    /// Clients reach `origins` and nothing else. `watch` gets what happened and how many clients there
    /// are, ten times a second; false ends the server.
    pub fn new(origins: Origins, watch: F) -> Self {
        let (tell, news) = channel();
        Self { origins, look_at: Instant::ZERO, news, tell, watch }
    }
}

impl<F: FnMut(&[Passed], usize) -> bool> Service for Gateway<F> {
    fn open(&mut self, now: Instant, remote: SocketAddr) -> Box<dyn Session> {
        self.tell.say(Passed::Opened(remote));
        match Splices::new() {
            Ok(splices) => Box::new(GatewaySession {
                origins: self.origins.clone(),
                tell: self.tell.clone(),
                remote,
                openings: BTreeMap::new(),
                passing: BTreeMap::new(),
                splices,
                idle_since: Some(now),
            }),
            Err(error) => {
                let (everything, why) = (String::new(), error.to_string());
                self.tell.say(Passed::Refused(remote, everything, why));
                Box::new(Refusing)
            }
        }
    }

    fn closed(&mut self, remote: SocketAddr, how: &Closed) {
        self.tell.say(Passed::Closed(remote, crate::error::words(how)));
    }

    fn due(&self) -> Instant {
        self.look_at
    }

    fn look(&mut self, now: Instant, connections: usize) -> bool {
        self.look_at = now + LOOK;
        (self.watch)(&self.news.take(Passed::Missed), connections)
    }
}

/// A client for whom no descriptor is left.
struct Refusing;

impl Session for Refusing {
    fn work(&mut self, _now: Instant, _endpoint: &mut Endpoint, _events: &[Event]) -> Status {
        Status::Done(code::BUSY)
    }
}

/// A stream that is not spliced yet.
enum Opening {
    /// What came of the origin's name, with its length before it.
    Name(Vec<u8>),
    /// The origin is being connected.
    Dial(Dial),
}

struct Dial {
    origin: usize,
    /// Which of its addresses is next.
    next: usize,
    socket: TcpStream,
    until: Instant,
}

struct GatewaySession {
    origins: Origins,
    tell: Tell<Passed>,
    remote: SocketAddr,
    openings: BTreeMap<u64, Opening>,
    /// The origin of each splice.
    passing: BTreeMap<u64, usize>,
    splices: Splices,
    idle_since: Option<Instant>,
}

impl Session for GatewaySession {
    fn work(&mut self, now: Instant, endpoint: &mut Endpoint, events: &[Event]) -> Status {
        for event in events {
            self.on_event(now, endpoint, event);
        }
        for ready in self.splices.look() {
            self.on_dialled(now, endpoint, ready);
        }
        self.give_up_late_dials(now, endpoint);
        for (stream, end, [from, to]) in self.splices.work(now, endpoint, events) {
            if let Some(origin) = self.passing.remove(&stream) {
                let name = self.origins.at(origin).name.clone();
                self.tell.say(Passed::Ended(self.remote, name, [to, from], why(end)));
            }
        }
        let dials = self.openings.values().any(|one| matches!(one, Opening::Dial(_)));
        let idle = self.splices.len() == 0 && !dials;
        self.idle_since = idle.then(|| self.idle_since.unwrap_or(now));
        Status::Working // the client ends it
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.splices.fd())
    }

    fn has_more(&self, endpoint: &Endpoint) -> bool {
        self.splices.has_more(endpoint)
    }

    fn due(&self) -> Instant {
        let dials = self.openings.values().filter_map(|one| match one {
            Opening::Dial(dial) => Some(dial.until),
            Opening::Name(_) => None,
        });
        let idle = self.idle_since.map_or(Instant::FAR_FUTURE, |since| since + IDLE);
        dials.min().unwrap_or(Instant::FAR_FUTURE).min(idle)
    }

    fn look(&mut self, now: Instant, _paths: &[PathReport]) -> Status {
        let is_over = self.idle_since.is_some_and(|since| since + IDLE <= now);
        if is_over { Status::Done(TIMED_OUT) } else { Status::Working }
    }

    fn idle_since(&self) -> Option<Instant> {
        self.idle_since
    }

    fn on_path(&mut self, _endpoint: &mut Endpoint, net: PathId, ends: Ends) {
        if net != PathId(0) {
            self.tell.say(Passed::Path(self.remote, ends.remote));
        }
    }
}

impl GatewaySession {
    fn on_event(&mut self, now: Instant, endpoint: &mut Endpoint, event: &Event) {
        match event {
            // Client-initiated and bidirectional (RFC 9000 §2.1); others have nothing to say.
            Event::StreamOpened(stream) if stream & 3 == 0 => {
                self.openings.insert(*stream, Opening::Name(Vec::new()));
            }
            Event::StreamOpened(stream) => give_up(endpoint, *stream, code::BAD_OPENING),
            Event::Readable(stream) => self.read_name(now, endpoint, *stream),
            Event::Stopped(stream, _) if self.openings.remove(stream).is_some() => {
                give_up(endpoint, *stream, code::BROKEN);
            }
            Event::Closed(_) => self.openings.clear(),
            _ => {}
        }
    }

    fn read_name(&mut self, now: Instant, endpoint: &mut Endpoint, stream: u64) {
        let Some(Opening::Name(name)) = self.openings.get_mut(&stream) else { return };
        loop {
            let missing = name.first().map_or(1, |len| usize::from(*len) + 1 - name.len());
            if missing == 0 {
                break;
            }
            match endpoint.read(now, stream, missing) {
                Ok(Read::Data(data)) => name.extend(data),
                Ok(Read::Blocked) => return,
                Ok(Read::Finished | Read::Reset(_)) | Err(_) => {
                    self.openings.remove(&stream);
                    return give_up(endpoint, stream, code::BAD_OPENING);
                }
            }
        }
        match self.origins.find(&name[1..]) {
            Some(origin) => self.dial(now, endpoint, stream, (origin, 0)),
            None => {
                let name = String::from_utf8_lossy(&name[1..]).into_owned();
                let why = (code::NO_SUCH_ORIGIN, "it is not on the list of origins".into());
                self.refuse(endpoint, stream, name, why);
            }
        }
    }

    /// Connects an origin by the first of its addresses from `next` on that can be tried.
    fn dial(
        &mut self,
        now: Instant,
        endpoint: &mut Endpoint,
        stream: u64,
        (origin, next): (usize, usize),
    ) {
        let mut why = (code::UNREACHABLE, String::new());
        for (place, address) in self.origins.at(origin).addresses.iter().enumerate().skip(next) {
            let begun = dial(*address).and_then(|socket| {
                self.splices.poller.add_edges(&socket, stream)?;
                Ok(socket)
            });
            match begun {
                Ok(socket) => {
                    let dial = Dial { origin, next: place + 1, socket, until: now + DIAL };
                    self.openings.insert(stream, Opening::Dial(dial));
                    return;
                }
                Err(error) => why = (code_of(&error), error.to_string()),
            }
        }
        let name = self.origins.at(origin).name.clone();
        self.refuse(endpoint, stream, name, why);
    }

    /// A socket that is being connected is, or is not.
    fn on_dialled(&mut self, now: Instant, endpoint: &mut Endpoint, ready: Ready) {
        let stream = ready.token;
        if !matches!(self.openings.get(&stream), Some(Opening::Dial(_))) {
            return;
        }
        let Some(Opening::Dial(dial)) = self.openings.remove(&stream) else { return };
        let error = match dial.socket.take_error() {
            Ok(None) if ready.broken => io::ErrorKind::NotConnected.into(),
            Ok(None) => {
                let name = self.origins.at(dial.origin).name.clone();
                self.tell.say(Passed::Begun(self.remote, name));
                self.passing.insert(stream, dial.origin);
                self.splices.adopt(stream, dial.socket);
                return;
            }
            Ok(Some(error)) | Err(error) => error,
        };
        self.dial_next(now, endpoint, (stream, dial), &error);
    }

    fn give_up_late_dials(&mut self, now: Instant, endpoint: &mut Endpoint) {
        let is_late = |one: &Opening| matches!(one, Opening::Dial(dial) if dial.until <= now);
        let late = self.openings.iter().filter(|(_, one)| is_late(one)).map(|(stream, _)| *stream);
        for stream in late.collect::<Vec<_>>() {
            if let Some(Opening::Dial(dial)) = self.openings.remove(&stream) {
                let error = io::ErrorKind::TimedOut.into();
                self.dial_next(now, endpoint, (stream, dial), &error);
            }
        }
    }

    fn dial_next(
        &mut self,
        now: Instant,
        endpoint: &mut Endpoint,
        (stream, dial): (u64, Dial),
        error: &io::Error,
    ) {
        if dial.next < self.origins.at(dial.origin).addresses.len() {
            return self.dial(now, endpoint, stream, (dial.origin, dial.next));
        }
        let name = self.origins.at(dial.origin).name.clone();
        self.refuse(endpoint, stream, name, (code::UNREACHABLE, error.to_string()));
    }

    fn refuse(
        &mut self,
        endpoint: &mut Endpoint,
        stream: u64,
        name: String,
        (code, why): (u64, String),
    ) {
        self.openings.remove(&stream);
        self.tell.say(Passed::Refused(self.remote, name, why));
        give_up(endpoint, stream, code);
    }
}

/// Without descriptors the server is to blame, not the origin.
fn code_of(error: &io::Error) -> u64 {
    use rustix::io::Errno;
    let busy = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM, Errno::NOSPC];
    let is_busy = busy.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()));
    if is_busy { code::BUSY } else { code::UNREACHABLE }
}
