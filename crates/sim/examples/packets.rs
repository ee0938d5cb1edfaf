//! One bulk download of each kind in virtual time, for counting instructions: prints how many packets
//! links delivered in it.
//!
//! `scripts/count-instructions` runs it under callgrind, which counts inside [`measured`] alone.
//! `cargo run --release -p skyweave-sim --example packets -- CASE`; without CASE it lists them.

use serde_json::{Value, json};
use sim::{Outcome, RunConfig, simulate};
use std::io::Write;

fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    let said = match cases().into_iter().find(|(case, _)| *case == name) {
        Some((_, run)) => measured(&run).totals.link_packets.to_string(),
        None => cases().iter().map(|(case, _)| *case).collect::<Vec<_>>().join("\n"),
    };
    writeln!(std::io::stdout(), "{said}").expect("standard output takes it");
}

/// Kept whole so that callgrind can count what happens inside it.
#[inline(never)]
fn measured(run: &RunConfig) -> Outcome {
    simulate(run).expect("a run that makes sense")
}

fn cases() -> Vec<(&'static str, RunConfig)> {
    let tcp = |control| connection("tcp", "minrtt", control);
    let mptcp = |scheduler, control| connection("mptcp", scheduler, control);
    let quic = |scheduler, control| connection("mpquic", scheduler, control);
    let many = |count: usize| (0..count).map(|_| tcp("cubic")).collect::<Vec<_>>();
    let upstream = {
        let mut one = mptcp("upstream", "bbr");
        one["mode"] = json!("upstream");
        one
    };
    // Its buffers are written for real.
    let quic = |scheduler, control, megabytes: u64| {
        let mut one = quic(scheduler, control);
        one["send_buffer_bytes"] = json!(megabytes * 1_000_000);
        one["receive_buffer_bytes"] = json!(megabytes * 1_000_000);
        one
    };
    let paths = |count: usize| {
        let one = |place| path(&format!("p{place}"), 150.0 / count as f64, 60.0, 0.0);
        (0..count).map(one).collect::<Vec<_>>()
    };
    vec![
        ("tcp-cubic", run(two(0.0), vec![tcp("cubic")], 3.0)),
        ("tcp-bbr-lossy", run(two(0.005), vec![tcp("bbr")], 3.0)),
        ("mptcp-cubic", run(two(0.0), vec![mptcp("minrtt", "cubic")], 2.0)),
        ("mptcp-bbr-lossy", run(two(0.005), vec![mptcp("minrtt", "bbr")], 2.0)),
        ("mptcp-blest-lossy", run(two(0.005), vec![mptcp("blest", "bbr")], 2.0)),
        ("mptcp-upstream-lossy", run(two(0.005), vec![upstream], 2.0)),
        ("mpquic-cubic", run(two(0.0), vec![quic("minrtt", "cubic", 8)], 2.0)),
        ("mpquic-bbr-lossy", run(two(0.005), vec![quic("minrtt", "bbr", 8)], 2.0)),
        ("mpquic-weave-4mb", run(two(0.001), vec![quic("weave", "bbr3", 4)], 2.0)),
        ("mptcp-64-paths", run(paths(64), vec![mptcp("minrtt", "cubic")], 2.0)),
        ("tcp-1000-connections", run(paths(1), many(1000), 2.0)),
    ]
}

fn run(paths: Vec<Value>, connections: Vec<Value>, duration_s: f64) -> RunConfig {
    let mut connections = connections;
    for connection in &mut connections {
        connection["workload"] =
            json!({ "kind": "bulk", "direction": "down", "duration_s": duration_s });
    }
    let run = json!({ "paths": paths, "connections": connections });
    serde_json::from_value(run).expect("a description of a run")
}

fn two(loss: f64) -> Vec<Value> {
    vec![path("satellite", 50.0, 60.0, loss), path("terrestrial", 100.0, 108.0, loss)]
}

/// A path with a queue of one bandwidth-delay product.
fn path(name: &str, mbps: f64, rtt_ms: f64, loss: f64) -> Value {
    let link = json!({
        "capacity": { "kind": "constant", "mbps": mbps },
        "delay": { "kind": "constant", "ms": rtt_ms / 2.0 },
        "queue": { "kind": "droptail", "bytes": (mbps * rtt_ms * 125.0).max(15_000.0) as u64 },
        "loss": { "kind": "bernoulli", "ratio": loss },
    });
    json!({ "name": name, "down": link, "up": link })
}

fn connection(transport: &str, scheduler: &str, control: &str) -> Value {
    json!({
        "transport": transport, "mode": "v0.96", "scheduler": scheduler, "congestion": control,
        "send_buffer_bytes": 450_000_000, "receive_buffer_bytes": 450_000_000,
    })
}
