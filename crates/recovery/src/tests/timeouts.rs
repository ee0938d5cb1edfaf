//! RFC 6298 in numbers, with what Linux does otherwise.

use super::ms;
use crate::{RTO_MAX, RttEstimator};
use units::Duration;

fn micros(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

/// RFC 6298 (2.3): RTTVAR = 3/4 RTTVAR + 1/4 |SRTT - R'|, then SRTT = 7/8 SRTT + 1/8 R'.
#[test]
fn samples_are_smoothed_by_an_eighth_and_deviations_by_a_quarter() {
    let mut rtt = RttEstimator::default();
    let steps = [
        (ms(400), micros(400_000), micros(200_000)),
        (ms(480), micros(410_000), micros(170_000)), // 3/4 * 200 + 1/4 * 80
        (ms(1000), micros(483_750), micros(275_000)), // 3/4 * 170 + 1/4 * 590
    ];
    for (sample, srtt, mdev) in steps {
        rtt.on_sample(sample, 0, 100);
        assert_eq!((rtt.srtt(), rtt.mdev(), rtt.latest()), (srtt, mdev, sample));
    }
    // RTO = SRTT + 4 RTTVAR (2.3).
    assert_eq!(rtt.rto(0), micros(483_750 + 4 * 275_000));
}

/// RFC 6298 (5.5), (2.5): each timeout in a row doubles the timer, up to a maximum.
#[test]
fn the_timer_doubles_up_to_two_minutes() {
    let mut rtt = RttEstimator::default();
    rtt.on_sample(ms(100), 0, 1);
    let rto = rtt.rto(0);
    assert_eq!(rto, ms(300));
    for backoff in 0..8 {
        assert_eq!(rtt.rto(backoff), rto * 2_u32.pow(backoff));
    }
    assert_eq!(rtt.rto(9), RTO_MAX);
    assert_eq!(rtt.rto(u32::MAX), RTO_MAX);
}

/// Linux `tcp_rtt_estimator`: the deviation that the timer uses rises at once, and falls by a quarter
/// of the difference once a round trip.
#[test]
fn the_deviation_of_the_timer_falls_once_a_round_trip() {
    let mut rtt = RttEstimator::default();
    rtt.on_sample(ms(400), 0, 10);
    assert_eq!(rtt.rttvar_kernel(), ms(800));
    for una in 1..=10 {
        rtt.on_sample(ms(400), una, 20);
        assert_eq!(rtt.rttvar_kernel(), ms(800), "the round trip is not over");
    }
    rtt.on_sample(ms(400), 11, 20);
    // The largest of the first round trip was the first sample's: nothing falls yet.
    assert_eq!(rtt.rttvar_kernel(), ms(800));
    rtt.on_sample(ms(400), 21, 30);
    assert_eq!(rtt.rttvar_kernel(), ms(800) - (ms(800) - ms(200)) / 4);
}

#[test]
fn the_smallest_rtt_has_samples_of_its_own() {
    let mut rtt = RttEstimator::default();
    assert_eq!((rtt.min(), rtt.has_sample()), (Duration::ZERO, false));
    rtt.on_sample(ms(90), 0, 1);
    assert_eq!(rtt.min(), ms(90), "nothing better is known");
    for sample in [50, 70] {
        rtt.on_min_sample(ms(sample));
    }
    assert_eq!(rtt.min(), ms(50));
}
