//! One connection of a run: both ends with their applications, and what the record says of it.

use crate::OwnScheduler;
use crate::SimError;
use crate::config::{ConnectionConfig, Transport};
use crate::end::{End, QuicEnd, Setup, TcpEnd};
use crate::exposure::Exposure;
use crate::outcome::{ConnectionTotals, EventRow, PathTotals, SampleRow};
use crate::wire::Packet;
use application::{Application, Row};
use forecast::Forecast;
use link::Direction;
use mptcp::{EndpointConfig, Role};
use recovery::InOrderWaits;
use std::collections::BTreeMap;
use units::{Duration, Instant, PathId};

/// Shorter gaps without anything new do not count as frozen time.
const NOTICED: Duration = Duration::from_millis(200);

/// A wait, if it counts as frozen time.
fn noticed(wait: Duration) -> Duration {
    if wait > NOTICED { wait } else { Duration::ZERO }
}

/// How far a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Waiting,
    Open,
    /// Everything has come; the next sample is its last.
    Complete,
    Over,
}

/// One end, and what runs there.
#[derive(Debug)]
pub(crate) struct Side {
    pub end: Box<dyn End>,
    pub application: Box<dyn Application>,
    /// When the end wanted attention, at the last [`Side::poll_timeout`].
    end_at: Option<Instant>,
}

impl Side {
    fn new(end: Box<dyn End>, application: Box<dyn Application>) -> Self {
        Self { end, application, end_at: None }
    }

    /// The application acts on what happened.
    pub fn serve(&mut self, now: Instant) {
        self.end.serve(now, &mut *self.application);
    }

    /// Called after everything that happens to it.
    pub fn poll_timeout(&mut self) -> Option<Instant> {
        self.end_at = self.end.poll_timeout();
        self.end_at.into_iter().chain(self.application.poll_at()).min()
    }

    pub fn on_timeout(&mut self, now: Instant) {
        debug_assert_eq!(self.end_at, self.end.poll_timeout(), "something happened unnoticed");
        if self.end_at.is_some_and(|at| at <= now) {
            self.end.on_timeout(now);
        }
        self.serve(now);
    }
}

#[derive(Debug)]
pub(crate) struct Connection {
    pub config: ConnectionConfig,
    /// What the scheduler of the sending end is called.
    scheduler: String,
    /// The path of each subflow, as a place in the run.
    pub paths: Vec<usize>,
    pub client: Side,
    pub server: Side,
    /// The way that most of the data go: samples and events are those of its sender.
    pub direction: Direction,
    pub phase: Phase,
    exposure: Exposure,
    opened_at: Instant,
    /// When the application last got something, and the longest that it waited for more.
    fed_at: Option<Instant>,
    fed_bytes: u64,
    longest_stall: Duration,
    /// The sum of the waits that a person notices.
    frozen: Duration,
    ended_at: Option<Instant>,
    completed_at: Option<Instant>,
    sampled_bytes: u64,
}

impl Connection {
    pub fn new(
        config: &ConnectionConfig,
        (paths, backup): (Vec<usize>, Vec<bool>),
        seed: u64,
        own: OwnScheduler,
        exposure: Exposure,
    ) -> Result<Self, SimError> {
        // The end that sends most gets the scheduler under test.
        let workload = config.workload.describe();
        let direction = workload.direction();
        let (client_scheduler, server_scheduler) = match direction {
            Direction::Up => (own.scheduler, scheduler::build(&config.scheduler)),
            Direction::Down => (scheduler::build(&config.scheduler), own.scheduler),
        };
        let (client, server): (Box<dyn End>, Box<dyn End>) = match config.transport {
            Transport::Tcp | Transport::Mptcp => {
                let client = tcp_end(config, true, &backup, seed, client_scheduler);
                let server = tcp_end(config, false, &backup, seed, server_scheduler);
                let (client, server) = TcpEnd::pair(client, server, paths.len());
                (Box::new(client), Box::new(server))
            }
            Transport::Mpquic => {
                let end = |is_client, scheduler| {
                    let seed = seed.wrapping_add(u64::from(is_client));
                    let (connection, backup) = (config, &backup[..]);
                    QuicEnd::new(&Setup { connection, is_client, backup, seed }, scheduler)
                };
                (Box::new(end(true, client_scheduler)?), Box::new(end(false, server_scheduler)?))
            }
        };
        Ok(Self {
            client: Side::new(client, workload.client()),
            server: Side::new(server, workload.server()),
            direction,
            scheduler: own.name,
            config: config.clone(),
            paths,
            exposure,
            phase: Phase::Waiting,
            opened_at: Instant::ZERO,
            fed_at: None,
            fed_bytes: 0,
            longest_stall: Duration::ZERO,
            frozen: Duration::ZERO,
            ended_at: None,
            completed_at: None,
            sampled_bytes: 0,
        })
    }

