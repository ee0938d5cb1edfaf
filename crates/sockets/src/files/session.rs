//! One client's requests and their answers.

use super::root::{Found, Root};
use super::{BUSY, NO_SUCH_FILE, Served, share};
use crate::session::{Ends, PathReport, Session, Status};
use crate::tell::Tell;
use mpquic::{Endpoint, Event, Read};
use std::collections::BTreeMap;
use std::fs::File;
use std::net::SocketAddr;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use units::{Duration, Instant, PathId};

const BAD_REQUEST: u64 = 0x400;
const FAILED: u64 = 0x500;
/// The connection's end when the client asks for nothing, or does not take what it asked for.
const TIMED_OUT: u64 = 0x408;
const MAX_REQUEST_BYTES: usize = 4096;
/// Files that one client has open at a time; further requests wait.
const MAX_FILES: usize = 8;
/// A file is read in pieces of this size, and only when so much can be sent, or a quarter of what
/// may wait: small reads cost more than they bring.
const PIECE_BYTES: usize = 32 << 10;
/// How long a client may be without a request.
const IDLE: Duration = Duration::from_secs(15);
/// How long a client may take nothing of an answer: longer than outages of satellites and cells,
/// and no shorter than the idle timeout of its connection.
const STALL: Duration = Duration::from_secs(60);

/// A request, then its answer.
enum Exchange {
    Asking(Vec<u8>),
    /// For a free place among the open files.
    Waiting(String),
    Answering {
        file: File,
        at: u64,
        end: u64,
    },
}

/// How far everything is; who changes nothing of it is idle, or stalls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    busy: bool,
    given: u64,
    unacked: u64,
}

pub(super) struct FileSession {
    root: Arc<Root>,
    tell: Tell<Served>,
    clients: Arc<AtomicUsize>,
    remote: SocketAddr,
    streams: BTreeMap<u64, Exchange>,
    /// Bytes given to the transport.
    given: u64,
    mark: Mark,
    marked_at: Instant,
}

impl FileSession {
    pub fn new(
        now: Instant,
        remote: SocketAddr,
        (root, tell, clients): (Arc<Root>, Tell<Served>, Arc<AtomicUsize>),
    ) -> Self {
        clients.fetch_add(1, Ordering::Relaxed);
        Self {
            root,
            tell,
            clients,
            remote,
            streams: BTreeMap::new(),
            given: 0,
            mark: Mark { busy: false, given: 0, unacked: 0 },
            marked_at: now,
        }
    }
}

