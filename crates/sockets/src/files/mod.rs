//! A server of files over HTTP/0.9: `GET /path`, the file, the end of the stream.

mod root;
mod session;

use crate::server::Service;
use crate::session::Session;
use crate::tell::{News, Tell, channel};
use mpquic::Closed;
use root::Root;
use session::FileSession;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use units::{Duration, Instant};

/// Codes of streams that a server resets; HTTP/0.9 itself has no way to say so.
pub(crate) const NO_SUCH_FILE: u64 = 0x404;
/// See there.
pub(crate) const BUSY: u64 = 0x503;
/// How often the caller is asked whether to go on.
const LOOK: Duration = Duration::from_millis(100);

/// Bytes that wait for acknowledgement: of all clients together (beyond a least share for each),
/// and of one.
const ANSWER_BYTES: u64 = 1 << 30;
const CLIENT_ANSWER_BYTES: u64 = 8 << 20;
const LEAST_ANSWER_BYTES: u64 = 64 << 10;
/// Requests of a client that are under way or wait.
const CLIENT_STREAMS: u64 = 128;
/// What requests may bring before they are read: all of them, and one.
const REQUESTS_BYTES: u64 = 128 << 10;
const REQUEST_BYTES: u64 = 8 << 10;

/// What happened at a server, for whoever watches it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Served {
    /// A client connected.
    Opened(SocketAddr),
    /// A client has a further path now, from this address.
    Path(SocketAddr, IpAddr),
    /// A client asked for this, and gets this many bytes; `None`: there is no such file.
    Asked(SocketAddr, String, Option<u64>),
    /// A client asked for this, and the server could not open it: why. The client was told that the
    /// server is busy.
    Failed(SocketAddr, String, String),
    /// A connection ended, how.
    Closed(SocketAddr, String),
    /// The queue of the watcher was full: the number of events dropped since the last one it got.
    Missed(u64),
}

/// Serves the files below a folder to every client.
pub struct Files<F> {
    root: Arc<Root>,
    look_at: Instant,
    news: News<Served>,
    tell: Tell<Served>,
    /// Clients, to share what answers may occupy.
    clients: Arc<AtomicUsize>,
    watch: F,
}

impl<F: FnMut(&[Served], usize) -> bool> Files<F> {
    /// `watch` gets what happened and how many connections there are, ten times a second; false
    /// ends the server. Files and folders whose names begin with a dot are served if `hidden`.
    ///
    /// # Errors
    /// A folder that is none, or a kernel before Linux 5.6.
    pub fn new(root: &Path, hidden: bool, watch: F) -> io::Result<Self> {
        let root = Arc::new(Root::open(root, hidden)?);
        let (tell, news) = channel();
        let look_at = Instant::ZERO;
        Ok(Self { root, look_at, news, tell, clients: Arc::default(), watch })
    }
}

/// Bounds what a client of [`Files`] can make its connection hold: answers that it does not
/// acknowledge, requests that it does not finish, and nothing else.
pub fn bound_for_files(config: &mut mpquic::Config) {
    config.send_buffer_bytes = config.send_buffer_bytes.min(CLIENT_ANSWER_BYTES);
    config.stream_window_bytes = REQUEST_BYTES;
    config.receive_window_bytes = REQUESTS_BYTES;
    config.max_receive_window_bytes = REQUESTS_BYTES;
    config.max_streams = CLIENT_STREAMS;
    config.max_datagram_bytes = 0;
}

/// What the answers to one of so many clients may occupy.
fn share(clients: usize) -> u64 {
    (ANSWER_BYTES / clients.max(1) as u64).clamp(LEAST_ANSWER_BYTES, CLIENT_ANSWER_BYTES)
}

impl<F: FnMut(&[Served], usize) -> bool> Service for Files<F> {
    fn open(&mut self, now: Instant, remote: SocketAddr) -> Box<dyn Session> {
        self.tell.say(Served::Opened(remote));
        let shared = (self.root.clone(), self.tell.clone(), self.clients.clone());
        Box::new(FileSession::new(now, remote, shared))
    }

    fn closed(&mut self, remote: SocketAddr, how: &Closed) {
        self.tell.say(Served::Closed(remote, crate::error::words(how)));
    }

    fn due(&self) -> Instant {
        self.look_at
    }

    fn look(&mut self, now: Instant, connections: usize) -> bool {
        self.look_at = now + LOOK;
        (self.watch)(&self.news.take(Served::Missed), connections)
    }
}
