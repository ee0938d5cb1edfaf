//! Gateways of TCP over multipath QUIC (`crates/sockets`), as the module `quic`.

use crate::quic::{Listen, PathState, QuicHints, Raised, anchor, locals, path_state, raise, words};
use crate::refuse;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use sockets::{
    AwareService, Connect, Door, Doors, GATEWAY, Gateway, Hints, Options, Origin, Origins, Passed,
    Passing, Server, SocketError, bound_for_gateway,
};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Mutex;

/// `skyweave.quic.gateway.Origin`, resolved.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OriginRequest {
    name: String,
    addresses: Vec<SocketAddr>,
}

/// `skyweave.quic.gateway.Gateway`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GatewayRequest {
    origins: Vec<OriginRequest>,
    server: Listen,
}

/// `skyweave.quic.gateway.Door`, resolved.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DoorRequest {
    listen: SocketAddr,
    origin: String,
}

/// `skyweave.quic.gateway.Connector`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConnectRequest {
    host: String,
    port: u16,
    doors: Vec<DoorRequest>,
    paths: Vec<String>,
    pin: Option<String>,
    ca: Option<PathBuf>,
    timeout_s: f64,
    options: Options,
}

/// `skyweave.quic.gateway.Passed`.
#[derive(Serialize)]
struct News<'a> {
    kind: &'static str,
    who: String,
    origin: &'a str,
    why: Option<String>,
    up_bytes: u64,
    down_bytes: u64,
}

fn news(one: &Passed) -> News<'_> {
    let plain = |kind, who: &SocketAddr, origin, why| News {
        kind,
        who: who.to_string(),
        origin,
        why,
        up_bytes: 0,
        down_bytes: 0,
    };
    match one {
        Passed::Opened(who) => plain("opened", who, "", None),
        Passed::Path(who, ip) => plain("path", who, "", Some(ip.to_string())),
        Passed::Begun(who, origin) => plain("begun", who, origin, None),
        Passed::Refused(who, origin, why) => plain("refused", who, origin, Some(why.clone())),
        Passed::Ended(who, origin, [up_bytes, down_bytes], why) => News {
            up_bytes: *up_bytes,
            down_bytes: *down_bytes,
            ..plain("ended", who, origin, why.clone())
        },
        Passed::Closed(who, how) => plain("closed", who, "", Some(how.clone())),
        Passed::Missed(count) => {
            let (kind, why) = ("missed", Some(count.to_string()));
            News { kind, who: String::new(), origin: "", why, up_bytes: 0, down_bytes: 0 }
        }
    }
}

/// The server's side, listening from the beginning.
#[pyclass(frozen, module = "skyweave._skyweave")]
pub(crate) struct QuicGateway {
    origins: Origins,
    server: Mutex<Server>,
    #[pyo3(get)]
    fingerprint: String,
    #[pyo3(get)]
    port: u16,
}

#[pymethods]
impl QuicGateway {
    /// Raises as `quic_fetch` does.
    #[new]
    fn new(request: &str) -> PyResult<Self> {
        let request: GatewayRequest = serde_json::from_str(request).map_err(refuse)?;
        let origins = request.origins.into_iter();
        let origins = origins.map(|one| Origin { name: one.name, addresses: one.addresses });
        let origins = Origins::new(origins.collect()).map_err(raise)?;
        let bound = request.server.bind(&[GATEWAY], bound_for_gateway);
        let (server, fingerprint) = bound.map_err(raise)?;
        let port = server.port();
        Ok(Self { origins, server: Mutex::new(server), fingerprint, port })
    }

    /// Serves until `watch` raises; it is called with JSON: the number of clients, and a list of what
    /// happened. Raises that, and `OSError` for what the system refuses.
    #[pyo3(signature = (watch, hints=None))]
    fn run(&self, py: Python<'_>, watch: Py<PyAny>, hints: Option<Py<QuicHints>>) -> PyResult<()> {
        let mut raised = Raised::default();
        let hints = QuicHints::board(hints.as_ref());
        let result = py.detach(|| {
            let gateway = Gateway::new(self.origins.clone(), |said: &[Passed], clients| {
                let said: Vec<_> = said.iter().map(news).collect();
                raised.call(&watch, &(clients, said))
            });
            let mut server = self.server.lock().unwrap_or_else(|broken| broken.into_inner());
            server.run(&mut AwareService::new(gateway, hints))
        });
        ended(raised, result)
    }
}

fn ended(raised: Raised, result: Result<(), SocketError>) -> PyResult<()> {
    match raised.0 {
        Some(error) => Err(error),
        None => result.map_err(raise),
    }
}

#[derive(Serialize)]
struct State<'a> {
    connections: usize,
    paths: Vec<PathState<'a>>,
    notices: Vec<(&'static str, String, String)>,
    news: Vec<News<'a>>,
}

/// The client's side, listening for players from the beginning.
#[pyclass(frozen, module = "skyweave._skyweave")]
pub(crate) struct QuicDoors {
    connect: Connect,
    doors: Doors,
    #[pyo3(get)]
    addresses: Vec<String>,
}

#[pymethods]
impl QuicDoors {
    /// Raises as `quic_fetch` does.
    #[new]
    fn new(request: &str) -> PyResult<Self> {
        let request: ConnectRequest = serde_json::from_str(request).map_err(refuse)?;
        let connect = Connect {
            host: request.host,
            port: request.port,
            locals: locals(&request.paths),
            anchor: anchor(request.pin.as_deref(), request.ca).map_err(raise)?,
            patience: units::Duration::try_from_secs_f64(request.timeout_s).map_err(refuse)?,
            options: request.options,
            hints: Hints::default(),
        };
        let doors = request.doors.into_iter();
        let doors = doors.map(|door| Door { listen: door.listen, origin: door.origin });
        let doors = Doors::bind(&doors.collect::<Vec<_>>()).map_err(raise)?;
        let addresses = doors.addresses().iter().map(SocketAddr::to_string).collect();
        Ok(Self { connect, doors, addresses })
    }

    /// Passes connections until `watch` raises; it is called with the state as JSON. Raises that, and
    /// as `quic_fetch` does where the gateway is not reached at first.
    #[pyo3(signature = (watch, hints=None))]
    fn run(&self, py: Python<'_>, watch: Py<PyAny>, hints: Option<Py<QuicHints>>) -> PyResult<()> {
        let mut raised = Raised::default();
        let connect = Connect { hints: QuicHints::board(hints.as_ref()), ..self.connect.clone() };
        let result = py.detach(|| {
            self.doors.run(&connect, |passing: &Passing<'_>| {
                let state = State {
                    connections: passing.connections,
                    paths: passing.paths.iter().map(path_state).collect(),
                    notices: passing.notices.iter().map(words).collect(),
                    news: passing.news.iter().map(news).collect(),
                };
                raised.call(&watch, &state)
            })
        });
        ended(raised, result)
    }
}
