//! Multipath QUIC: the endpoint of `mpquic` with real TLS, and its path manager.
//!
//! The client opens on its first interface; [`PathManager`] says what becomes of the others. A path
//! without its interface sends and receives nothing. An interface that comes back is another network.

use super::{Counts, End, Noted, tls};
use crate::SimError;
use crate::config::ConnectionConfig;
use crate::outcome::{PathTotals, SampleRow};
use crate::wire::Packet;
use application::{Application, Signal};
use forecast::Forecast;
use mpquic::{
    Action, ApplicationHost, Config, Endpoint, Event, PathManager, PathNews, StudyConnection,
};
use recovery::InOrderWaits;
use scheduler::Scheduler;
use std::collections::{BTreeMap, BTreeSet};
use units::{Duration, Instant, PathId};

/// What an end is built from.
#[derive(Debug)]
pub(crate) struct Setup<'a> {
    pub connection: &'a ConnectionConfig,
    pub is_client: bool,
    /// Whether each path is a backup; the client tells the server.
    pub backup: &'a [bool],
    pub seed: u64,
}

/// One end, before and after its endpoint exists.
#[derive(Debug)]
pub(crate) struct QuicEnd {
    config: Config,
    is_client: bool,
    seed: u64,
    /// Until the endpoint takes it.
    scheduler: Option<Box<dyn Scheduler>>,
    endpoint: Option<Endpoint>,
    opened: bool,
    /// Where a client began.
    first: Option<PathId>,
    /// Interfaces that are there; a server's always are.
    present: BTreeSet<PathId>,
    /// A server's knows no interfaces.
    manager: PathManager,
    backups: Vec<PathId>,
    /// Until the endpoint takes them.
    forecasts: BTreeMap<PathId, Forecast>,
    host: ApplicationHost,
    /// What the application still has to hear of.
    signals: Vec<Signal>,
    events: Vec<Noted>,
}

impl QuicEnd {
    pub fn new(setup: &Setup<'_>, scheduler: Box<dyn Scheduler>) -> Result<Self, SimError> {
        let Setup { connection, is_client, backup, seed } = *setup;
        let paths = backup.len();
        let (client, server) = tls::roles().ok_or(SimError::Tls)?;
        let role = if is_client { client } else { server };
        let study = StudyConnection {
            congestion: connection.congestion.clone(),
            quic: connection.quic,
            send_buffer_bytes: connection.send_buffer_bytes,
            receive_buffer_bytes: connection.receive_buffer_bytes,
            autotune: connection.autotune,
            paths,
        };
        Ok(Self {
            config: study.config(role),
            is_client,
            seed,
            scheduler: Some(scheduler),
            endpoint: None,
            opened: false,
            first: None,
            present: if is_client {
                BTreeSet::new()
            } else {
                (0..paths).map(|path| PathId(path as u8)).collect()
            },
            manager: PathManager::default(),
            backups: (0..paths)
                .filter(|path| is_client && backup[*path])
                .map(|path| PathId(path as u8))
                .collect(),
            forecasts: BTreeMap::new(),
            host: ApplicationHost::default(),
            signals: Vec::new(),
            events: Vec::new(),
        })
    }

    /// Makes the endpoint: a client's first packet will leave on `path`.
    fn start(&mut self, now: Instant, path: PathId) {
        let Some(scheduler) = self.scheduler.take() else { return };
        let made = Endpoint::new(self.config.clone(), scheduler, (now, path), self.seed);
        self.endpoint = made.ok(); // fails only for configurations that TLS refuses
        if let Some(endpoint) = &mut self.endpoint {
            for (path, forecast) in std::mem::take(&mut self.forecasts) {
                endpoint.set_forecast(path, forecast);
            }
            for path in &self.backups {
                let _known = endpoint.set_path_status(*path, true); // a run has few enough paths
            }
        }
        if self.is_client {
            self.manager.begin(path);
        }
        self.first = Some(path);
    }

