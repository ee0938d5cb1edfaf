//! Small words for building runs in tests.

use crate::{ConnectionConfig, Outcome, RunConfig, Transport, simulate};
use application::{Bulk, Workload};
use congestion::Algorithm as Congestion;
use forecast::ForecastWindow;
use link::{
    Direction, InFlight, LinkConfig, LossConfig, OutageConfig, PathConfig, PathForecast,
    QueueConfig, UpWindow,
};
use mptcp::Mode;
use scheduler::Algorithm as Scheduling;

/// A steady path with a queue of one bandwidth-delay product each way.
pub fn path(name: &str, mbps: f64, rtt_ms: f64) -> PathConfig {
    let mut link = LinkConfig::constant(mbps, rtt_ms / 2.0);
    let bdp_bytes = (mbps * rtt_ms * 125.0) as u64;
    link.queue = QueueConfig::DropTail { bytes: Some(bdp_bytes.max(15_000)), packets: None };
    let present = vec![UpWindow { start_s: 0.0, end_s: None }];
    PathConfig {
        name: name.into(),
        down: link.clone(),
        up: link,
        backup: false,
        present,
        forecast: PathForecast::default(),
        forecast_updates: Vec::new(),
    }
}

pub fn with_loss(mut path: PathConfig, ratio: f64) -> PathConfig {
    path.down.loss = LossConfig::Bernoulli { ratio };
    path
}

/// Both directions silent in [start, end).
pub fn with_gap(mut path: PathConfig, start_s: f64, end_s: f64) -> PathConfig {
    let gap = OutageConfig { start_s, end_s, in_flight: InFlight::Drop };
    path.down.outages.push(gap.clone());
    path.up.outages.push(gap);
    path
}

/// The sender knows the gaps ahead, later than true by this much.
pub fn with_forecast(mut path: PathConfig, error_ms: f64) -> PathConfig {
    let moved = |seconds: f64| (seconds + error_ms * 1e-3).max(0.0);
    let windows = path.down.outages.iter().map(|outage| ForecastWindow {
        start_s: moved(outage.start_s),
        end_s: moved(outage.end_s),
        probability: 1.0,
    });
    path.forecast = PathForecast::Outages(windows.filter(|one| one.end_s > one.start_s).collect());
    path
}

pub fn megabytes(count: u64) -> Bulk {
    Bulk { direction: Direction::Down, bytes: Some(count * 1_000_000), duration_s: None }
}

pub fn seconds(duration_s: f64) -> Bulk {
    Bulk { direction: Direction::Down, bytes: None, duration_s: Some(duration_s) }
}

pub fn connection(
    mode: Mode,
    congestion: Congestion,
    workload: impl Into<Workload>,
) -> ConnectionConfig {
    let transport = if mode == Mode::Tcp { Transport::Tcp } else { Transport::Mptcp };
    let upstream = mode == Mode::Upstream;
    ConnectionConfig {
        paths: vec![],
        transport,
        quic: mpquic::QuicConfig::default(),
        subflows_per_path: 1,
        mode,
        scheduler: if upstream { Scheduling::Upstream } else { Scheduling::MinRtt }.into(),
        congestion: congestion.into(),
        workload: workload.into(),
        start_s: 0.0,
        after: None,
        until: None,
        send_buffer_bytes: 450_000_000,
        receive_buffer_bytes: 450_000_000,
        autotune: false,
    }
}

/// Multipath QUIC with buffers of a few megabytes, which are written for real.
pub fn quic(
    scheduler: Scheduling,
    congestion: Congestion,
    workload: impl Into<Workload>,
) -> ConnectionConfig {
    ConnectionConfig {
        transport: Transport::Mpquic,
        scheduler: scheduler.into(),
        send_buffer_bytes: 8_000_000,
        receive_buffer_bytes: 8_000_000,
        ..connection(Mode::V096, congestion, workload)
    }
}

pub fn run(paths: Vec<PathConfig>, connections: Vec<ConnectionConfig>) -> Outcome {
    run_config(&config(paths, connections))
}

pub fn config(paths: Vec<PathConfig>, connections: Vec<ConnectionConfig>) -> RunConfig {
    RunConfig { paths, connections, seed: 1, stop_after_s: 600.0, sample_interval_ms: 100 }
}

pub fn run_config(config: &RunConfig) -> Outcome {
    simulate(config).expect("a valid run")
}

/// Goodput of the first connection in Mbit/s.
pub fn goodput(outcome: &Outcome) -> f64 {
    outcome.totals.connections[0].goodput_mbps
}

/// Mean goodput of a connection between two times, from its samples.
pub fn goodput_between(outcome: &Outcome, connection: usize, from_s: f64, to_s: f64) -> f64 {
    let own = outcome.samples.iter().filter(|row| row.path.is_none());
    let own = own.filter(|row| row.connection == connection);
    let rates: Vec<f64> = own
        .filter(|row| row.time_s > from_s && row.time_s <= to_s)
        .map(|row| row.goodput_mbps)
        .collect();
    rates.iter().sum::<f64>() / rates.len() as f64
}

/// Times of an event on a path.
pub fn times(outcome: &Outcome, event: &str, path: usize) -> Vec<f64> {
    let rows = outcome.events.iter().filter(|row| row.event == event && row.path == Some(path));
    rows.map(|row| row.time_s).collect()
}

/// The bulk transfer of a connection.
pub fn bulk(connection: &mut ConnectionConfig) -> &mut Bulk {
    match &mut connection.workload {
        Workload::Bulk(bulk) => bulk,
        other => panic!("not bulk: {other:?}"),
    }
}
