//! One connection of a run: both endpoints, its application, and what the record says of it.

use crate::SimError;
use crate::config::{ConnectionConfig, Transport};
use crate::end::{End, QuicEnd, Setup};
use crate::exposure::Exposure;
use crate::outcome::{ConnectionTotals, EventRow, PathTotals, SampleRow};
use crate::wire::Packet;
use link::Direction;
use mptcp::{EndpointConfig, Role};
use scheduler::Scheduler;
use std::collections::BTreeMap;
use units::{Duration, Instant, PathId};

/// Bulk data without end: more than any link carries in a run.
const ENDLESS_BYTES: u64 = 1 << 60;

/// How far a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Waiting,
    Open,
    /// Everything was delivered; the next sample is its last.
    Complete,
    Over,
}

#[derive(Debug)]
pub(crate) struct Connection {
    pub config: ConnectionConfig,
    /// The path of each subflow, as a place in the run.
    pub paths: Vec<usize>,
    pub client: Box<dyn End>,
    pub server: Box<dyn End>,
    pub phase: Phase,
    exposure: Exposure,
    opened_at: Instant,
    /// When the application last got something, and the longest that it waited for more.
    fed_at: Option<Instant>,
    fed_bytes: u64,
    longest_stall: Duration,
    ended_at: Option<Instant>,
    completed_at: Option<Instant>,
    sampled_bytes: u64,
}

