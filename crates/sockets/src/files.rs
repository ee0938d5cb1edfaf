//! A server of files over HTTP/0.9: `GET /path`, the file, the end of the stream.

use crate::server::Service;
use crate::session::{Ends, Session, Status};
use mpquic::{Closed, Endpoint, Event, Read};
use percent_encoding::percent_decode_str;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::net::{IpAddr, SocketAddr};
use std::path::{Component, Path, PathBuf};
use units::{Duration, Instant, PathId};

/// Codes of streams that a server resets; HTTP/0.9 itself has no way to say so.
pub(crate) const NO_SUCH_FILE: u64 = 0x404;
const BAD_REQUEST: u64 = 0x400;
const FAILED: u64 = 0x500;
const MAX_REQUEST_BYTES: usize = 4096;
const CHUNK_BYTES: usize = 1 << 17;
/// How often the caller is asked whether to go on.
const LOOK: Duration = Duration::from_millis(100);

/// What happened at a server, for whoever watches it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Served {
    /// A client connected.
    Opened(SocketAddr),
    /// A client has a further path now, from this address.
    Path(SocketAddr, IpAddr),
    /// A client asked for this, and gets this many bytes; `None`: there is no such file.
    Asked(SocketAddr, String, Option<u64>),
    /// A connection ended, how.
    Closed(SocketAddr, String),
}

/// Serves the files below a folder to every client.
pub struct Files<F> {
    root: PathBuf,
    look_at: Instant,
    news: std::sync::mpsc::Receiver<Served>,
    tell: std::sync::mpsc::Sender<Served>,
    watch: F,
}

impl<F: FnMut(&[Served], usize) -> bool> Files<F> {
    /// `watch` gets what happened and how many connections there are, ten times a second; false
    /// ends the server.
    ///
    /// # Errors
    /// A folder that is none.
    pub fn new(root: &Path, watch: F) -> io::Result<Self> {
        let root = root.canonicalize()?;
        if !root.is_dir() {
            return Err(io::Error::from(io::ErrorKind::NotADirectory));
        }
        let (tell, news) = std::sync::mpsc::channel();
        Ok(Self { root, look_at: Instant::ZERO, news, tell, watch })
    }
}

impl<F: FnMut(&[Served], usize) -> bool> Service for Files<F> {
    fn open(&mut self, remote: SocketAddr) -> Box<dyn Session> {
        self.tell.send(Served::Opened(remote)).ok(); // the receiver is ours
        Box::new(FileSession {
            root: self.root.clone(),
            remote,
            streams: BTreeMap::new(),
            tell: self.tell.clone(),
        })
    }

    fn closed(&mut self, remote: SocketAddr, how: &Closed) {
        self.tell.send(Served::Closed(remote, crate::error::words(how))).ok(); // the receiver is ours
    }

    fn due(&self) -> Instant {
        self.look_at
    }

    fn look(&mut self, now: Instant, connections: usize) -> bool {
        self.look_at = now + LOOK;
        let news: Vec<Served> = self.news.try_iter().collect();
        (self.watch)(&news, connections)
    }
}

/// A request, then its answer.
enum Exchange {
    Asking(Vec<u8>),
    Answering { file: File, left: u64, chunk: Vec<u8>, at: usize },
}

struct FileSession {
    root: PathBuf,
    remote: SocketAddr,
    streams: BTreeMap<u64, Exchange>,
    tell: std::sync::mpsc::Sender<Served>,
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
        Status::Working // the client ends it
    }

    fn on_path(&mut self, _endpoint: &mut Endpoint, net: PathId, ends: Ends) {
        if net != PathId(0) {
            self.tell.send(Served::Path(self.remote, ends.remote)).ok(); // as long as the server is there
        }
    }
}

impl FileSession {
    fn advance(&mut self, now: Instant, endpoint: &mut Endpoint, id: u64) {
        if let Some(Exchange::Asking(request)) = self.streams.get_mut(&id) {
            let Some(line) = read_request(now, endpoint, id, request) else { return };
            let answer = line.and_then(|line| self.look_up(&line));
            match answer {
                Ok((file, left)) => {
                    let answer = Exchange::Answering { file, left, chunk: Vec::new(), at: 0 };
                    self.streams.insert(id, answer);
                }
                Err(code) => {
                    endpoint.reset(id, code).ok(); // it may be over already
                    self.streams.remove(&id);
                    return;
                }
            }
        }
        let Some(exchange) = self.streams.get_mut(&id) else { return };
        match exchange.pour(endpoint, id) {
            Ok(false) => {}
            Ok(true) => {
                endpoint.finish(id).ok(); // it may be over already
                self.streams.remove(&id);
            }
            Err(_) => {
                endpoint.reset(id, FAILED).ok(); // it may be over already
                self.streams.remove(&id);
            }
        }
    }

    fn look_up(&self, request: &str) -> Result<(File, u64), u64> {
        let found = find(&self.root, request).and_then(|path| {
            let about = std::fs::metadata(&path).ok()?;
            // What is not a file, such as a pipe, might never open.
            about.is_file().then(|| File::open(path).ok())?.map(|file| (file, about.len()))
        });
        let bytes = found.as_ref().map(|(_, bytes)| *bytes);
        self.tell.send(Served::Asked(self.remote, request.to_owned(), bytes)).ok(); // as long as the server is there
        found.ok_or(NO_SUCH_FILE)
    }
}

impl Exchange {
    /// Gives the transport what it takes: true when everything was given.
    fn pour(&mut self, endpoint: &mut Endpoint, id: u64) -> io::Result<bool> {
        let Self::Answering { file, left, chunk, at } = self else { return Ok(false) };
        loop {
            if *at == chunk.len() {
                if *left == 0 {
                    return Ok(true);
                }
                let next = (*left).min(CHUNK_BYTES as u64) as usize;
                chunk.resize(next, 0);
                file.read_exact(chunk)?; // a file that became shorter is an error
                *left -= next as u64;
                *at = 0;
            }
            match endpoint.write(id, &chunk[*at..]) {
                Ok(0) => return Ok(false),
                Ok(taken) => *at += taken,
                Err(error) => return Err(io::Error::other(error)),
            }
        }
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

/// The file that a request names: below `root`, also after symbolic links.
pub(crate) fn find(root: &Path, request: &str) -> Option<PathBuf> {
    let plain = request.split(['?', '#']).next()?.strip_prefix('/')?;
    let decoded = percent_decode_str(plain).decode_utf8().ok()?;
    let relative = Path::new(decoded.as_ref());
    let harmless = relative.components().all(|part| matches!(part, Component::Normal(_)));
    if !harmless || decoded.contains('\0') || decoded.is_empty() {
        return None;
    }
    let found = root.join(relative).canonicalize().ok()?;
    found.starts_with(root).then_some(found)
}
