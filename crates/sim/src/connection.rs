//! One connection of a run: both endpoints, its application, and what the record says of it.

use crate::config::{ConnectionConfig, Transport};
use crate::exposure::Exposure;
use crate::outcome::{ConnectionTotals, EventRow, PathTotals, SampleRow};
use link::Direction;
use mptcp::{Endpoint, EndpointConfig, Role, Segment};
use scheduler::Scheduler;
use std::collections::BTreeMap;
use units::{Instant, PathId};

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
    pub client: Endpoint,
    pub server: Endpoint,
    pub phase: Phase,
    exposure: Exposure,
    opened_at: Instant,
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
    ) -> Self {
        let mode = config.effective_mode();
        let controller = congestion::Config::new(mode.mss_bytes(), seed);
        let endpoint = |role| EndpointConfig {
            role,
            mode,
            congestion: config.congestion.clone(),
            controller,
            send_buffer_bytes: config.send_buffer_bytes,
            receive_buffer_bytes: config.receive_buffer_bytes,
            autotune: config.autotune,
            backup: backup.clone(),
        };
        // The end that sends gets the scheduler under test; the other one sends no data.
        let (client_scheduler, server_scheduler) = match config.workload.direction {
            Direction::Up => (scheduler, scheduler::build(&config.scheduler)),
            Direction::Down => (scheduler::build(&config.scheduler), scheduler),
        };
        let count = paths.len();
        Self {
            client: Endpoint::new(endpoint(Role::Client), client_scheduler, count),
            server: Endpoint::new(endpoint(Role::Server), server_scheduler, count),
            config: config.clone(),
            paths,
            exposure,
            phase: Phase::Waiting,
            opened_at: Instant::ZERO,
            ended_at: None,
            completed_at: None,
            sampled_bytes: 0,
        }
    }

    /// Opened before `now`: its sample covers a whole interval or the part since its opening.
    pub fn is_sampled(&self, now: Instant) -> bool {
        self.is_running() && self.opened_at < now
    }

    pub fn is_running(&self) -> bool {
        matches!(self.phase, Phase::Open | Phase::Complete)
    }

    pub fn sender(&self) -> &Endpoint {
        match self.config.workload.direction {
            Direction::Down => &self.server,
            Direction::Up => &self.client,
        }
    }

    pub fn sender_mut(&mut self) -> &mut Endpoint {
        match self.config.workload.direction {
            Direction::Down => &mut self.server,
            Direction::Up => &mut self.client,
        }
    }

    pub fn receiver(&self) -> &Endpoint {
        match self.config.workload.direction {
            Direction::Down => &self.client,
            Direction::Up => &self.server,
        }
    }

    /// The application writes everything that it has as soon as the connection is opened.
    pub fn open(&mut self, now: Instant) {
        self.phase = Phase::Open;
        self.opened_at = now;
        let bytes = self.config.workload.bytes.unwrap_or(ENDLESS_BYTES);
        match self.config.workload.direction {
            Direction::Down => self.server.offer(bytes),
            Direction::Up => self.client.offer(bytes),
        }
    }

    /// The time given to it is over, or all is delivered and sampled.
    pub fn end(&mut self, now: Instant) {
        if self.phase != Phase::Over {
            self.phase = Phase::Over;
            self.ended_at = Some(self.completed_at.unwrap_or(now));
        }
    }

    /// One of its ends puts a segment on a path.
    pub fn note_sent(&mut self, now: Instant, end: Direction, path: PathId, segment: &Segment) {
        let Some(payload) = segment.payload.filter(|_| end != self.config.workload.direction)
        else {
            return;
        };
        let srtt = self.sender().srtt(path);
        self.exposure.on_sent(now, (path, segment.incarnation), payload, srtt);
    }

    /// Notes the moment when the last byte was delivered.
    pub fn check_completion(&mut self, now: Instant) {
        if self.phase == Phase::Open
            && Some(self.receiver().delivered_bytes()) == self.config.workload.bytes
        {
            self.phase = Phase::Complete;
            self.completed_at = Some(now);
        }
    }

    /// The rows of one sample time: one a path, then the connection's own.
    pub fn sample(&mut self, row: &SampleRow, queues: &[u64], rows: &mut Vec<SampleRow>) {
        let interval_s = row.interval_s;
        for (local, path) in self.paths.iter().enumerate() {
            let stats = self.sender().path_stats(PathId(local as u8));
            rows.push(SampleRow {
                path: Some(*path),
                cwnd_packets: stats.cwnd_packets,
                srtt_ms: stats.srtt.as_secs_f64() * 1e3,
                in_flight_packets: stats.in_flight_packets,
                pacing_mbps: stats.pacing_rate.as_mbps(),
                delivered_bytes: stats.delivered_bytes,
                lost_packets: stats.lost_packets,
                retransmitted_packets: stats.retransmitted_packets,
                queue_bytes: queues[local],
                ..*row
            });
        }
        let delivered_bytes = self.receiver().delivered_bytes();
        let fresh_bytes = delivered_bytes - self.sampled_bytes;
        self.sampled_bytes = delivered_bytes;
        rows.push(SampleRow {
            path: None,
            delivered_bytes,
            goodput_mbps: fresh_bytes as f64 * 8e-6 / interval_s,
            reorder_buffer_bytes: self.receiver().reorder_bytes().0,
            send_window_bytes: self.sender().window_left_bytes(),
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
                event: event.kind.name(),
                value: event.kind.value(),
            });
        }
        let receiver = if sends_down { &mut self.client } else { &mut self.server };
        receiver.take_events(); // its subflows come and go with the sender's
    }

    pub fn totals(&self, path_names: &[String], stopped_at: Instant) -> ConnectionTotals {
        let (sender, receiver) = (self.sender(), self.receiver());
        let end = self.ended_at.or(self.completed_at).unwrap_or(stopped_at);
        let seconds = (end - self.opened_at).as_secs_f64();
        let delivered_bytes = receiver.delivered_bytes();
        let meta = sender.totals();
        let mut paths: BTreeMap<String, PathTotals> = BTreeMap::new();
        for (local, path) in self.paths.iter().enumerate() {
            let id = PathId(local as u8);
            let stats = (sender.path_stats(id), receiver.path_stats(id));
            let one = PathTotals::new(&stats.0, &stats.1, self.exposure.caused(id));
            let all = paths.entry(path_names[*path].clone());
            all.and_modify(|all| *all = all.plus(&one)).or_insert(one);
        }
        ConnectionTotals {
            transport: match self.config.transport {
                Transport::Tcp => "tcp",
                Transport::Mptcp => "mptcp",
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
            duplicate_bytes: receiver.reorder_bytes().2,
            reorder_buffer_max_bytes: receiver.reorder_bytes().1,
            meta_timeouts: meta.meta_timeouts,
            window_stalls: meta.window_stalls,
            penalisations: meta.penalisations,
            waits: meta.waits,
            paths,
        }
    }
}
