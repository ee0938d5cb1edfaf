//! Both ends of a workload as JSON describes them: for live runs.

use crate::client::{Client, ClientConfig};
use crate::clock::Clock;
use crate::error::SocketError;
use crate::foresight::{Foresight, PathForecasts};
use crate::gate::RetryPolicy;
use crate::interfaces::Local;
use crate::limits::Limits;
use crate::options::PACING_GRAIN;
use crate::server::{Server, ServerConfig, Service};
use crate::session::Session;
use crate::tls::{Anchor, Identity, Trust};
use crate::transfer::{COMPLETE, Shared, Transfer, TransferPlan, TransferReport};
use application::Workload;
use mpquic::{Closed, Config, QuicConfig, Role, StudyConnection};
use serde::Deserialize;
use std::net::SocketAddr;
use units::{Duration, Instant};

/// The protocol of workloads.
const ALPN: &[u8] = b"skyweave-bulk";
/// A self-signed certificate has to name something; clients know it by its pin.
const NAME: &str = "bulk.skyweave";
/// How often the end of time is looked for.
const LOOK: Duration = Duration::from_millis(20);
/// For so long a server outlives its transfers: they take their last look at the end of their time.
const LAST_LOOK: Duration = Duration::from_millis(20);
/// Between two tries to reach the server: a device tries again as soon as it has a path.
const RETRY: Duration = Duration::from_millis(100);

/// How a connection of a study behaves.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Behaviour {
    /// As the simulator has it, too.
    pub connection: StudyConnection,
    /// Which path carries the next packet of data.
    pub scheduler: scheduler::Choice,
}

impl Behaviour {
    fn config(&self, role: Role) -> Result<Config, SocketError> {
        let QuicConfig { datagram_bytes, .. } = self.connection.quic;
        if !self.connection.quic.is_possible() {
            let say = format!("datagrams of {datagram_bytes} bytes cannot be; take 1200 to 65507");
            return Err(SocketError::Config(say));
        }
        Ok(Config { pacing_grain: PACING_GRAIN, ..self.connection.config(role) })
    }
}

/// One end of a transfer. All times are those of `CLOCK_MONOTONIC`, which both ends share.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Carry {
    /// How the connection behaves.
    pub behaviour: Behaviour,
    /// What runs.
    pub workload: Workload,
    /// Samples are counted from here.
    pub epoch_ns: u64,
    /// It is over then.
    pub end_ns: u64,
    /// Spacing of the samples; 0: none.
    pub interval_ns: u64,
    /// What the sender knows ahead, and what reaches it later.
    #[serde(default)]
    pub forecasts: Vec<PathForecasts>,
    /// Client: where the server is.
    pub server: Option<SocketAddr>,
    /// Client: fingerprint of the server's certificate.
    pub pin: Option<String>,
    /// Client: interfaces or addresses of the paths.
    #[serde(default)]
    pub paths: Vec<String>,
    /// Client: those of `paths` that carry data only while no other one is usable.
    #[serde(default)]
    pub backups: Vec<String>,
}

/// All of it is on `CLOCK_MONOTONIC` itself.
fn clock() -> Clock {
    Clock::since(0)
}

impl Carry {
    fn plan(&self, is_client: bool) -> Result<TransferPlan, SocketError> {
        let at = Instant::from_nanos;
        Ok(TransferPlan {
            workload: self.workload.clone(),
            end: at(self.end_ns),
            epoch: at(self.epoch_ns),
            interval: Duration::from_nanos(self.interval_ns),
            foresight: Foresight::new(&self.forecasts, at(self.epoch_ns))?,
            is_client,
            datagram_bytes: self.behaviour.connection.quic.datagram_bytes as u64,
            clock: clock(),
        })
    }
}