    /// The path manager does what it can; the application is served next.
    fn work(&mut self, now: Instant) {
        while let Some(event) = self.endpoint.as_mut().and_then(Endpoint::poll_event) {
            self.on_event(now, &event);
        }
        if self.is_client {
            self.manage_paths(now);
        }
    }

    fn on_event(&mut self, now: Instant, event: &Event) {
        self.signals.extend(ApplicationHost::signal(event));
        match *event {
            Event::Confirmed if self.is_multipath() => self.manager.allow_paths(),
            Event::PathLimitsRaised => self.manager.on_limits_raised(now),
            Event::PathEstablished(path) => {
                self.manager.on_path(now, path, PathNews::Established);
            }
            Event::PathFailed(path) => self.manager.on_path(now, path, PathNews::Failed),
            Event::PathRevived(path) => self.manager.on_path(now, path, PathNews::Revived),
            Event::PathAbandoned(path, _) => {
                let another = self.has(path);
                self.manager.on_path(now, path, PathNews::Over { another });
            }
            _ => {}
        }
        let (path, name, value) = match *event {
            // A server hears of its first path as of any other.
            Event::Connected if self.is_client => (self.first, "established", 0.0),
            Event::PathEstablished(path) => (Some(path), "established", 0.0),
            Event::PathFailed(path) => (Some(path), "failed", 0.0),
            Event::PathRevived(path) => (Some(path), "revived", 0.0),
            Event::PathAbandoned(path, code) => (Some(path), "closed", code as f64),
            Event::Closed(_) => (None, "over", 0.0),
            _ => return,
        };
        self.events.push(Noted { at: now, path, name, value });
    }

    fn is_multipath(&self) -> bool {
        self.endpoint.as_ref().is_some_and(Endpoint::is_multipath)
    }

    fn has(&self, path: PathId) -> bool {
        self.endpoint.as_ref().is_some_and(|endpoint| endpoint.has_path(path))
    }

    fn manage_paths(&mut self, now: Instant) {
        let Some(endpoint) = &mut self.endpoint else { return };
        while let Some(action) = self.manager.next_action(now) {
            let done = match action {
                Action::Add(path) => endpoint.add_path(now, path),
                Action::Replace(path) => endpoint.replace_path(now, path),
                Action::Abandon(path) => endpoint.abandon_path(now, path),
                Action::Probe(path) => {
                    endpoint.probe_path(now, path);
                    Ok(())
                }
            };
            if done.is_err() {
                self.manager.refuse(now, action);
            }
        }
    }

    fn in_packets(&self, bytes: u64) -> u64 {
        bytes / self.config.datagram_bytes as u64
    }
}

impl End for QuicEnd {
    fn open(&mut self, now: Instant) {
        self.opened = true;
        // The order in which the paths were named.
        let first = self.present.first().copied().filter(|_| self.is_client);
        match first {
            Some(path) => self.start(now, path),
            None if !self.is_client => self.start(now, PathId(0)),
            None => {}
        }
    }

    fn serve(&mut self, now: Instant, application: &mut dyn Application) {
        if let Some(endpoint) = &mut self.endpoint {
            let signals = std::mem::take(&mut self.signals);
            self.host.serve(now, endpoint, signals, application);
        }
    }

    fn handle(&mut self, now: Instant, path: PathId, packet: Packet) -> Option<Vec<u8>> {
        let Packet::Datagram(mut datagram) = packet else { return None };
        if let Some(endpoint) = &mut self.endpoint
            && self.present.contains(&path)
        {
            endpoint.handle_in_place(now, path, &mut datagram, None);
            self.work(now);
        }
        Some(datagram)
    }

