//! Multipath QUIC on sockets (`crates/sockets`). Everything runs with the GIL released; a watcher in
//! Python is called ten times a second, and what it raises, Ctrl-C included, ends the work.

use crate::refuse;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use sockets::{
    Anchor, AwareService, Behaviour, Carry, Clock, Fetch, Files, H3, HQ_INTEROP, Hints, Identity,
    Limits, Local, More, Notice, Options, PathReport, Progress, RetryPolicy, Served, Server,
    ServerConfig, SocketError, TransferServer, bound_for_files, check_token,
};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Mutex;

/// `skyweave.quic.fetch.Fetch`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FetchRequest {
    host: String,
    port: u16,
    path: String,
    out: PathBuf,
    paths: Vec<String>,
    pin: Option<String>,
    ca: Option<PathBuf>,
    timeout_s: f64,
    retry_for_s: f64,
    hq: bool,
    resume: bool,
    token: Option<String>,
    most_bytes_per_second: Option<u64>,
    options: Options,
}

/// `skyweave.quic.listen.Listen`: what servers of all kinds have.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Listen {
    listen: SocketAddr,
    cert: Option<PathBuf>,
    key: Option<PathBuf>,
    names: Vec<String>,
    limits: Limits,
    retry: RetryPolicy,
    options: Options,
}

impl Listen {
    /// A server for the protocols `alpn`, whose clients may make it hold no more than `bound` says, and
    /// the fingerprint of its certificate.
    pub fn bind(
        &self,
        alpn: &[&[u8]],
        bound: impl FnOnce(&mut mpquic::Config),
    ) -> Result<(Server, String), SocketError> {
        let identity = match (&self.cert, &self.key) {
            (Some(cert), Some(key)) => Identity::from_files(cert, key),
            _ => Identity::self_signed(&self.names),
        }?;
        let mut endpoint = self.options.config(identity.role_of(alpn)?)?;
        endpoint.reset_key = identity.reset_key();
        bound(&mut endpoint);
        let config = ServerConfig {
            endpoint,
            scheduler: self.options.scheduler.clone().into(),
            qlog: self.options.qlog.clone(),
            limits: self.limits,
            retry: self.retry,
            clock: Clock::start(),
        };
        Ok((Server::bind(self.listen, config)?, identity.fingerprint()))
    }
}

/// `skyweave.quic.serve.Serve`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ServeRequest {
    root: PathBuf,
    hidden: bool,
    hq: bool,
    token: Option<String>,
    server: Listen,
}

/// How a server is known to a client: `skyweave.quic.fetch.Verification`.
pub(crate) fn anchor(pin: Option<&str>, ca: Option<PathBuf>) -> Result<Anchor, SocketError> {
    match (pin, ca) {
        (Some(pin), _) => Anchor::pin(pin),
        (None, Some(file)) => Ok(Anchor::Authorities(file)),
        (None, None) => Ok(Anchor::System),
    }
}

/// Interfaces or addresses of a client's paths; none: the default route.
pub(crate) fn locals(paths: &[String]) -> Vec<Local> {
    match paths {
        [] => vec![Local::Any],
        paths => paths.iter().map(|path| Local::parse(path)).collect(),
    }
}

#[derive(Serialize)]
pub(crate) struct PathState<'a> {
    name: &'a str,
    open: bool,
    received_bytes: u64,
    unique_bytes: u64,
    srtt_ms: Option<f64>,
}

#[derive(Serialize)]
struct State<'a> {
    bytes: u64,
    total: Option<u64>,
    paths: Vec<PathState<'a>>,
    notices: Vec<(&'static str, String, String)>,
}

#[derive(Serialize)]
struct Done<'a> {
    bytes: u64,
    seconds: f64,
    multipath: bool,
    verified: bool,
    connections: u32,
    paths: Vec<PathState<'a>>,
}

pub(crate) fn path_state(path: &PathReport) -> PathState<'_> {
    PathState {
        name: &path.name,
        open: path.open,
        received_bytes: path.received_bytes,
        unique_bytes: path.stats.map_or(0, |stats| stats.unique_bytes),
        srtt_ms: path.stats.map(|stats| stats.srtt.as_secs_f64() * 1e3),
    }
}

pub(crate) fn words(notice: &Notice) -> (&'static str, String, String) {
    match notice {
        Notice::PathUp(path) => ("up", path.clone(), String::new()),
        Notice::PathDown(path, why) => ("down", path.clone(), why.clone()),
        Notice::OnePath(path) => ("one", path.clone(), String::new()),
        Notice::Again(why) => ("again", String::new(), why.clone()),
    }
}

