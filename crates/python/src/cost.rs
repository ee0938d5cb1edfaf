//! What one decision of a scheduler and one acknowledgement of a congestion control cost: measured
//! here, at the edge, because nothing below may read a clock.

use congestion::{AckSample, Config, RateSample};
use pyo3::prelude::*;
use scheduler::{ConnectionView, Decision, Delivery, PathView};
use serde_json::{Map, Value, json};
use std::hint::black_box;
use units::{Bitrate, Duration, Instant, PathId};

const MSS_BYTES: u64 = 1428;

/// Nanoseconds per decision with 2 and with 8 paths, and per acknowledgement, as JSON:
/// `{"scheduler": {NAME: {"2": ns, "8": ns}}, "congestion": {NAME: ns}}`; the median of `rounds`
/// rounds of `calls` calls each.
#[pyfunction]
pub(crate) fn measure_algorithms(py: Python<'_>, rounds: usize, calls: u32) -> String {
    py.detach(|| {
        let schedulers: Map<String, Value> = (scheduler::Algorithm::ALL.into_iter())
            .map(|one| {
                let cost = |paths| median(rounds, || decisions(one, paths, calls));
                (one.name().to_owned(), json!({"2": cost(2), "8": cost(8)}))
            })
            .collect();
        let controls: Map<String, Value> = (congestion::Algorithm::ALL.into_iter())
            .map(|one| (one.name().to_owned(), json!(median(rounds, || acks(one, calls)))))
            .collect();
        json!({"scheduler": schedulers, "congestion": controls}).to_string()
    })
}

fn median(rounds: usize, measure: impl Fn() -> f64) -> f64 {
    let mut found: Vec<f64> = (0..rounds.max(1)).map(|_| measure()).collect();
    found.sort_by(f64::total_cmp);
    found[found.len() / 2]
}

/// A connection under load: each path full but one, which changes from call to call.
fn decisions(algorithm: scheduler::Algorithm, paths: u8, calls: u32) -> f64 {
    let mut scheduler = algorithm.build();
    let mut views: Vec<PathView> = (0..paths).map(loaded).collect();
    let begin = std::time::Instant::now();
    for call in 0..calls {
        let free = (call % u32::from(paths)) as usize;
        views[free].in_flight_packets -= 1;
        views[free].has_room = true;
        let now = Instant::from_nanos(u64::from(call) * 50_000);
        let decision = black_box(scheduler.select(&connection(now, &views)));
        if let Decision::Send(path) = decision {
            scheduler.on_sent(now, path, MSS_BYTES);
        }
        scheduler.on_acked(now, PathId(free as u8), MSS_BYTES);
        views[free].in_flight_packets += 1;
        views[free].has_room = false;
    }
    begin.elapsed().as_nanos() as f64 / f64::from(calls)
}

fn loaded(id: u8) -> PathView {
    let srtt = Duration::from_millis(60 + 12 * u64::from(id));
    PathView {
        id: PathId(id),
        usable: true,
        has_room: false,
        srtt,
        latest_rtt: srtt,
        min_rtt: srtt,
        mdev: Duration::from_millis(2),
        rttvar_kernel: Duration::from_millis(200),
        cwnd_packets: 200,
        ssthresh_packets: 150,
        in_flight_packets: 200,
        queued_packets: 0,
        unacked_bytes: 200 * MSS_BYTES,
        mss_bytes: MSS_BYTES,
        pacing_rate: Bitrate::from_mbps(50.0),
        backup: false,
        tried: false,
        delivery: Delivery::default(),
        loss_ratio: 0.001,
        forecast: None,
        repeat_bytes: 0,
    }
}

fn connection(now: Instant, paths: &[PathView]) -> ConnectionView<'_> {
    ConnectionView {
        now,
        paths,
        segment_bytes: MSS_BYTES,
        reinjection: false,
        unsent_bytes: 1_000_000,
        receive_window_bytes: 6_000_000,
        window_left_bytes: 3_000_000,
        window_blocked: false,
        urgent: false,
    }
}

/// A steady path of 50 Mbit/s and 60 ms on which every second packet is acknowledged, and one in a
/// thousand is lost.
fn acks(algorithm: congestion::Algorithm, calls: u32) -> f64 {
    let mut controller = algorithm.build(Config::new(MSS_BYTES, 1));
    let (rtt, flight) = (Duration::from_millis(60), 260 * MSS_BYTES);
    let begin = std::time::Instant::now();
    for call in 0..calls {
        let now = Instant::from_nanos(u64::from(call) * 457_000);
        let delivered_bytes = u64::from(call + 1) * 2 * MSS_BYTES;
        if call % 500 == 499 {
            controller.on_lost(now, &lost(delivered_bytes, flight));
        }
        controller.on_sent(now, 2 * MSS_BYTES, flight, false);
        controller.on_acked(now, &ack(delivered_bytes, rtt, flight));
        if call % 500 == 20 {
            controller.on_recovered(now);
        }
        black_box(controller.window_bytes());
    }
    begin.elapsed().as_nanos() as f64 / f64::from(calls)
}

fn lost(delivered_bytes: u64, flight: u64) -> congestion::LossSample {
    congestion::LossSample {
        lost_bytes: MSS_BYTES,
        in_flight_bytes: flight,
        tx_in_flight_bytes: flight,
        lost_since_sent_bytes: MSS_BYTES,
        delivered_bytes,
        new_episode: true,
    }
}

fn ack(delivered_bytes: u64, rtt: Duration, flight: u64) -> AckSample {
    AckSample {
        acked_bytes: 2 * MSS_BYTES,
        lost_bytes: 0,
        rtt: Some(rtt),
        ack_delayed: false,
        srtt: rtt,
        min_rtt: rtt,
        prior_in_flight_bytes: flight + 2 * MSS_BYTES,
        in_flight_bytes: flight,
        delivered_bytes,
        prior_delivered_bytes: delivered_bytes.saturating_sub(flight),
        rate: Some(RateSample {
            rate: Bitrate::from_mbps(50.0),
            delivered_bytes: flight,
            interval: rtt,
            app_limited: false,
            tx_in_flight_bytes: flight,
            lost_bytes: 0,
        }),
        window_limited: true,
        in_recovery: false,
    }
}
