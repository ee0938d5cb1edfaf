//! One client's requests and their answers.

use super::answer::{Answer, Poured};
use super::ask::{Ask, Wants};
use super::h3::{self, Asking};
use super::hq;
use super::root::Found;
use super::{BUSY, NO_SUCH_FILE, Served, Shared, priority, share};
use crate::session::{Ends, PathReport, Session, Status};
use http3::{Code, H3, Link, Side};
use mpquic::{Endpoint, Event};
use std::collections::BTreeMap;
use std::fs::File;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use units::{Duration, Instant, PathId};

const UNAUTHORIZED: u64 = 0x401;
const FAILED: u64 = 0x500;
/// The connection's end when the client asks for nothing, or does not take what it asked for.
const TIMED_OUT: u64 = 0x408;
/// Files that one client has open at a time; further requests wait.
const MAX_FILES: usize = 8;
/// What waits for a client to acknowledge it, however small its windows are: the first pieces of an
/// answer, and some more for when the windows open.
const LEAST_BYTES: u64 = 256 << 10;
/// How long a client may be without a request.
const IDLE: Duration = Duration::from_secs(15);
/// How long a client may take nothing of an answer: longer than outages of satellites and cells,
/// and no shorter than the idle timeout of its connection.
const STALL: Duration = Duration::from_secs(60);

/// A request, then its answer.
enum Exchange {
    /// Over HTTP/0.9.
    Line(Vec<u8>),
    /// Over HTTP/3.
    Asking(Asking),
    /// For a free place among the open files; the request's stream was read to its end.
    Waiting(Ask, bool),
    /// The same.
    Answering(Box<Answer>, bool),
    /// It is given up with this code.
    Failed(u64),
}

/// What a client speaks.
enum Tongue {
    Unknown,
    Hq,
    H3(Link),
}

/// How far everything is; who changes nothing of it is idle, or stalls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    busy: bool,
    done: u64,
    unacked: u64,
}

pub(super) struct FileSession {
    shared: Shared,
    remote: SocketAddr,
    tongue: Tongue,
    streams: BTreeMap<u64, Exchange>,
    mark: Mark,
    marked_at: Instant,
}

impl FileSession {
    pub fn new(now: Instant, remote: SocketAddr, shared: Shared) -> Self {
        shared.clients.fetch_add(1, Ordering::Relaxed);
        Self {
            shared,
            remote,
            tongue: Tongue::Unknown,
            streams: BTreeMap::new(),
            mark: Mark { busy: false, done: 0, unacked: 0 },
            marked_at: now,
        }
    }
}

impl Drop for FileSession {
    fn drop(&mut self) {
        self.shared.clients.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Session for FileSession {
    fn work(&mut self, now: Instant, endpoint: &mut Endpoint, events: &[Event]) -> Status {
        if let Tongue::Unknown = self.tongue {
            let is_h3 = endpoint.protocol() == Some(H3);
            self.tongue = if is_h3 { Tongue::H3(Link::new(Side::Server)) } else { Tongue::Hq };
        }
        for event in events {
            match event {
                // Client-initiated and bidirectional (RFC 9000 §2.1).
                Event::StreamOpened(id) if id & 3 == 0 => {
                    self.streams.insert(*id, self.tongue.begin());
                }
                Event::Stopped(id, _) => {
                    self.streams.remove(id);
                }
                _ => {}
            }
        }
        if let Tongue::H3(link) = &mut self.tongue
            && let Err(error) = link.work(now, endpoint, events)
        {
            return Status::Done(error.code as u64);
        }
        let ids: Vec<u64> = self.streams.keys().copied().collect();
        for id in ids {
            if let Err(error) = self.advance(now, endpoint, id) {
                return Status::Done(error.code as u64);
            }
        }
        self.take_mark(now, endpoint.buffered_bytes());
        Status::Working // the client ends it
    }

    fn has_more(&self, _endpoint: &Endpoint) -> bool {
        let sums = |one: &Exchange| matches!(one, Exchange::Answering(own, _) if own.is_summing());
        self.streams.values().any(sums)
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
            self.shared.tell.say(Served::Path(self.remote, ends.remote));
        }
    }
}

impl Tongue {
    fn begin(&self) -> Exchange {
        match self {
            Self::H3(_) => Exchange::Asking(Asking::default()),
            _ => Exchange::Line(Vec::new()),
        }
    }