    /// Opened before `now`: its sample covers a whole interval or the part since its opening.
    pub fn is_sampled(&self, now: Instant) -> bool {
        self.is_running() && self.opened_at < now
    }

    pub fn is_running(&self) -> bool {
        matches!(self.phase, Phase::Open | Phase::Complete)
    }

    pub fn sender(&self) -> &dyn End {
        match self.direction {
            Direction::Down => &*self.server.end,
            Direction::Up => &*self.client.end,
        }
    }

    fn sender_mut(&mut self) -> &mut dyn End {
        match self.direction {
            Direction::Down => &mut *self.server.end,
            Direction::Up => &mut *self.client.end,
        }
    }

    pub fn receiver(&self) -> &dyn End {
        match self.direction {
            Direction::Down => &*self.client.end,
            Direction::Up => &*self.server.end,
        }
    }

    /// What is known ahead of a path: both applications see it, and the end that sends most acts on it.
    pub fn set_forecast(&mut self, path: PathId, forecast: &Forecast) {
        for side in [&mut self.client, &mut self.server] {
            side.end.foresee(path, forecast.clone());
        }
        self.sender_mut().set_forecast(path, forecast.clone());
    }

    /// The client opens the connection.
    pub fn open(&mut self, now: Instant) {
        self.phase = Phase::Open;
        self.opened_at = now;
        self.server.end.open(now);
        self.client.end.open(now);
    }

    /// When it was opened, or shall be.
    fn start_s(&self) -> f64 {
        if self.config.after.is_some() && self.phase != Phase::Waiting {
            self.opened_at.as_secs_f64()
        } else {
            self.config.start_s
        }
    }

    /// The time given to it is over, or all is delivered and sampled.
    pub fn end(&mut self, now: Instant) {
        if self.phase != Phase::Over {
            self.phase = Phase::Over;
            self.ended_at = Some(self.completed_at.unwrap_or(now));
        }
    }

    /// One of its ends puts a packet on a path.
    pub fn note_sent(&mut self, now: Instant, end: Direction, path: PathId, packet: &Packet) {
        let Packet::Segment(segment) = packet else { return };
        let Some(payload) = segment.payload.filter(|_| end != self.direction) else {
            return;
        };
        if self.exposure.is_over() {
            return;
        }
        let srtt = self.sender().srtt(path);
        self.exposure.on_sent(now, (path, segment.incarnation), payload, srtt);
    }

    /// Notes what has come, and the moment when an application has all that it waits for.
    pub fn note_delivered(&mut self, now: Instant) {
        if self.phase != Phase::Open {
            return;
        }
        if self.client.application.is_done() || self.server.application.is_done() {
            self.phase = Phase::Complete;
            self.completed_at = Some(now);
        }
        let delivered_bytes = self.receiver().delivered_bytes();
        if delivered_bytes == self.fed_bytes {
            return;
        }
        let waited = self.fed_at.map_or(Duration::ZERO, |at| now - at);
        self.longest_stall = self.longest_stall.max(waited);
        self.frozen += noticed(waited);
        self.fed_at = Some(now);
        self.fed_bytes = delivered_bytes;
    }

    /// The wait that was not over at the end, if anything came.
    fn last_wait(&self, end: Instant) -> Option<Duration> {
        self.fed_at.map(|at| if self.completed_at.is_some() { at } else { end } - at)
    }

    /// Longest time without anything new for the application, from its first byte on.
    fn longest_stall(&self, end: Instant) -> Option<Duration> {
        self.last_wait(end).map(|last| last.max(self.longest_stall))
    }

    /// Time in gaps of more than [`NOTICED`] without anything new, from the first byte on.
    fn frozen(&self, end: Instant) -> Option<Duration> {
        self.last_wait(end).map(|last| self.frozen + noticed(last))
    }

    /// The rows of one sample time: one a path, then the connection's own.
    pub fn sample(&mut self, row: &SampleRow, queues: &[u64], rows: &mut Vec<SampleRow>) {
        let interval_s = row.interval_s;
        for (local, path) in self.paths.iter().enumerate() {
            let mut own = SampleRow { path: Some(*path), queue_bytes: queues[local], ..*row };
            self.sender().sample(PathId(local as u8), &mut own);
            rows.push(own);
        }
        let waiting_bytes = self.receiver().in_order_waits().map(InOrderWaits::waiting_bytes);
        let delivered_bytes = self.receiver().delivered_bytes();
        let fresh_bytes = delivered_bytes - self.sampled_bytes;
        self.sampled_bytes = delivered_bytes;
        rows.push(SampleRow {
            path: None,
            delivered_bytes,
            goodput_mbps: fresh_bytes as f64 * 8e-6 / interval_s,
            reorder_buffer_bytes: waiting_bytes.unwrap_or_default(),
            send_window_bytes: self.sender().counts().window_left_bytes,
            ..*row
        });
    }