/// A board of forecasts for connections that are under way; any thread may write on it.
#[pyclass(frozen, module = "skyweave._skyweave")]
#[derive(Default)]
pub(crate) struct QuicHints {
    board: Hints,
}

impl QuicHints {
    pub fn board(given: Option<&Py<Self>>) -> Hints {
        given.map(|hints| hints.get().board.clone()).unwrap_or_default()
    }
}

#[pymethods]
impl QuicHints {
    /// An empty one.
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Puts up forecasts (JSON, in seconds from now) by interface or address. Raises `ValueError` for
    /// what makes no sense; then nothing is put up.
    fn put(&self, described: &str) -> PyResult<()> {
        let described: BTreeMap<String, forecast::ForecastConfig> =
            serde_json::from_str(described).map_err(refuse)?;
        self.board.put(&described).map_err(raise)
    }
}

/// What a watcher raised.
#[derive(Default)]
pub(crate) struct Raised(pub Option<PyErr>);

impl Raised {
    /// Calls the watcher: false when it raised.
    pub fn call(&mut self, watch: &Py<PyAny>, said: &impl Serialize) -> bool {
        let said = serde_json::to_string(said);
        let result = Python::attach(|py| {
            py.check_signals()?;
            let said = said.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
            watch.call1(py, (said,)).map(drop)
        });
        self.0 = result.err();
        self.0.is_none()
    }
}

/// Fetches a file as `request` (JSON) says; `watch` is called with the state as JSON. Returns what it
/// came to as JSON. Raises `ValueError` for a request that makes no sense, `OSError` for what the
/// system, the network or the server refuses, and whatever `watch` raised.
#[pyfunction]
#[pyo3(signature = (request, watch, hints=None))]
pub(crate) fn quic_fetch(
    py: Python<'_>,
    request: &str,
    watch: Py<PyAny>,
    hints: Option<Py<QuicHints>>,
) -> PyResult<String> {
    let request: FetchRequest = serde_json::from_str(request).map_err(refuse)?;
    let anchor = anchor(request.pin.as_deref(), request.ca).map_err(raise)?;
    let span = |seconds| units::Duration::try_from_secs_f64(seconds).map_err(refuse);
    let (patience, persistence) = (span(request.timeout_s)?, span(request.retry_for_s)?);
    let fetch = Fetch {
        host: request.host,
        port: request.port,
        path: request.path,
        out: request.out,
        locals: locals(&request.paths),
        anchor,
        patience,
        persistence,
        options: request.options,
        more: More {
            hq: request.hq,
            resume: request.resume,
            token: request.token,
            most_bytes_per_second: request.most_bytes_per_second,
        },
        hints: QuicHints::board(hints.as_ref()),
    };
    let mut raised = Raised::default();
    let result = py.detach(|| {
        sockets::fetch(&fetch, |progress: &Progress<'_>| {
            let paths = progress.paths.iter().map(path_state).collect();
            let notices = progress.notices.iter().map(words).collect();
            let (bytes, total) = (progress.bytes, progress.total);
            raised.call(&watch, &State { bytes, total, paths, notices })
        })
    });
    if let Some(error) = raised.0 {
        return Err(error);
    }
    let done = result.map_err(raise)?;
    let paths = done.paths.iter().map(path_state).collect();
    to_json(&Done {
        bytes: done.bytes,
        seconds: done.seconds,
        multipath: done.multipath,
        verified: done.verified,
        connections: done.connections,
        paths,
    })
}

/// A server of files, listening from the beginning.
#[pyclass(frozen, module = "skyweave._skyweave")]
pub(crate) struct QuicFileServer {
    root: PathBuf,
    hidden: bool,
    token: Option<String>,
    server: Mutex<Server>,
    #[pyo3(get)]
    fingerprint: String,
    #[pyo3(get)]
    port: u16,
}

#[pymethods]
impl QuicFileServer {
    /// Raises as `quic_fetch` does.
    #[new]
    fn new(request: &str) -> PyResult<Self> {
        let request: ServeRequest = serde_json::from_str(request).map_err(refuse)?;
        let alpn: &[&[u8]] = if request.hq { &[H3, HQ_INTEROP] } else { &[H3] };
        let (server, fingerprint) = request.server.bind(alpn, bound_for_files).map_err(raise)?;
        let port = server.port();
        let (root, hidden, token) = (request.root, request.hidden, request.token);
        token.as_deref().map_or(Ok(()), check_token).map_err(raise)?;
        Ok(Self { root, hidden, token, server: Mutex::new(server), fingerprint, port })
    }

