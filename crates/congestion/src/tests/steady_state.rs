use super::model::{Model, Path};
use super::{MSS, RTT, config};
use crate::Algorithm;
use units::{Bitrate, Duration, Instant};

/// Mean window in packets over time, on a path that limits by random loss only.
fn mean_window(algorithm: Algorithm, loss: f64, rtt: Duration, seed: u64) -> f64 {
    let rate = Bitrate::from_mbps(1000.0);
    let path = Path { rate, rtt, queue_packets: 100_000, loss, seed };
    let mut model = Model::new(algorithm.build(config()), config(), path);
    // Ten seconds for the slow start; then as long as it takes to lose about 400 packets.
    let begin = Instant::from_millis(10_000);
    let expected = expected_window(algorithm, loss, rtt);
    let round_trips = 400.0 / (loss * expected);
    let end = begin + Duration::from_millis((round_trips * rtt.as_millis() as f64) as u64);
    let mut area = 0.0;
    while model.now < end {
        let (before, window) = (model.now.max(begin), model.controller.window_bytes());
        model.step();
        area += (model.now - before).as_secs_f64() * (window / MSS) as f64;
    }
    area / (model.now - begin).as_secs_f64()
}

/// NewReno: sqrt(1.5/p) (Mathis et al. 1997). CUBIC: 1.054 (RTT/p)^0.75 (RFC 9438 §5.1, C = 0.4),
/// but no less than Reno.
fn expected_window(algorithm: Algorithm, loss: f64, rtt: Duration) -> f64 {
    let reno = (1.5 / loss).sqrt();
    let ratio = rtt.as_secs_f64() / loss;
    match algorithm {
        Algorithm::Cubic => reno.max(1.054 * (ratio * ratio * ratio).sqrt().sqrt()),
        _ => reno,
    }
}

/// Mean over seeds, as a part of the formula.
fn ratio(algorithm: Algorithm, loss: f64, rtt: Duration, seeds: u64) -> f64 {
    let sum: f64 = (0..seeds).map(|seed| mean_window(algorithm, loss, rtt, seed)).sum();
    sum / seeds as f64 / expected_window(algorithm, loss, rtt)
}

#[test]
fn measure() {
    for algorithm in [Algorithm::NewReno, Algorithm::Cubic] {
        for rtt in [60, 108] {
            for loss in [1e-4, 1e-3, 5e-3] {
                let rtt = Duration::from_millis(rtt);
                let r = ratio(algorithm, loss, rtt, 8);
                eprintln!("{algorithm} {rtt:?} {loss} {r:.3} of {}", expected_window(algorithm, loss, rtt));
            }
        }
    }
    let _ = RTT;
}
