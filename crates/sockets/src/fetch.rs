//! Fetching a file, from its name to its place on the disk.

use crate::client::{Client, ClientConfig};
use crate::clock::Clock;
use crate::error::SocketError;
use crate::get::{Get, Progress};
use crate::hints::{Aware, Hints};
use crate::interfaces::Local;
use crate::options::Options;
use crate::session::PathReport;
use crate::tls::{Anchor, HQ_INTEROP, Trust};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use units::Duration;

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
    /// How the connection behaves.
    pub options: Options,
    /// What is foreseen of its paths meanwhile.
    pub hints: Hints,
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
    /// The paths.
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
    let name = authority(&fetch.host, fetch.port);
    let trust = Trust::new(&fetch.anchor)?;
    let role = trust.role(&fetch.host, HQ_INTEROP)?;
    let clock = Clock::start();
    let config = ClientConfig {
        servers,
        name,
        paths: fetch.locals.clone(),
        backups: Vec::new(),
        endpoint: fetch.options.config(role)?,
        trust,
        scheduler: fetch.options.scheduler.clone().into(),
        qlog: fetch.options.qlog.clone(),
        patience: fetch.patience,
        clock,
    };
    let mut get = Get::new(&fetch.path, &fetch.out, watch)?;
    let mut session = Aware::new(&mut get, fetch.hints.clone());
    let end = Client::connect(config, &mut session).and_then(|mut client| {
        let closed = client.run(&mut session)?;
        Ok((client, closed))
    });
    let seconds = clock.now().as_secs_f64();
    let outcome = get.outcome();
    let (client, closed) = match end {
        Ok(end) => end,
        Err(error) => return Err(kept(error, &get)),
    };
    match outcome {
        Some(Ok(())) => Ok(Fetched {
            bytes: get.bytes(),
            seconds,
            multipath: client.endpoint().is_multipath(),
            paths: client.reports(),
        }),
        Some(Err(error)) => Err(kept(error, &get)),
        None => Err(kept(client.error(&closed), &get)),
    }
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
