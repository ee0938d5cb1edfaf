//! A server of files over HTTP/3, and over HTTP/0.9 for interoperability tests.

mod answer;
mod ask;
mod h3;
mod hq;
mod priority;
mod range;
mod root;
mod session;

use crate::error::SocketError;
use crate::server::Service;
use crate::session::Session;
use crate::tell::{News, Tell, channel};
use h3::Guard;
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
/// Longest token.
const MAX_TOKEN_BYTES: usize = 4096;

/// What happened at a server, for whoever watches it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Served {
    /// A client connected.
    Opened(SocketAddr),
    /// A client has a further path now, from this address.
    Path(SocketAddr, IpAddr),
    /// A client asked for this, and gets this many bytes; `None`: there is no such file.
    Asked(SocketAddr, String, Option<u64>),
    /// A client asked for this, and was refused with this status of HTTP.
    Refused(SocketAddr, String, u16),
    /// A client asked for this, and the server could not open it: why. The client was told that the
    /// server is busy.
    Failed(SocketAddr, String, String),
    /// A connection ended, how.
    Closed(SocketAddr, String),
    /// The queue of the watcher was full: the number of events dropped since the last one it got.
    Missed(u64),
}

/// What all clients of a server have in common.
#[derive(Clone)]
struct Shared {
    root: Arc<Root>,
    tell: Tell<Served>,
    /// Clients, to share what answers may occupy.
    clients: Arc<AtomicUsize>,
    guard: Option<Guard>,
}

/// Serves the files below a folder to every client.
pub struct Files<F> {
    shared: Shared,
    look_at: Instant,
    news: News<Served>,
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
        let shared = Shared { root, tell, clients: Arc::default(), guard: None };
        Ok(Self { shared, look_at: Instant::ZERO, news, watch })
    }

    /// Only for those who bear `token` (RFC 6750); HTTP/0.9 then gives nothing.
    ///
    /// # Errors
    /// A token that no field can carry.
    pub fn guarded(mut self, token: &str) -> Result<Self, SocketError> {
        check_token(token)?;
        self.shared.guard = Some(Guard::new(token));
        Ok(self)
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

/// Refuses what is no token of a bearer (RFC 6750 §2.1).
///
/// # Errors
/// Such a token.
pub fn check_token(token: &str) -> Result<(), SocketError> {
    let body = token.trim_end_matches('=');
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte);
    if !body.is_empty() && body.bytes().all(fits) && token.len() <= MAX_TOKEN_BYTES {
        return Ok(());
    }
    let say =
        "a token has 1 to 4096 letters, digits and - . _ ~ + /, as 'openssl rand -hex 32' prints";
    Err(SocketError::Config(say.into()))
}

/// What the answers to one client may occupy, by the number of clients.
fn share(clients: usize) -> u64 {
    (ANSWER_BYTES / clients.max(1) as u64).clamp(LEAST_ANSWER_BYTES, CLIENT_ANSWER_BYTES)
}

impl<F: FnMut(&[Served], usize) -> bool> Service for Files<F> {
    fn open(&mut self, now: Instant, remote: SocketAddr) -> Box<dyn Session> {
        self.shared.tell.say(Served::Opened(remote));
        Box::new(FileSession::new(now, remote, self.shared.clone()))
    }

    fn closed(&mut self, remote: SocketAddr, how: &Closed) {
        self.shared.tell.say(Served::Closed(remote, crate::error::words(how)));
    }

    fn due(&self) -> Instant {
        self.look_at
    }

    fn look(&mut self, now: Instant, connections: usize) -> bool {
        self.look_at = now + LOOK;
        (self.watch)(&self.news.take(Served::Missed), connections)
    }
}
