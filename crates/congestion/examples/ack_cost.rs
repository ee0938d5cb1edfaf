//! Nanoseconds per acknowledgement of each controller, on one core:
//! `cargo run --release --package skyweave-congestion --example ack_cost`.
//!
//! Two paths of a connection take turns (coupled controls look at both), each acknowledgement
//! delivers a packet of a steady 50 Mbit/s and 60 ms, and each 5,000th loses one.

use congestion::{AckSample, Algorithm, Choice, Config, Controller, Group, LossSample, RateSample};
use std::time;
use units::{Bitrate, Duration, Instant};

const MSS: u64 = 1428;
const ACKS: u64 = 4_000_000;
const FLIGHT: u64 = 263 * MSS;

/// The `number`th acknowledgement of a path; RTTs differ by up to a millisecond.
fn acknowledgement(number: u64, lost: bool) -> AckSample {
    let delivered_bytes = number * MSS;
    let rtt = Duration::from_micros(60_000 + number * 7919 % 1000);
    let rate = RateSample {
        rate: Bitrate::from_bps(50_000_000 - number * 104_729 % 1_000_000),
        delivered_bytes: FLIGHT,
        interval: rtt,
        app_limited: false,
        tx_in_flight_bytes: FLIGHT,
        lost_bytes: if lost { MSS } else { 0 },
    };
    AckSample {
        acked_bytes: MSS,
        lost_bytes: rate.lost_bytes,
        rtt: Some(rtt),
        ack_delayed: false,
        srtt: rtt,
        min_rtt: Duration::from_micros(60_000),
        prior_in_flight_bytes: FLIGHT,
        in_flight_bytes: FLIGHT - MSS,
        delivered_bytes,
        prior_delivered_bytes: delivered_bytes.saturating_sub(FLIGHT),
        rate: Some(rate),
        window_limited: true,
        in_recovery: false,
    }
}

fn lose(controller: &mut dyn Controller, now: Instant, delivered_bytes: u64) {
    let loss = LossSample {
        lost_bytes: MSS,
        in_flight_bytes: FLIGHT - MSS,
        tx_in_flight_bytes: FLIGHT,
        lost_since_sent_bytes: MSS,
        delivered_bytes,
        new_episode: true,
    };
    controller.on_lost(now, &loss);
    controller.on_recovered(now);
}

/// What one acknowledgement takes, with the making of the sample and the sending of a packet.
fn measure(algorithm: Algorithm) -> f64 {
    let group = Group::new();
    let build = |seed| Choice::from(algorithm).build(Config::new(MSS, seed), &group);
    let mut paths = [build(1), build(2)];
    let begin = time::Instant::now();
    let mut checksum = 0_u64;
    for number in 0..ACKS / 2 {
        let now = Instant::from_nanos(number * 228_480); // a packet at 50 Mbit/s
        for path in &mut paths {
            let lost = number % 5_000 == 4_999;
            if lost {
                lose(&mut **path, now, number * MSS);
            }
            path.on_acked(now, &acknowledgement(number, lost));
            path.on_sent(now, MSS, FLIGHT, false);
            checksum = checksum.wrapping_add(path.window_bytes());
        }
    }
    std::hint::black_box(checksum);
    begin.elapsed().as_secs_f64() * 1e9 / ACKS as f64
}

#[expect(clippy::print_stdout, reason = "the table is what this program is for")]
fn main() {
    println!("{:<16} ns per acknowledgement", "controller");
    for algorithm in Algorithm::ALL {
        println!("{:<16} {:>6.0}", algorithm.name(), measure(algorithm));
    }
}
