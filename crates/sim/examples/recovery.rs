//! How long after an outage a path of multipath QUIC carries data again, as JSON: outages of 2, 5, 8, 30
//! and 300 s, from a random moment on, on one of two paths or on both.
//!
//! `cargo run --release -p skyweave-sim --example recovery -- [RUNS OF EACH]`, 1,000 if not given.

use serde_json::{Value, json};
use sim::{Outcome, RunConfig, simulate};

const LENGTHS_S: [f64; 5] = [2.0, 5.0, 8.0, 30.0, 300.0];
/// More than probes and less than two packets.
const DATA_BYTES: u64 = 2500;

fn main() {
    let runs = std::env::args().nth(1).map_or(1000, |word| word.parse().expect("a number of runs"));
    let all: Vec<Value> = LENGTHS_S.iter().map(|length_s| row(*length_s, runs)).collect();
    serde_json::to_writer_pretty(std::io::stdout(), &all).expect("standard output takes it");
}

/// Percentiles over the runs with outages of one length.
fn row(length_s: f64, runs: u64) -> Value {
    let mut after_s: Vec<f64> = (0..runs).flat_map(|seed| recoveries_s(length_s, seed)).collect();
    after_s.sort_by(f64::total_cmp);
    let at = |share: f64| after_s[((after_s.len() - 1) as f64 * share).round() as usize];
    json!({
        "outage_s": length_s, "runs": runs, "recoveries": after_s.len(),
        "p50_s": at(0.5), "p99_s": at(0.99), "max_s": at(1.0),
        "over_1_s": after_s.iter().filter(|after| **after > 1.0).count(),
    })
}

/// The faster path, the slower one or both are dark, in turns.
fn recoveries_s(length_s: f64, seed: u64) -> Vec<f64> {
    // Multiples of the golden ratio fill an interval evenly.
    let start_s = 1.5 + 10.0 * (seed as f64 * 0.618_033_988_749_895).fract();
    let dark = [[true, false], [false, true], [true, true]][(seed % 3) as usize];
    let end_s = start_s + length_s;
    let link = |mbps: f64, ms: f64, dark: bool| {
        let outage = json!({ "start_s": start_s, "end_s": end_s, "in_flight": "drop" });
        json!({
            "capacity": { "kind": "constant", "mbps": mbps },
            "delay": { "kind": "constant", "ms": ms },
            "queue": { "kind": "droptail", "packets": 40 },
            "outages": if dark { vec![outage] } else { vec![] },
        })
    };
    let path = |name: &str, mbps, ms, dark| {
        let link = link(mbps, ms, dark);
        json!({ "name": name, "down": link, "up": link })
    };
    let run = json!({
        "paths": [path("fast", 4.0, 20.0, dark[0]), path("slow", 2.0, 30.0, dark[1])],
        "connections": [{
            "transport": "mpquic", "mode": "v0.96", "scheduler": "minrtt", "congestion": "cubic",
            "workload": { "kind": "bulk", "direction": "down", "duration_s": end_s + 4.0 },
            "send_buffer_bytes": 4_000_000, "receive_buffer_bytes": 4_000_000,
        }],
        "seed": seed, "stop_after_s": end_s + 4.0, "sample_interval_ms": 10,
    });
    let run: RunConfig = serde_json::from_value(run).expect("a description of a run");
    let outcome = simulate(&run).expect("a run that makes sense");
    (0..2).filter(|path| dark[*path]).map(|path| used_after(&outcome, path, end_s)).collect()
}

/// From the end of an outage to the first sample with data; infinite if there is none.
fn used_after(outcome: &Outcome, path: usize, end_s: f64) -> f64 {
    let own = || outcome.samples.iter().filter(|row| row.path == Some(path));
    let before = own().take_while(|row| row.time_s <= end_s).last();
    let before = before.map_or(0, |row| row.delivered_bytes);
    let used = own().find(|row| row.time_s > end_s && row.delivered_bytes > before + DATA_BYTES);
    used.map_or(f64::INFINITY, |row| row.time_s - end_s)
}