impl Connection {
    pub fn new(
        config: &ConnectionConfig,
        (paths, backup): (Vec<usize>, Vec<bool>),
        seed: u64,
        scheduler: Box<dyn Scheduler>,
        exposure: Exposure,
    ) -> Result<Self, SimError> {
        // The end that sends gets the scheduler under test; the other one sends no data.
        let (client_scheduler, server_scheduler) = match config.workload.direction {
            Direction::Up => (scheduler, scheduler::build(&config.scheduler)),
            Direction::Down => (scheduler::build(&config.scheduler), scheduler),
        };
        let end = |is_client, scheduler| -> Result<Box<dyn End>, SimError> {
            Ok(match config.transport {
                Transport::Tcp | Transport::Mptcp => {
                    Box::new(tcp_end(config, is_client, &backup, seed, scheduler))
                }
                Transport::Mpquic => {
                    let (connection, backup) = (config, &backup[..]);
                    let seed = seed.wrapping_add(u64::from(is_client));
                    Box::new(QuicEnd::new(
                        &Setup { connection, is_client, backup, seed },
                        scheduler,
                    )?)
                }
            })
        };
        Ok(Self {
            client: end(true, client_scheduler)?,
            server: end(false, server_scheduler)?,
            config: config.clone(),
            paths,
            exposure,
            phase: Phase::Waiting,
            opened_at: Instant::ZERO,
            fed_at: None,
            fed_bytes: 0,
            longest_stall: Duration::ZERO,
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
        match self.config.workload.direction {
            Direction::Down => &*self.server,
            Direction::Up => &*self.client,
        }
    }

    pub fn sender_mut(&mut self) -> &mut dyn End {
        match self.config.workload.direction {
            Direction::Down => &mut *self.server,
            Direction::Up => &mut *self.client,
        }
    }

    pub fn receiver(&self) -> &dyn End {
        match self.config.workload.direction {
            Direction::Down => &*self.client,
            Direction::Up => &*self.server,
        }
    }

    /// The application writes everything that it has as soon as the connection is opened.
    pub fn open(&mut self, now: Instant) {
        self.phase = Phase::Open;
        self.opened_at = now;
        let bytes = self.config.workload.bytes.unwrap_or(ENDLESS_BYTES);
        let (up, down) = match self.config.workload.direction {
            Direction::Down => (0, bytes),
            Direction::Up => (bytes, 0),
        };
        self.server.open(now, down);
        self.client.open(now, up);
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
        let Some(payload) = segment.payload.filter(|_| end != self.config.workload.direction)
        else {
            return;
        };
        let srtt = self.sender().srtt(path);
        self.exposure.on_sent(now, (path, segment.incarnation), payload, srtt);
    }

    /// Notes what the application got, and the moment when it got the last byte.
    pub fn note_delivered(&mut self, now: Instant) {
        let delivered_bytes = self.receiver().delivered_bytes();
        if self.phase != Phase::Open || delivered_bytes == self.fed_bytes {
            return;
        }
        let waited = self.fed_at.map_or(Duration::ZERO, |at| now - at);
        self.longest_stall = self.longest_stall.max(waited);
        self.fed_at = Some(now);
        self.fed_bytes = delivered_bytes;
        if Some(delivered_bytes) == self.config.workload.bytes {
            self.phase = Phase::Complete;
            self.completed_at = Some(now);
        }
    }

    /// Longest time without anything new for the application, from its first byte on.
    fn longest_stall(&self, end: Instant) -> Option<Duration> {
        let waits = self.fed_at.map(|at| if self.completed_at.is_some() { at } else { end } - at);
        waits.map(|last| last.max(self.longest_stall))
    }

    /// The rows of one sample time: one a path, then the connection's own.
    pub fn sample(&mut self, row: &SampleRow, queues: &[u64], rows: &mut Vec<SampleRow>) {
        let interval_s = row.interval_s;
        for (local, path) in self.paths.iter().enumerate() {
            let mut own = SampleRow { path: Some(*path), queue_bytes: queues[local], ..*row };
            self.sender().sample(PathId(local as u8), &mut own);
            rows.push(own);
        }
        let received = self.receiver().received();
        let delivered_bytes = self.receiver().delivered_bytes();
        let fresh_bytes = delivered_bytes - self.sampled_bytes;
        self.sampled_bytes = delivered_bytes;
        rows.push(SampleRow {
            path: None,
            delivered_bytes,
            goodput_mbps: fresh_bytes as f64 * 8e-6 / interval_s,
            reorder_buffer_bytes: received.waiting_bytes,
            send_window_bytes: self.sender().counts().window_left_bytes,
            ..*row
        });
    }

    /// What both ends noted since the last call; an event of the client's goes by its own name.
    pub fn take_events(&mut self, connection: usize, rows: &mut Vec<EventRow>) {
        let sends_down = self.config.workload.direction == Direction::Down;
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
        receiver.take_events(); // its subflows come and go with the sender's
    }

    pub fn totals(&self, path_names: &[String], stopped_at: Instant) -> ConnectionTotals {
        let (sender, receiver) = (self.sender(), self.receiver());
        let end = self.ended_at.or(self.completed_at).unwrap_or(stopped_at);
        let seconds = (end - self.opened_at).as_secs_f64();
        let received = receiver.received();
        let delivered_bytes = receiver.delivered_bytes();
        let counts = sender.counts();
        let mut paths: BTreeMap<String, PathTotals> = BTreeMap::new();
        for (local, path) in self.paths.iter().enumerate() {
            let id = PathId(local as u8);
            let mut one = sender.path_totals(id);
            one.unique_bytes = receiver.path_totals(id).unique_bytes;
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
            scheduler: self.config.scheduler.algorithm().name(),
            congestion: self.config.congestion.algorithm().name(),
            direction: match self.config.workload.direction {
                Direction::Down => "down",
                Direction::Up => "up",
            },
            start_s: self.config.start_s,
            completion_s: self.completed_at.map(|at| (at - self.opened_at).as_secs_f64()),
            delivered_bytes,
            goodput_mbps: if seconds > 0.0 { delivered_bytes as f64 * 8e-6 / seconds } else { 0.0 },
            longest_stall_s: self.longest_stall(end).map(|stall| stall.as_secs_f64()),
            duplicate_bytes: received.duplicate_bytes,
            reorder_buffer_max_bytes: received.waiting_max_bytes,
            meta_timeouts: counts.meta_timeouts,
            window_stalls: counts.window_stalls,
            penalisations: counts.penalisations,
            waits: counts.waits,
            paths,
        }
    }
}

fn tcp_end(
    config: &ConnectionConfig,
    is_client: bool,
    backup: &[bool],
    seed: u64,
    scheduler: Box<dyn Scheduler>,
) -> mptcp::Endpoint {
    let mode = config.effective_mode();
    let endpoint = EndpointConfig {
        role: if is_client { Role::Client } else { Role::Server },
        mode,
        congestion: config.congestion.clone(),
        controller: congestion::Config::new(mode.mss_bytes(), seed),
        send_buffer_bytes: config.send_buffer_bytes,
        receive_buffer_bytes: config.receive_buffer_bytes,
        autotune: config.autotune,
        backup: backup.to_vec(),
    };
    mptcp::Endpoint::new(endpoint, scheduler, backup.len())
}
