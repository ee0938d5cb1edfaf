//! Hybla: the table of docs/model.md §4.3, and what it does to windows.

use super::{MSS, ack, config, with};
use crate::hybla::Rho;
use crate::{AckSample, Algorithm, Controller, LossSample};
use parameters::Given;
use units::{Duration, Instant};

fn rho(rtt_ms: u64) -> Rho {
    Rho::new(Duration::from_millis(rtt_ms), Duration::from_millis(25))
}

/// The sheet's rho is not rounded: 1, 2.4, 4.32 at 25, 60, 108 ms. The kernel's is, down to an
/// eighth, and so are the increments that follow.
#[test]
fn rho_is_the_sheets_rounded_down_to_an_eighth() {
    for (rtt_ms, exact, eighths) in [(10, 1.0, 8), (25, 1.0, 8), (60, 2.4, 19), (108, 4.32, 34)] {
        let rho = rho(rtt_ms).get();
        assert_eq!(rho, f64::from(eighths) / 8.0);
        assert!((0.0..0.125).contains(&(exact - rho)), "{rtt_ms} ms: {rho}");
    }
    let increments = |rtt_ms| (rho(rtt_ms).slow_start(), rho(rtt_ms).avoidance());
    assert_eq!(increments(25), (1.0, 1.0));
    assert_eq!(increments(60), (4.0 * 165.0 / 128.0 - 1.0, 2.375 * 2.375)); // exact rho: 4.28, 5.76
    assert_eq!(increments(108), (16.0 * 152.0 / 128.0 - 1.0, 4.25 * 4.25)); // exact: 18.97, 18.66
    assert_eq!(rho(600).slow_start(), 65_536.0 - 1.0);
}

fn window(controller: &dyn Controller) -> u64 {
    controller.window_bytes() / MSS
}

fn at(rtt_ms: u64, packets: u64) -> AckSample {
    AckSample { srtt: Duration::from_millis(rtt_ms), ..ack(packets) }
}

#[test]
fn it_starts_with_rho_unless_told_otherwise() {
    let mut hybla = Algorithm::Hybla.build(config());
    hybla.on_handshake(Duration::from_millis(108));
    assert_eq!(window(&*hybla), 4);
    let given = [("initial_window", Given::Text("config".into()))];
    let mut hybla = with(Algorithm::Hybla, &given);
    hybla.on_handshake(Duration::from_millis(108));
    assert_eq!(window(&*hybla), 10);
}

#[test]
fn an_acknowledgement_counts_once_and_rho_follows_the_smallest_rtt() {
    let mut hybla = Algorithm::Hybla.build(config());
    hybla.on_acked(Instant::ZERO, &at(108, 1));
    assert_eq!(window(&*hybla), 28); // 10 + 18
    hybla.on_acked(Instant::ZERO, &at(108, 2));
    assert_eq!(window(&*hybla), 46);
    hybla.on_acked(Instant::ZERO, &at(25, 1));
    hybla.on_acked(Instant::ZERO, &at(108, 1)); // the path became longer: not noticed
    assert_eq!(window(&*hybla), 48);
}

/// Congestion avoidance at 50 packets, 60 ms: 2.375^2 = 5.64 packets per window.
#[test]
fn it_avoids_congestion_by_the_square_of_rho() {
    let mut hybla = Algorithm::Hybla.build(config());
    while window(&*hybla) < 100 {
        hybla.on_acked(Instant::ZERO, &at(60, 1));
    }
    let loss = LossSample {
        lost_bytes: MSS,
        in_flight_bytes: 99 * MSS,
        tx_in_flight_bytes: 100 * MSS,
        lost_since_sent_bytes: MSS,
        delivered_bytes: 0,
        new_episode: true,
    };
    hybla.on_lost(Instant::ZERO, &loss);
    hybla.on_recovered(Instant::ZERO);
    let before = window(&*hybla);
    assert!((50..=51).contains(&before), "{before}");
    for _ in 0..before {
        hybla.on_acked(Instant::ZERO, &at(60, 1));
    }
    assert!((5..=6).contains(&(window(&*hybla) - before)), "{}", window(&*hybla));
}
