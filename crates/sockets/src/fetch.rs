//! Fetching a file, from its name to its place on the disk.

use crate::client::{Client, ClientConfig};
use crate::clock::Clock;
use crate::error::SocketError;
use crate::files::check_token;
use crate::get::{Get, Order, Progress};
use crate::hints::{Aware, Hints};
use crate::interfaces::Local;
use crate::options::Options;
use crate::session::PathReport;
use crate::tls::{Anchor, HQ_INTEROP, Trust};
use http3::H3;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use units::{Duration, Instant};

/// How long after a connection that ended the next one is tried, at first and at most.
const PAUSE: Duration = Duration::from_millis(100);
const MOST_PAUSE: Duration = Duration::from_secs(1);
/// How often the watcher is asked meanwhile whether to go on.
const LOOK: Duration = Duration::from_millis(100);
/// How much a rate's windows hold: what a connection brings in this time.
const WINDOW: Duration = Duration::from_millis(500);
const LEAST_WINDOW_BYTES: u64 = 64 << 10;

/// A file on a server, and where it goes.
#[derive(Clone, Debug)]
pub struct Fetch {
    /// Name or address of the server.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The file there, with its leading slash.
    pub path: String,
    /// Where it goes.
    pub out: PathBuf,
    /// Local ends of the paths.
    pub locals: Vec<Local>,
    /// How the server is known.
    pub anchor: Anchor,
    /// How long it may take to answer.
    pub patience: Duration,
    /// How long to try again once the server has answered and the connection ended before its time.
    pub persistence: Duration,
    /// How the connection behaves.
    pub options: Options,
    /// Over HTTP/0.9, and so on: the rest of [`Order`].
    pub more: More,
    /// What is foreseen of its paths meanwhile.
    pub hints: Hints,
}

/// What a fetch may want beside its file; see [`Order`].
#[derive(Clone, Debug, Default)]
pub struct More {
    /// Over HTTP/0.9.
    pub hq: bool,
    /// Goes on with what is there.
    pub resume: bool,
    /// The token that it bears.
    pub token: Option<String>,
    /// Bytes of the file in a second, at most.
    pub most_bytes_per_second: Option<u64>,
}

/// What a fetch came to.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// Bytes of the file.
    pub bytes: u64,
    /// From the first packet to the last byte.
    pub seconds: f64,
    /// The server speaks multipath.
    pub multipath: bool,
    /// Its digest is what the server said.
    pub verified: bool,
    /// Connections that it took.
    pub connections: u32,
    /// The paths of the last one.
    pub paths: Vec<PathReport>,
}