    /// The code of a stream that this end is to blame for.
    fn fault(&self) -> u64 {
        match self {
            Self::H3(_) => Code::Internal as u64,
            _ => FAILED,
        }
    }
}

impl FileSession {
    fn take_mark(&mut self, now: Instant, unacked: u64) {
        let (mut busy, mut done) = (unacked > 0, 0_u64);
        for exchange in self.streams.values() {
            match exchange {
                Exchange::Line(_) | Exchange::Asking(_) => continue,
                Exchange::Waiting(..) | Exchange::Failed(_) => {}
                Exchange::Answering(answer, _) => done = done.wrapping_add(answer.done()),
            }
            busy = true;
        }
        let mark = Mark { busy, done, unacked };
        if mark != self.mark {
            (self.mark, self.marked_at) = (mark, now);
        }
    }

    /// Goes on with an exchange; an error ends the connection.
    fn advance(
        &mut self,
        now: Instant,
        endpoint: &mut Endpoint,
        id: u64,
    ) -> Result<(), http3::Error> {
        match self.streams.get_mut(&id) {
            Some(Exchange::Line(line)) => match hq::read(now, endpoint, id, line) {
                None => return Ok(()),
                // HTTP/0.9 has no place for a token.
                Some(Ok(_)) if self.shared.guard.is_some() => self.give_up(id, UNAUTHORIZED),
                Some(Ok(ask)) => self.open(id, ask, true),
                Some(Err(code)) => self.give_up(id, code),
            },
            Some(Exchange::Asking(asking)) => match asking.read(now, endpoint, id) {
                Ok(None) => return Ok(()),
                Ok(Some(request)) => {
                    let ended = asking.ended;
                    let (urgency, incremental) = priority::asked(&request.fields);
                    // Refused where the client gave the stream up already.
                    endpoint.set_priority(id, urgency, incremental).ok();
                    self.judge(id, request, ended);
                }
                Err(error) if error.ends_connection() => return Err(error),
                // RFC 6585 §5: of fields that are too long it can be said.
                Err(error) if error.code == Code::ExcessiveLoad => self.say(id, 431, false),
                Err(error) => self.give_up(id, error.code as u64),
            },
            Some(Exchange::Waiting(ask, ended)) => {
                let (ask, ended) = (ask.clone(), *ended);
                self.open(id, ask, ended);
            }
            _ => {}
        }
        self.pour(endpoint, id);
        Ok(())
    }

    /// Gives the transport what it may take of an answer.
    fn pour(&mut self, endpoint: &mut Endpoint, id: u64) {
        let share = share(self.shared.clients.load(Ordering::Relaxed));
        let most = endpoint.worth_holding_bytes().max(LEAST_BYTES).min(share);
        let failed = match &mut self.streams.get_mut(&id) {
            Some(Exchange::Failed(code)) => Some(*code),
            Some(Exchange::Answering(answer, _)) => match answer.pour(endpoint, id, most) {
                Ok(Poured::Part) => return,
                Ok(Poured::Everything) => None,
                Err(()) => Some(self.tongue.fault()),
            },
            _ => return,
        };
        // The stream may be over already.
        match failed {
            None => endpoint.finish(id).ok(),
            Some(code) => endpoint.reset(id, code).ok(),
        };
        if let Some(Exchange::Answering(_, false)) = self.streams.remove(&id) {
            endpoint.stop(id, Code::NoError as u64).ok(); // RFC 9114 §4.1: the rest is not needed
        }
    }

    /// Whether a request over HTTP/3 is one for a file, by one who may ask.
    fn judge(&mut self, id: u64, request: http3::Request, ended: bool) {
        if self.shared.guard.as_ref().is_some_and(|guard| !guard.admits(&request.fields)) {
            self.tell_refused(&request.path, 401);
            return self.say(id, 401, ended);
        }
        let path = request.path.clone();
        match Ask::of(request) {
            Some(ask) => self.open(id, ask, ended),
            None => {
                self.tell_refused(&path, 405);
                self.say(id, 405, ended);
            }
        }
    }