impl Drop for FileSession {
    fn drop(&mut self) {
        self.clients.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Session for FileSession {
    fn work(&mut self, now: Instant, endpoint: &mut Endpoint, events: &[Event]) -> Status {
        for event in events {
            match event {
                // Client-initiated and bidirectional (RFC 9000 §2.1); others have nothing to ask.
                Event::StreamOpened(id) if id & 3 == 0 => {
                    self.streams.insert(*id, Exchange::Asking(Vec::new()));
                }
                Event::Stopped(id, _) => {
                    self.streams.remove(id);
                }
                _ => {}
            }
        }
        let ids: Vec<u64> = self.streams.keys().copied().collect();
        for id in ids {
            self.advance(now, endpoint, id);
        }
        self.take_mark(now, endpoint.buffered_bytes());
        Status::Working // the client ends it
    }

    fn due(&self) -> Instant {
        self.marked_at + if self.mark.busy { STALL } else { IDLE }
    }

    fn look(&mut self, now: Instant, _paths: &[PathReport]) -> Status {
        if self.due() <= now { Status::Done(TIMED_OUT) } else { Status::Working }
    }

    fn idle_since(&self) -> Option<Instant> {
        (!self.mark.busy).then_some(self.marked_at)
    }

    fn on_path(&mut self, _endpoint: &mut Endpoint, net: PathId, ends: Ends) {
        if net != PathId(0) {
            self.tell.say(Served::Path(self.remote, ends.remote));
        }
    }
}

impl FileSession {
    fn take_mark(&mut self, now: Instant, unacked: u64) {
        let asks = |exchange: &Exchange| !matches!(exchange, Exchange::Asking(_));
        let busy = unacked > 0 || self.streams.values().any(asks);
        let mark = Mark { busy, given: self.given, unacked };
        if mark != self.mark {
            (self.mark, self.marked_at) = (mark, now);
        }
    }

    fn advance(&mut self, now: Instant, endpoint: &mut Endpoint, id: u64) {
        let step = match self.streams.get_mut(&id) {
            Some(Exchange::Asking(request)) => match read_request(now, endpoint, id, request) {
                None => return,
                Some(Ok(line)) => self.open(id, line),
                Some(Err(code)) => Err(code),
            },
            Some(Exchange::Waiting(line)) => {
                let line = std::mem::take(line);
                self.open(id, line)
            }
            _ => Ok(()),
        };
        match step.and_then(|()| self.pour(endpoint, id)) {
            Ok(false) => {}
            Ok(true) => {
                endpoint.finish(id).ok(); // it may be over already
                self.streams.remove(&id);
            }
            Err(code) => {
                endpoint.reset(id, code).ok(); // the same
                self.streams.remove(&id);
            }
        }
    }

    /// Opens what a request names, or lets it wait: the code of a failure.
    fn open(&mut self, id: u64, line: String) -> Result<(), u64> {
        let is_open = |exchange: &&Exchange| matches!(exchange, Exchange::Answering { .. });
        if self.streams.values().filter(is_open).count() >= MAX_FILES {
            self.streams.insert(id, Exchange::Waiting(line));
            return Ok(());
        }
        let remote = self.remote;
        let (said, result) = match self.root.find(&line) {
            Found::File(file, bytes) => {
                self.streams.insert(id, Exchange::Answering { file, at: 0, end: bytes });
                (Served::Asked(remote, line, Some(bytes)), Ok(()))
            }
            Found::Nothing => (Served::Asked(remote, line, None), Err(NO_SUCH_FILE)),
            Found::Failed(why) => (Served::Failed(remote, line, why.to_string()), Err(BUSY)),
        };
        self.tell.say(said);
        result
    }

    /// Gives the transport what it may take of an answer: true when everything was given.
    fn pour(&mut self, endpoint: &mut Endpoint, id: u64) -> Result<bool, u64> {
        let Some(Exchange::Answering { file, at, end }) = self.streams.get_mut(&id) else {
            return Ok(false);
        };
        let most = share(self.clients.load(Ordering::Relaxed));
        let worth = (most / 4).min(PIECE_BYTES as u64);
        let mut piece = [0; PIECE_BYTES];
        while *at < *end {
            let room = most.saturating_sub(endpoint.buffered_bytes()).min(PIECE_BYTES as u64);
            if room < worth {
                return Ok(false);
            }
            let piece = &mut piece[..room.min(*end - *at) as usize];
            file.read_exact_at(piece, *at).map_err(|_| FAILED)?; // a file that became shorter
            let taken = endpoint.write(id, piece).map_err(|_| FAILED)? as u64;
            *at += taken;
            self.given += taken;
            if taken == 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The path of a request as soon as it is complete; the code of a bad one.
fn read_request(
    now: Instant,
    endpoint: &mut Endpoint,
    id: u64,
    request: &mut Vec<u8>,
) -> Option<Result<String, u64>> {
    let mut ended = false;
    while !ended && request.len() <= MAX_REQUEST_BYTES {
        match endpoint.read(now, id, MAX_REQUEST_BYTES) {
            Ok(Read::Data(data)) => request.extend(data),
            Ok(Read::Finished) => ended = true,
            Ok(Read::Blocked) => break,
            Ok(Read::Reset(_)) | Err(_) => return Some(Err(BAD_REQUEST)),
        }
    }
    let line = request.iter().position(|byte| *byte == b'\n');
    if request.len() > MAX_REQUEST_BYTES {
        return Some(Err(BAD_REQUEST));
    }
    let line = match line {
        Some(end) => &request[..end],
        None if ended => &request[..],
        None => return None,
    };
    let path = std::str::from_utf8(line).ok().and_then(|line| line.trim_end().strip_prefix("GET "));
    Some(path.map(str::to_owned).ok_or(BAD_REQUEST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tell::channel;
    use std::path::Path;

    fn session(now: Instant) -> FileSession {
        let root = Arc::new(Root::open(Path::new("/"), false).unwrap());
        let tell = channel().0;
        FileSession::new(now, "192.0.2.1:7".parse().unwrap(), (root, tell, Arc::default()))
    }

    #[test]
    fn who_asks_for_nothing_or_takes_nothing_is_left() {
        let at = |seconds: u64| Instant::from_millis(1000 * seconds);
        let mut session = session(at(10));
        assert_eq!((session.due(), session.idle_since()), (at(25), Some(at(10))));
        session.take_mark(at(20), 0); // PINGs alone: nothing was asked for
        assert_eq!(session.look(at(24), &[]), Status::Working);
        assert_eq!(session.look(at(25), &[]), Status::Done(TIMED_OUT));
        session.streams.insert(0, Exchange::Asking(b"GET /".to_vec()));
        session.take_mark(at(21), 0); // half a request is none
        assert_eq!(session.due(), at(25));

        session.streams.insert(0, Exchange::Waiting("/file".into()));
        session.take_mark(at(24), 0);
        assert_eq!((session.due(), session.idle_since()), (at(84), None));
        session.take_mark(at(80), 100); // bytes were given
        assert_eq!(session.due(), at(140));
        session.take_mark(at(139), 99); // one was taken
        assert_eq!(session.due(), at(199));
        session.streams.clear();
        session.take_mark(at(150), 0);
        assert_eq!((session.due(), session.idle_since()), (at(165), Some(at(150))));
    }

    #[test]
    fn clients_share_what_answers_may_occupy() {
        assert_eq!(share(0), 8 << 20);
        assert_eq!(share(128), 8 << 20);
        assert_eq!(share(4096), 256 << 10);
        assert_eq!(share(1 << 20), 64 << 10);
    }
}