/// Fetches a file. `watch` is called ten times a second; false stops.
///
/// # Errors
/// Whatever keeps the file from coming; `OUT.part` then has what came.
pub fn fetch(
    fetch: &Fetch,
    watch: impl FnMut(&Progress<'_>) -> bool + Send,
) -> Result<Fetched, SocketError> {
    fetch_from(resolve(&fetch.host, fetch.port)?, fetch, watch)
}

/// The same from a server whose addresses are known.
pub(crate) fn fetch_from(
    servers: Vec<SocketAddr>,
    fetch: &Fetch,
    watch: impl FnMut(&Progress<'_>) -> bool + Send,
) -> Result<Fetched, SocketError> {
    let config = config(servers, fetch)?;
    let clock = config.clock;
    let mut get = Get::new(order(fetch)?, watch)?;
    let (mut connections, mut pause) = (0, PAUSE);
    // Before the server has answered once there is nothing to go on with.
    let mut gives_up_at = Instant::ZERO;
    loop {
        let before = get.bytes();
        let (client, end) = connect(&config, &mut get, fetch);
        connections += u32::from(client.is_some());
        // A server that answers and gives nothing, again and again, is given up as one that is silent.
        if client.is_some() && (connections == 1 || get.bytes() > before) {
            (gives_up_at, pause) = (clock.now() + fetch.persistence, PAUSE);
        }
        let error = match (client, get.outcome().unwrap_or(end)) {
            (Some(client), Ok(())) => {
                return Ok(Fetched {
                    bytes: get.bytes(),
                    seconds: clock.now().as_secs_f64(),
                    multipath: client.endpoint().is_multipath(),
                    verified: get.is_verified(),
                    connections,
                    paths: client.reports(),
                });
            }
            (_, Ok(())) => SocketError::Lost("it ended before it began".into()),
            (_, Err(error)) => error,
        };
        if !is_passing(&error, get.bytes()) || clock.now() >= gives_up_at {
            return Err(kept(error, &get));
        }
        get.again(&error.to_string());
        rest(clock, pause, &mut get)?;
        pause = (pause * 2).min(MOST_PAUSE);
    }
}

/// One connection: the client, if the server answered, and how it ended unless the file came.
fn connect<F: FnMut(&Progress<'_>) -> bool + Send>(
    config: &ClientConfig,
    get: &mut Get<F>,
    fetch: &Fetch,
) -> (Option<Client>, Result<(), SocketError>) {
    let mut session = Aware::new(get, fetch.hints.clone());
    let mut client = match Client::connect(config.clone(), &mut session) {
        Ok(client) => client,
        Err(error) => return (None, Err(error)),
    };
    let end = client.run(&mut session);
    let error = end.map_or_else(|error| error, |closed| client.error(&closed));
    (Some(client), Err(error))
}

/// Whether to reconnect after an error, with `bytes` of the file received.
fn is_passing(error: &SocketError, bytes: u64) -> bool {
    match error {
        SocketError::Lost(_) | SocketError::NoAnswer { .. } => true,
        SocketError::Busy => bytes > 0, // at first the user is to decide
        _ => false,
    }
}

/// Waits, and asks meanwhile whether to go on.
fn rest<F: FnMut(&Progress<'_>) -> bool + Send>(
    clock: Clock,
    pause: Duration,
    get: &mut Get<F>,
) -> Result<(), SocketError> {
    let until = clock.now() + pause;
    loop {
        if !get.goes_on() {
            return Err(SocketError::Stopped);
        }
        let now = clock.now();
        if now >= until {
            return Ok(());
        }
        std::thread::sleep((until - now).min(LOOK).into());
    }
}

fn config(servers: Vec<SocketAddr>, fetch: &Fetch) -> Result<ClientConfig, SocketError> {
    let trust = Trust::new(&fetch.anchor)?;
    let role = trust.role(&fetch.host, if fetch.more.hq { HQ_INTEROP } else { H3 })?;
    let mut endpoint = fetch.options.config(role)?;
    if let Some(rate) = fetch.more.most_bytes_per_second {
        let window = (rate as f64 * WINDOW.as_secs_f64()) as u64;
        let window = window.max(LEAST_WINDOW_BYTES).min(endpoint.receive_window_bytes);
        endpoint.stream_window_bytes = window;
        endpoint.max_stream_window_bytes = window;
    }
    Ok(ClientConfig {
        servers,
        name: authority(&fetch.host, fetch.port),
        paths: fetch.locals.clone(),
        backups: Vec::new(),
        endpoint,
        trust,
        scheduler: fetch.options.scheduler.clone().into(),
        qlog: fetch.options.qlog.clone(),
        patience: fetch.patience,
        clock: Clock::start(),
    })
}

fn order(fetch: &Fetch) -> Result<Order, SocketError> {
    let More { hq, resume, token, most_bytes_per_second } = fetch.more.clone();
    if hq && (resume || token.is_some()) {
        let say = "hq-interop has neither ranges nor tokens; leave --continue and --token-file out";
        return Err(SocketError::Config(say.into()));
    }
    token.as_deref().map_or(Ok(()), check_token)?;
    Ok(Order {
        path: fetch.path.clone(),
        authority: authority(&fetch.host, fetch.port),
        out: fetch.out.clone(),
        hq,
        resume,
        token,
        most_bytes_per_second,
    })
}

/// The error with what is left of the file.
fn kept<F: FnMut(&Progress<'_>) -> bool + Send>(error: SocketError, get: &Get<F>) -> SocketError {
    match error {
        SocketError::Lost(why) if get.part().1 > 0 => {
            let (part, bytes) = get.part();
            let part = part.display();
            SocketError::Lost(format!("{why}; the {bytes} bytes that came are kept in {part}"))
        }
        error => error,
    }
}

/// Addresses of a host, in the order of the system.
///
/// # Errors
/// A name that nobody knows.
pub fn resolve(host: &str, port: u16) -> Result<Vec<SocketAddr>, SocketError> {
    let found = (host, port).to_socket_addrs();
    let unknown = |error| SocketError::Config(format!("'{host}' has no address: {error}"));
    Ok(found.map_err(unknown)?.collect())
}

/// Host and port as a URL has them.
pub(crate) fn authority(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}
