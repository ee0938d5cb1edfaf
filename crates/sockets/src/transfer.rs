//! One end of a workload over multipath QUIC, looked at every now and then: what live runs and
//! benchmarks measure.

use crate::clock::{Clock, monotonic_ns};
use crate::foresight::Foresight;
use crate::session::{Ends, PathReport, Session, Status};
use application::{Application, Row as Measured, Workload};
use mpquic::{ApplicationHost, Closed, Endpoint, Event};
use recovery::InOrderWaits;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use units::{Direction, Duration, Instant, PathId};

/// The receiver has everything.
pub(crate) const COMPLETE: u64 = 0;
/// The time of the transfer is over.
const TIME_OVER: u64 = 1;

/// What a transfer is.
#[derive(Clone, Debug)]
pub struct TransferPlan {
    /// What runs.
    pub workload: Workload,
    /// It is over then, finished or not.
    pub end: Instant,
    /// Samples are counted from here.
    pub epoch: Instant,
    /// Spacing of the samples; zero: none.
    pub interval: Duration,
    /// What is known ahead of the paths.
    pub foresight: Foresight,
    /// This end is the client.
    pub is_client: bool,
    /// A full datagram.
    pub datagram_bytes: u64,
    /// The clock of `end`.
    pub clock: Clock,
}

/// What one path was like at a moment; the counts are totals since its beginning.
#[derive(Clone, Debug, Serialize)]
pub struct PathRow {
    /// Our address and port; the client's port is 0, for all sockets that the path had.
    pub local: (String, u16),
    /// The peer's.
    pub remote: (String, u16),
    /// It is open.
    pub open: bool,
    /// Congestion window in full datagrams.
    pub cwnd_packets: f64,
    /// Smoothed RTT.
    pub srtt_ms: f64,
    /// Smallest RTT.
    pub min_rtt_ms: f64,
    /// Packets in flight.
    pub in_flight_packets: u64,
    /// Rate at which packets are spaced.
    pub pacing_mbps: f64,
    /// UDP payload acknowledged.
    pub acked_bytes: u64,
    /// Stream bytes that came here first.
    pub received_bytes: u64,
    /// UDP payload sent.
    pub sent_bytes: u64,
    /// Packets sent that congestion control counts.
    pub sent_packets: u64,
    /// Packets found lost.
    pub lost_packets: u64,
    /// Of these, wrongly.
    pub spurious_losses: u64,
    /// Packets with data that this path had carried before.
    pub retransmitted_packets: u64,
    /// Packets with data that another path had carried before.
    pub reinjected_packets: u64,
    /// Packets that repeat data because the scheduler wants it.
    pub redundant_packets: u64,
    /// Probe timers that fired.
    pub timeouts: u64,
}

/// A moment of a transfer.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Which sample.
    pub tick: u64,
    /// `CLOCK_MONOTONIC` of it.
    pub at_ns: u64,
    /// Bytes that were given to the transport, or came out of it.
    pub bytes: u64,
    /// Receiver: bytes that wait for a hole.
    pub reorder_bytes: u64,
    /// Sender: what the peer's flow control still admits.
    pub send_window_bytes: u64,
    /// The paths.
    pub subflows: Vec<PathRow>,
}

/// Something that happened to a path.
#[derive(Clone, Debug, Serialize)]
pub struct Happening {
    /// `CLOCK_MONOTONIC` of it.
    pub at_ns: u64,
    /// The client's address on the path; empty: the connection itself.
    pub client: String,
    /// What, as the simulator calls it.
    pub event: &'static str,
    /// The number that goes with it: error codes.
    pub value: f64,
}

/// What became of a transfer.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TransferReport {
    /// Bytes moved.
    pub bytes: u64,
    /// `CLOCK_MONOTONIC` of the end of the handshake, in ns.
    pub connected_ns: Option<u64>,
    /// `CLOCK_MONOTONIC` of the last byte, in ns; `None`: not all came.
    pub completed_ns: Option<u64>,
    /// Why it broke off.
    pub error: Option<String>,
    /// The peer speaks no multipath although this end does.
    pub fallback: bool,
    /// Times that the scheduler held data back.
    pub waits: u64,
    /// Times that flow control stopped data.
    pub window_stalls: u64,
    /// Receiver: stream bytes that had come before.
    pub duplicate_bytes: u64,
    /// Receiver: most bytes that ever waited for a hole.
    pub reorder_buffer_max_bytes: u64,
    /// Receiver: how long bytes waited for earlier ones, as of the last sample; `None` if nothing came.
    pub in_order_wait_mean_ms: Option<f64>,
    /// Half of the bytes did not wait longer.
    pub in_order_wait_p50_ms: Option<f64>,
    /// All but a hundredth did not.
    pub in_order_wait_p99_ms: Option<f64>,
    /// The longest wait.
    pub in_order_wait_longest_ms: Option<f64>,
    /// Samples.
    pub rows: Vec<Row>,
    /// What happened to the paths.
    pub events: Vec<Happening>,
    /// What the application measured, in the columns of its workload.
    pub application: Vec<Measured>,
}