    fn reuse(&mut self, memory: Vec<u8>) {
        if let Some(endpoint) = &mut self.endpoint {
            endpoint.reuse(memory);
        }
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(PathId, Packet)> {
        loop {
            let (path, datagram) = self.endpoint.as_mut()?.poll_transmit(now)?;
            if self.present.contains(&path) {
                return Some((path, Packet::Datagram(datagram)));
            }
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let timer = self.endpoint.as_ref()?.poll_timeout();
        timer.into_iter().chain(self.manager.poll_timeout()).min()
    }

    fn on_timeout(&mut self, now: Instant) {
        if let Some(endpoint) = &mut self.endpoint {
            endpoint.on_timeout(now);
            self.work(now);
        }
    }

    fn path_up(&mut self, now: Instant, path: PathId) {
        self.present.insert(path);
        self.manager.interface_came(now, path, false);
        if self.opened && self.endpoint.is_none() {
            self.start(now, path);
        }
        self.work(now);
    }

    fn path_down(&mut self, now: Instant, path: PathId) {
        self.present.remove(&path);
        self.manager.interface_went(now, path);
        self.work(now);
    }

    fn foresee(&mut self, path: PathId, forecast: Forecast) {
        self.host.foresee(path, forecast);
    }

    fn set_forecast(&mut self, path: PathId, forecast: Forecast) {
        match &mut self.endpoint {
            Some(endpoint) => endpoint.set_forecast(path, forecast),
            None => drop(self.forecasts.insert(path, forecast)),
        }
    }

    fn sample(&self, path: PathId, row: &mut SampleRow) {
        let stats = self.endpoint.as_ref().and_then(|endpoint| endpoint.path_stats(path));
        let stats = stats.unwrap_or_default();
        row.cwnd_packets = self.in_packets(stats.cwnd_bytes);
        row.srtt_ms = stats.srtt.as_secs_f64() * 1e3;
        row.in_flight_packets = stats.in_flight_packets;
        row.pacing_mbps = stats.pacing_rate.as_mbps();
        row.delivered_bytes = stats.delivered_bytes;
        row.lost_packets = stats.lost_packets;
        row.retransmitted_packets = stats.retransmitted_packets;
    }

    fn path_totals(&self, path: PathId) -> PathTotals {
        let stats = self.endpoint.as_ref().and_then(|endpoint| endpoint.path_stats(path));
        let stats = stats.unwrap_or_default();
        PathTotals {
            sent_packets: stats.sent_packets,
            sent_bytes: stats.sent_bytes,
            lost_packets: stats.lost_packets,
            retransmitted_packets: stats.retransmitted_packets,
            reinjected_packets: stats.reinjected_packets,
            redundant_packets: stats.redundant_packets,
            timeouts: stats.probe_timeouts,
            spurious_timeouts: stats.spurious_losses,
            unique_bytes: stats.unique_bytes,
            min_rtt_ms: stats.min_rtt.as_secs_f64() * 1e3,
            blocked_others_byte_s: 0.0,
            blocked_own_byte_s: 0.0,
            outage_retransmitted_packets: None,
            outage_reinjected_packets: None,
        }
    }

    fn srtt(&self, path: PathId) -> Duration {
        let stats = self.endpoint.as_ref().and_then(|endpoint| endpoint.path_stats(path));
        stats.unwrap_or_default().srtt
    }

    fn delivered_bytes(&self) -> u64 {
        self.host.read_bytes()
    }

    fn counts(&self) -> Counts {
        let totals = self.endpoint.as_ref().map(Endpoint::totals).unwrap_or_default();
        Counts {
            window_stalls: totals.window_stalls,
            waits: totals.waits,
            window_left_bytes: self.endpoint.as_ref().map_or(0, Endpoint::send_window_bytes),
            ..Counts::default()
        }
    }

    fn duplicate_bytes(&self) -> u64 {
        self.endpoint.as_ref().map_or(0, |endpoint| endpoint.totals().duplicate_bytes)
    }

    fn in_order_waits(&self) -> Option<&InOrderWaits> {
        self.endpoint.as_ref().map(Endpoint::in_order_waits)
    }

    fn take_events(&mut self) -> Vec<Noted> {
        std::mem::take(&mut self.events)
    }
}
