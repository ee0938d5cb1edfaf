//! How fast the engine is: transfers over two steady paths, printed as a table.
//! `cargo run --release -p skyweave-sim --example transfer`

use congestion::Algorithm as Congestion;
use link::LinkConfig;
use mptcp::Mode;
use scheduler::Algorithm as Scheduling;
use sim::{BulkConfig, ConnectionConfig, Direction, PathConfig, RunConfig, Transport, simulate};
use std::time::Instant;

fn path(name: &str, mbps: f64, rtt_ms: f64) -> PathConfig {
    PathConfig {
        name: name.into(),
        down: LinkConfig::constant(mbps, rtt_ms / 2.0),
        up: LinkConfig::constant(mbps, rtt_ms / 2.0),
        backup: false,
        present: vec![sim::UpWindow { start_s: 0.0, end_s: None }],
        forecast: sim::ForecastKind::None,
        forecast_error_ms: 0.0,
    }
}

#[expect(clippy::print_stdout, reason = "an example prints")]
fn main() {
    for (transport, mode) in [
        (Transport::Tcp, Mode::Tcp),
        (Transport::Mptcp, Mode::V096),
        (Transport::Mptcp, Mode::Upstream),
    ] {
        for congestion in [Congestion::NewReno, Congestion::Cubic, Congestion::Bbr] {
            for scheduler in Scheduling::ALL {
                let config = RunConfig {
                    paths: vec![path("a", 50.0, 60.0), path("b", 100.0, 108.0)],
                    connections: vec![ConnectionConfig {
                        paths: vec![],
                        transport,
                        mode,
                        scheduler: scheduler.into(),
                        congestion: congestion.into(),
                        workload: BulkConfig {
                            direction: Direction::Down,
                            bytes: Some(100_000_000),
                            duration_s: None,
                        },
                        start_s: 0.0,
                        send_buffer_bytes: 450_000_000,
                        receive_buffer_bytes: 450_000_000,
                        autotune: false,
                    }],
                    seed: 1,
                    stop_after_s: 600.0,
                    sample_interval_ms: 100,
                };
                let begin = Instant::now();
                let outcome = simulate(&config).expect("a valid configuration");
                let wall = begin.elapsed().as_secs_f64();
                let one = &outcome.totals.connections[0];
                println!(
                    "{mode:?} {congestion:?} {scheduler:?}: {:?} s, {:.1} Mbit/s, wall {:.3} s, {:.2} M link packets/s, {} rows",
                    one.completion_s,
                    one.goodput_mbps,
                    wall,
                    outcome.totals.link_packets as f64 / wall / 1e6,
                    outcome.samples.len(),
                );
            }
        }
    }
}