/// A report that is filled while the transfer runs.
#[derive(Clone, Debug, Default)]
pub struct Shared(Arc<Mutex<TransferReport>>);

impl Shared {
    /// The report, to read or to take.
    pub fn lock(&self) -> MutexGuard<'_, TransferReport> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TransferPlan {
    /// This end sends most of the data.
    fn sends(&self) -> bool {
        (self.workload.describe().direction() == Direction::Up) == self.is_client
    }
}

/// One end of a transfer.
#[derive(Debug)]
pub struct Transfer {
    plan: TransferPlan,
    report: Shared,
    application: Box<dyn Application>,
    host: ApplicationHost,
    tick: u64,
    state: (u64, u64),
    /// With which code it ends.
    end: Option<u64>,
    /// The last look was taken.
    over: bool,
    /// The client's address on each path.
    clients: BTreeMap<PathId, String>,
}

impl Transfer {
    /// One end of a transfer, and its report.
    pub fn new(plan: TransferPlan) -> (Self, Shared) {
        let report = Shared::default();
        let shared = report.clone();
        let workload = plan.workload.describe();
        let mut transfer = Self {
            application: if plan.is_client { workload.client() } else { workload.server() },
            host: ApplicationHost::default(),
            plan,
            report,
            tick: 0,
            state: (0, 0),
            end: None,
            over: false,
            clients: BTreeMap::new(),
        };
        transfer.tick = transfer.tick_after(transfer.plan.clock.now());
        (transfer, shared)
    }

    /// Bytes moved the way that most data go.
    fn moved(&self) -> u64 {
        if self.plan.sends() { self.host.written_bytes() } else { self.host.read_bytes() }
    }

    /// The first sample after a moment; 0 where there are none.
    fn tick_after(&self, now: Instant) -> u64 {
        let since = now.since(self.plan.epoch).as_nanos();
        since.checked_div(self.plan.interval.as_nanos()).map_or(0, |tick| tick + 1)
    }

    fn tick_at(&self) -> Instant {
        match self.plan.interval {
            Duration::ZERO => Instant::FAR_FUTURE,
            interval => self.plan.epoch + Duration::from_nanos(interval.as_nanos() * self.tick),
        }
    }

    fn note_waits(&self, waits: &InOrderWaits) {
        let ms = |span: Option<Duration>| span.map(|span| span.as_secs_f64() * 1e3);
        let mut report = self.report.lock();
        report.in_order_wait_mean_ms = ms(waits.mean());
        report.in_order_wait_p50_ms = ms(waits.quantile(0.5));
        report.in_order_wait_p99_ms = ms(waits.quantile(0.99));
        report.in_order_wait_longest_ms = ms(waits.longest());
    }

    fn note(&self, endpoint: &Endpoint, events: &[Event]) {
        let mut report = self.report.lock();
        report.bytes = self.moved();
        for event in events {
            match event {
                Event::PathEstablished(net) => {
                    self.happen(&mut report, Some(*net), "established", 0)
                }
                Event::PathFailed(net) => self.happen(&mut report, Some(*net), "failed", 0),
                Event::PathRevived(net) => self.happen(&mut report, Some(*net), "revived", 0),
                Event::PathAbandoned(net, code) => {
                    self.happen(&mut report, Some(*net), "closed", *code);
                }
                Event::Connected => report.connected_ns = Some(monotonic_ns()),
                Event::NoMultipath => {
                    report.fallback = true;
                    self.happen(&mut report, None, "fallback", 0);
                }
                Event::Closed(Closed::PeerApplication(COMPLETE, _)) => {
                    report.completed_ns.get_or_insert(monotonic_ns());
                }
                Event::Closed(Closed::Local | Closed::PeerApplication(..)) => {}
                Event::Closed(closed) => {
                    report.error = Some(crate::error::words(closed));
                    self.happen(&mut report, None, "over", 0);
                }
                _ => {}
            }
        }
        let totals = endpoint.totals();
        report.waits = totals.waits;
        report.window_stalls = totals.window_stalls;
        report.duplicate_bytes = totals.duplicate_bytes;
        report.reorder_buffer_max_bytes = totals.reorder_max_bytes;
    }
}