    /// Opens what a request names, or lets it wait.
    fn open(&mut self, id: u64, ask: Ask, ended: bool) {
        let is_file =
            |one: &&Exchange| matches!(one, Exchange::Answering(answer, _) if answer.is_file());
        if self.streams.values().filter(is_file).count() >= MAX_FILES {
            self.streams.insert(id, Exchange::Waiting(ask, ended));
            return;
        }
        let found = self.shared.root.find(&ask.path);
        match (found, &self.tongue) {
            (Found::File(file, bytes), Tongue::H3(_)) => self.found(id, ask, (file, bytes), ended),
            (Found::File(file, bytes), _) => {
                self.shared.tell.say(Served::Asked(self.remote, ask.path, Some(bytes)));
                let answer = Answer::part(Vec::new(), file, (0..bytes, bytes), Wants::Nothing);
                self.streams.insert(id, Exchange::Answering(Box::new(answer), ended));
            }
            (Found::Nothing, _) => {
                self.shared.tell.say(Served::Asked(self.remote, ask.path, None));
                self.fail(id, (NO_SUCH_FILE, 404), ended);
            }
            (Found::Forbidden, _) => {
                self.tell_refused(&ask.path, 403);
                self.fail(id, (NO_SUCH_FILE, 403), ended);
            }
            (Found::Failed(why), _) => {
                self.shared.tell.say(Served::Failed(self.remote, ask.path, why.to_string()));
                self.fail(id, (BUSY, 503), ended);
            }
        }
    }

    /// Answers a request over HTTP/3 for a file that is there.
    fn found(&mut self, id: u64, ask: Ask, (file, bytes): (File, u64), ended: bool) {
        let Ok(tag) = h3::tag(&file) else { return self.say(id, 500, ended) };
        let part = ask.range_of(bytes, &tag);
        let answer = match &part {
            _ if ask.knows(&tag) => Answer::words(h3::known(&tag)),
            Err(()) => Answer::words(h3::no_such_range(bytes)),
            Ok(part) => {
                let words = h3::found(&ask, part.as_ref(), (bytes, &tag));
                let part = part.clone().unwrap_or(0..bytes);
                let given = if ask.head_alone { 0 } else { part.end - part.start };
                self.shared.tell.say(Served::Asked(self.remote, ask.path, Some(given)));
                match ask.head_alone {
                    true => Answer::words(words),
                    false => Answer::part(words, file, (part, bytes), ask.wants),
                }
            }
        };
        self.streams.insert(id, Exchange::Answering(Box::new(answer), ended));
    }

    fn tell_refused(&self, path: &str, status: u16) {
        self.shared.tell.say(Served::Refused(self.remote, path.to_owned(), status));
    }

    /// Lets an exchange end by a status, or by a code where there are none.
    fn fail(&mut self, id: u64, (code, status): (u64, u16), ended: bool) {
        match self.tongue {
            Tongue::H3(_) => self.say(id, status, ended),
            _ => self.give_up(id, code),
        }
    }

    fn give_up(&mut self, id: u64, code: u64) {
        self.streams.insert(id, Exchange::Failed(code));
    }

    /// Answers with a status alone.
    fn say(&mut self, id: u64, status: u16, ended: bool) {
        let answer = Box::new(Answer::words(h3::refusal(status)));
        self.streams.insert(id, Exchange::Answering(answer, ended));
    }
}

#[cfg(test)]
mod tests {
    use super::super::root::Root;
    use super::*;
    use crate::tell::channel;
    use std::path::Path;
    use std::sync::Arc;

    fn session(now: Instant) -> FileSession {
        let root = Arc::new(Root::open(Path::new("/"), false).unwrap());
        let shared = Shared { root, tell: channel().0, clients: Arc::default(), guard: None };
        FileSession::new(now, "192.0.2.1:7".parse().unwrap(), shared)
    }

    #[test]
    fn who_asks_for_nothing_or_takes_nothing_is_left() {
        let at = |seconds: u64| Instant::from_millis(1000 * seconds);
        let mut session = session(at(10));
        assert_eq!((session.due(), session.idle_since()), (at(25), Some(at(10))));
        session.take_mark(at(20), 0); // PINGs alone: nothing was asked for
        assert_eq!(session.look(at(24), &[]), Status::Working);
        assert_eq!(session.look(at(25), &[]), Status::Done(TIMED_OUT));
        session.streams.insert(0, Exchange::Line(b"GET /".to_vec()));
        session.streams.insert(4, Exchange::Asking(Asking::default()));
        session.take_mark(at(21), 0); // half a request is none
        assert_eq!(session.due(), at(25));

        session.streams.insert(0, Exchange::Waiting(Ask::whole("/file".into()), true));
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