    /// What both ends noted since the last call; an event of the client's goes by its own name.
    pub fn take_events(&mut self, connection: usize, rows: &mut Vec<EventRow>) {
        let sends_down = self.direction == Direction::Down;
        for event in self.sender_mut().take_events() {
            rows.push(EventRow {
                time_s: event.at.as_secs_f64(),
                connection,
                path: event.path.map(|local| self.paths[local.index()]),
                event: event.name,
                value: event.value,
            });
        }
        let receiver = if sends_down { &mut self.client } else { &mut self.server };
        receiver.end.take_events(); // its subflows come and go with the sender's
    }

    /// What both applications have for the record.
    pub fn application_rows(&self, stopped_at: Instant) -> Vec<Row> {
        let end = self.ended_at.or(self.completed_at).unwrap_or(stopped_at);
        let both = [&self.client, &self.server];
        both.into_iter().flat_map(|side| side.application.rows(Instant::ZERO, end)).collect()
    }

    pub fn totals(&self, path_names: &[String], stopped_at: Instant) -> ConnectionTotals {
        let (sender, receiver) = (self.sender(), self.receiver());
        let end = self.ended_at.or(self.completed_at).unwrap_or(stopped_at);
        let seconds = (end - self.opened_at).as_secs_f64();
        let waits = receiver.in_order_waits();
        let delivered_bytes = receiver.delivered_bytes();
        let counts = sender.counts();
        let mut paths: BTreeMap<String, PathTotals> = BTreeMap::new();
        for (local, path) in self.paths.iter().enumerate() {
            let id = PathId(local as u8);
            let mut one = sender.path_totals(id);
            one.unique_bytes = receiver.path_totals(id).unique_bytes;
            one.add_blocked(waits.map(|waits| waits.blocked_by(id)).unwrap_or_default());
            if self.config.transport != Transport::Mpquic {
                one.add_caused(self.exposure.caused(id));
            }
            let all = paths.entry(path_names[*path].clone());
            all.and_modify(|all| *all = all.plus(&one)).or_insert(one);
        }
        ConnectionTotals {
            transport: match self.config.transport {
                Transport::Tcp => "tcp",
                Transport::Mptcp => "mptcp",
                Transport::Mpquic => "mpquic",
            },
            scheduler: self.scheduler.clone(),
            congestion: self.config.congestion.algorithm().name(),
            direction: self.direction.name(),
            start_s: self.start_s(),
            completion_s: self.completed_at.map(|at| (at - self.opened_at).as_secs_f64()),
            delivered_bytes,
            goodput_mbps: if seconds > 0.0 { delivered_bytes as f64 * 8e-6 / seconds } else { 0.0 },
            longest_stall_s: self.longest_stall(end).map(|stall| stall.as_secs_f64()),
            frozen_s: self.frozen(end).map(|frozen| frozen.as_secs_f64()),
            in_order_wait_mean_ms: in_ms(waits.and_then(InOrderWaits::mean)),
            in_order_wait_p50_ms: in_ms(waits.and_then(|waits| waits.quantile(0.5))),
            in_order_wait_p99_ms: in_ms(waits.and_then(|waits| waits.quantile(0.99))),
            in_order_wait_longest_ms: in_ms(waits.and_then(InOrderWaits::longest)),
            duplicate_bytes: receiver.duplicate_bytes(),
            reorder_buffer_max_bytes: waits.map_or(0, InOrderWaits::waiting_max_bytes),
            meta_timeouts: counts.meta_timeouts,
            window_stalls: counts.window_stalls,
            penalisations: counts.penalisations,
            waits: counts.waits,
            paths,
        }
    }
}

fn in_ms(span: Option<Duration>) -> Option<f64> {
    span.map(|span| span.as_secs_f64() * 1e3)
}

fn tcp_end(
    config: &ConnectionConfig,
    is_client: bool,
    backup: &[bool],
    seed: u64,
    scheduler: Box<dyn scheduler::Scheduler>,
) -> mptcp::Endpoint {
    let mode = config.effective_mode();
    let endpoint = EndpointConfig {
        role: if is_client { Role::Client } else { Role::Server },
        mode,
        congestion: config.congestion.clone(),
        controller: congestion::Config::new(mode.counted_bytes(), seed),
        send_buffer_bytes: config.send_buffer_bytes,
        receive_buffer_bytes: config.receive_buffer_bytes,
        autotune: config.autotune,
        backup: backup.to_vec(),
    };
    mptcp::Endpoint::new(endpoint, scheduler, backup.len())
}
