//! What one decision costs: every scheduler with 2 and with 8 paths, printed as a table.
//! `cargo run --release -p skyweave-scheduler --example decision_cost`

use scheduler::{Algorithm, ConnectionView, Decision, PathView};
use std::hint::black_box;
use units::{Bitrate, Duration, Instant, PathId};

const MSS: u64 = 1428;
const DECISIONS: u64 = 1_000_000;

/// A path in use: all but the last are full, so that schedulers have something to weigh.
fn path(id: u8, count: u8) -> PathView {
    let srtt = Duration::from_millis(40 + 20 * u64::from(id));
    let is_last = id + 1 == count;
    PathView {
        id: PathId(id),
        usable: true,
        has_room: is_last,
        backup: false,
        tried: false,
        srtt,
        latest_rtt: srtt,
        min_rtt: srtt,
        mdev: Duration::from_millis(2),
        rttvar_kernel: Duration::from_millis(200),
        cwnd_packets: 100,
        ssthresh_packets: 50,
        in_flight_packets: if is_last { 60 } else { 100 },
        queued_packets: 0,
        unacked_bytes: 100 * MSS,
        mss_bytes: MSS,
        pacing_rate: Bitrate::from_mbps(50.0),
        loss_ratio: 0.001,
        forecast: None,
        repeat_bytes: 0,
    }
}

fn nanos_per_decision(algorithm: Algorithm, count: u8) -> f64 {
    let mut scheduler = algorithm.build();
    let mut paths: Vec<PathView> = (0..count).map(|id| path(id, count)).collect();
    let began = std::time::Instant::now();
    for step in 0..DECISIONS {
        let now = Instant::ZERO + Duration::from_micros(step * 100); // 10,000 decisions a second
        paths[0].in_flight_packets = 90 + step % 11;
        let view = ConnectionView {
            now,
            paths: &paths,
            segment_bytes: MSS,
            reinjection: false,
            unsent_bytes: 4_000_000,
            receive_window_bytes: 6_000_000,
            window_left_bytes: 3_000_000,
            window_blocked: false,
        };
        match black_box(scheduler.select(black_box(&view))) {
            Decision::Send(path) | Decision::Ahead { path, .. } => {
                scheduler.on_sent(now, path, MSS);
            }
            _ => {}
        }
        scheduler.on_acked(now, PathId((step % u64::from(count)) as u8), MSS);
    }
    began.elapsed().as_nanos() as f64 / DECISIONS as f64
}

#[expect(clippy::print_stdout, reason = "an example prints")]
fn main() {
    println!("scheduler    ns per decision: 2 paths   8 paths (hooks included)");
    for algorithm in Algorithm::ALL {
        let [two, eight] = [2, 8].map(|count| nanos_per_decision(algorithm, count));
        println!("{algorithm:<12} {two:>25.0} {eight:>9.0}");
    }
}