impl Transfer {
    fn happen(
        &self,
        report: &mut TransferReport,
        net: Option<PathId>,
        event: &'static str,
        value: u64,
    ) {
        let client = net.and_then(|net| self.clients.get(&net)).cloned().unwrap_or_default();
        report.events.push(Happening { at_ns: monotonic_ns(), client, event, value: value as f64 });
    }
}

impl Session for Transfer {
    fn work(&mut self, now: Instant, endpoint: &mut Endpoint, events: &[Event]) -> Status {
        if self.end.is_some() {
            return Status::Working;
        }
        self.plan.foresight.deliver(now, endpoint, &mut self.host);
        let signals = events.iter().filter_map(ApplicationHost::signal);
        self.host.serve(now, endpoint, signals, &mut *self.application);
        self.note(endpoint, events);
        self.state = (endpoint.totals().reorder_bytes, endpoint.send_window_bytes());
        if self.application.is_done() {
            self.report.lock().completed_ns.get_or_insert(monotonic_ns());
            self.end = Some(COMPLETE);
        }
        if events.iter().any(|event| matches!(event, Event::Closed(_))) {
            self.end.get_or_insert(TIME_OVER); // nothing can be said any more
        }
        if self.end.is_some() || self.tick_at() <= now || self.plan.end <= now {
            self.note_waits(endpoint.in_order_waits());
        }
        Status::Working // the last look ends it
    }

    fn due(&self) -> Instant {
        match self.end {
            Some(_) if self.over => Instant::FAR_FUTURE,
            Some(_) => Instant::ZERO,
            None => {
                let look = self.tick_at().min(self.plan.end).min(self.plan.foresight.due());
                self.application.poll_at().map_or(look, |at| at.min(look))
            }
        }
    }

    fn look(&mut self, now: Instant, paths: &[PathReport]) -> Status {
        if self.plan.end <= now {
            self.end.get_or_insert(TIME_OVER);
        }
        self.over = self.end.is_some();
        if self.over {
            let rows = self.application.rows(self.plan.epoch, now.min(self.plan.end));
            self.report.lock().application = rows;
        }
        // What ends between two samples has its last one at the second.
        if self.tick_at() <= now || (self.over && self.plan.interval > Duration::ZERO) {
            self.report.lock().rows.push(Row {
                tick: self.tick,
                at_ns: self.plan.clock.to_monotonic_ns(now),
                bytes: self.moved(),
                reorder_bytes: self.state.0,
                send_window_bytes: self.state.1,
                subflows: paths.iter().filter_map(|path| row_of(path, &self.plan)).collect(),
            });
            self.tick = self.tick_after(now);
        }
        self.end.map_or(Status::Working, Status::Done)
    }

    fn on_path(&mut self, endpoint: &mut Endpoint, net: PathId, ends: Ends) {
        let client = if self.plan.is_client { ends.local } else { Some(ends.remote) };
        let name = client.map(|ip| ip.to_canonical().to_string()).unwrap_or_default();
        self.clients.insert(net, name);
        self.plan.foresight.on_path((endpoint, &mut self.host), net, client);
    }
}

fn row_of(path: &PathReport, plan: &TransferPlan) -> Option<PathRow> {
    let stats = path.stats?;
    let local = path.local.map_or((String::new(), 0), |local| {
        (local.ip().to_canonical().to_string(), if plan.is_client { 0 } else { local.port() })
    });
    let ms = |span: Duration| span.as_secs_f64() * 1e3;
    Some(PathRow {
        local,
        remote: (path.remote.ip().to_canonical().to_string(), path.remote.port()),
        open: path.open,
        cwnd_packets: stats.cwnd_bytes as f64 / plan.datagram_bytes as f64,
        srtt_ms: ms(stats.srtt),
        min_rtt_ms: ms(stats.min_rtt),
        in_flight_packets: stats.in_flight_packets,
        pacing_mbps: stats.pacing_rate.as_mbps(),
        acked_bytes: stats.delivered_bytes,
        received_bytes: stats.unique_bytes,
        sent_bytes: stats.sent_bytes,
        sent_packets: stats.sent_packets,
        lost_packets: stats.lost_packets,
        spurious_losses: stats.spurious_losses,
        retransmitted_packets: stats.retransmitted_packets,
        reinjected_packets: stats.reinjected_packets,
        redundant_packets: stats.redundant_packets,
        timeouts: stats.probe_timeouts,
    })
}