/// The client's end of a transfer, until it is complete or its time over.
///
/// # Errors
/// A description that makes no sense. What happens on the way is in the report.
pub fn carry(carry: &Carry) -> Result<TransferReport, SocketError> {
    let missing =
        |what: &str| SocketError::Config(format!("a client needs the {what} of the server"));
    let server = carry.server.ok_or_else(|| missing("address"))?;
    let pin = carry.pin.as_ref().ok_or_else(|| missing("fingerprint"))?;
    let trust = Trust::new(&Anchor::pin(pin)?)?;
    let place = |name: &String| carry.paths.iter().position(|path| path == name);
    let unknown = |name: &String| {
        SocketError::Config(format!("the backup path {name} is none of the client's paths"))
    };
    let backups = carry.backups.iter().map(|name| place(name).ok_or_else(|| unknown(name)));
    let config = ClientConfig {
        servers: vec![server],
        name: server.to_string(),
        paths: carry.paths.iter().map(|path| Local::parse(path)).collect(),
        backups: backups.collect::<Result<_, _>>()?,
        endpoint: carry.behaviour.config(trust.role(NAME, ALPN)?)?,
        trust,
        scheduler: carry.behaviour.scheduler.clone().into(),
        qlog: None,
        patience: Duration::from_nanos(carry.end_ns.saturating_sub(clock().now().as_nanos())),
        clock: clock(),
    };
    let end = Instant::from_nanos(carry.end_ns);
    let plan = carry.plan(true)?;
    loop {
        let (mut transfer, report) = Transfer::new(plan.clone());
        let error = match Client::connect(config.clone(), &mut transfer) {
            Ok(mut client) => {
                let _how = client.run(&mut transfer); // the report has it
                return Ok(report.lock().clone());
            }
            Err(error @ (SocketError::Config(_) | SocketError::Certificate(_))) => {
                return Err(error);
            }
            Err(error) => error,
        };
        if clock().now() + RETRY >= end {
            report.lock().error = Some(format!("no connection: {error}"));
            return Ok(report.lock().clone());
        }
        std::thread::sleep(RETRY.into());
    }
}

/// The server's end of transfers.
pub struct TransferServer {
    server: Server,
    pin: String,
}

impl TransferServer {
    /// Listens, with a new certificate.
    ///
    /// # Errors
    /// An address that is not available, or a behaviour that makes no sense.
    pub fn bind(address: SocketAddr, behaviour: &Behaviour) -> Result<Self, SocketError> {
        let identity = Identity::self_signed(&[NAME.to_owned()])?;
        let config = ServerConfig {
            endpoint: behaviour.config(identity.role(ALPN)?)?,
            scheduler: behaviour.scheduler.clone().into(),
            qlog: None,
            limits: Limits::of(64),
            retry: RetryPolicy::Never, // a study knows its clients
            clock: clock(),
        };
        let server = Server::bind(address, config)?;
        Ok(Self { server, pin: identity.fingerprint() })
    }

    /// The port that it listens on.
    pub fn port(&self) -> u16 {
        self.server.port()
    }

    /// What its client has to know.
    pub fn pin(&self) -> &str {
        &self.pin
    }

    /// The server's end of a transfer, until it is complete or its time over.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn carry(&mut self, carry: &Carry) -> Result<TransferReport, SocketError> {
        let mut service = OneTransfer {
            plan: carry.plan(false)?,
            reports: Vec::new(),
            look_at: Instant::ZERO,
            over: false,
        };
        self.server.run(&mut service)?;
        // A client that tries several paths leaves connections without any data behind.
        let reports = service.reports.iter().map(|report| report.lock().clone());
        Ok(reports.max_by_key(|report| report.bytes).unwrap_or_default())
    }
}

struct OneTransfer {
    plan: TransferPlan,
    reports: Vec<Shared>,
    look_at: Instant,
    over: bool,
}

impl Service for OneTransfer {
    fn open(&mut self, _now: Instant, _remote: SocketAddr) -> Box<dyn Session> {
        let (transfer, report) = Transfer::new(self.plan.clone());
        self.reports.push(report);
        Box::new(transfer)
    }

    fn closed(&mut self, _remote: SocketAddr, how: &Closed) {
        let done = self.reports.iter().any(|report| report.lock().completed_ns.is_some());
        self.over |= done || matches!(how, Closed::PeerApplication(COMPLETE, _));
        if self.over {
            self.look_at = Instant::ZERO; // at once
        }
    }

    fn due(&self) -> Instant {
        self.look_at
    }

    fn look(&mut self, now: Instant, _connections: usize) -> bool {
        self.look_at = now + LOOK;
        !self.over && now < self.plan.end + LAST_LOOK
    }
}