    /// Serves until `watch` raises; it is called with a JSON list of what happened. Raises that, and
    /// `OSError` for what the system refuses.
    #[pyo3(signature = (watch, hints=None))]
    fn run(&self, py: Python<'_>, watch: Py<PyAny>, hints: Option<Py<QuicHints>>) -> PyResult<()> {
        let mut raised = Raised::default();
        let hints = QuicHints::board(hints.as_ref());
        let result = py.detach(|| {
            let files = Files::new(&self.root, self.hidden, |news: &[Served], connections| {
                let news: Vec<_> = news.iter().map(served).collect();
                raised.call(&watch, &(connections, news))
            })
            .map_err(|source| SocketError::Read { path: self.root.clone(), source })?;
            let files = match &self.token {
                Some(token) => files.guarded(token)?,
                None => files,
            };
            let mut server = self.server.lock().unwrap_or_else(|broken| broken.into_inner());
            server.run(&mut AwareService::new(files, hints))
        });
        match raised.0 {
            Some(error) => Err(error),
            None => result.map_err(raise),
        }
    }
}

fn served(one: &Served) -> (&'static str, String, String, Option<u64>) {
    match one {
        Served::Opened(from) => ("opened", from.to_string(), String::new(), None),
        Served::Path(from, ip) => ("path", from.to_string(), ip.to_string(), None),
        Served::Asked(from, path, bytes) => ("asked", from.to_string(), path.clone(), *bytes),
        Served::Refused(from, path, status) => {
            ("refused", from.to_string(), path.clone(), Some(u64::from(*status)))
        }
        Served::Failed(from, path, why) => {
            ("failed", from.to_string(), format!("{path}: {why}"), None)
        }
        Served::Closed(from, how) => ("closed", from.to_string(), how.clone(), None),
        Served::Missed(count) => ("missed", String::new(), String::new(), Some(*count)),
    }
}

/// The server's end of a bulk transfer, listening from the beginning.
#[pyclass(frozen, module = "skyweave._skyweave")]
pub(crate) struct QuicBulkServer {
    server: Mutex<TransferServer>,
    #[pyo3(get)]
    pin: String,
    #[pyo3(get)]
    port: u16,
}

#[pymethods]
impl QuicBulkServer {
    /// `address` as "10.0.0.1:5201", `behaviour` as JSON. Raises as `quic_fetch` does.
    #[new]
    fn new(address: &str, behaviour: &str) -> PyResult<Self> {
        let behaviour: Behaviour = serde_json::from_str(behaviour).map_err(refuse)?;
        let address: SocketAddr = address.parse().map_err(refuse)?;
        let server = TransferServer::bind(address, &behaviour).map_err(raise)?;
        let (pin, port) = (server.pin().to_owned(), server.port());
        Ok(Self { server: Mutex::new(server), pin, port })
    }

    /// Carries one transfer out as `plan` (JSON) says; the report as JSON. Raises as `quic_fetch`.
    fn carry(&self, py: Python<'_>, plan: &str) -> PyResult<String> {
        let plan: Carry = serde_json::from_str(plan).map_err(refuse)?;
        let report = py.detach(|| {
            let mut server = self.server.lock().unwrap_or_else(|broken| broken.into_inner());
            server.carry(&plan)
        });
        to_json(&report.map_err(raise)?)
    }
}

/// The client's end of a bulk transfer as `plan` (JSON) says; the report as JSON. Raises as
/// `quic_fetch` does.
#[pyfunction]
pub(crate) fn quic_carry(py: Python<'_>, plan: &str) -> PyResult<String> {
    let plan: Carry = serde_json::from_str(plan).map_err(refuse)?;
    let report = py.detach(|| sockets::carry(&plan));
    to_json(&report.map_err(raise)?)
}

pub(crate) fn to_json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

pub(crate) fn raise(error: SocketError) -> PyErr {
    let text = error.to_string();
    match error {
        SocketError::Config(_) | SocketError::Pem { .. } | SocketError::Tls(_) => {
            PyValueError::new_err(text)
        }
        _ => PyOSError::new_err(text),
    }
}
