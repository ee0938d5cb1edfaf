use super::curve::{Epoch, cbrt};
use units::Instant;

/// docs/model.md §4.2: W_max = 200, w = 140.
#[test]
fn the_curve_meets_the_vector_of_the_reference_sheet() {
    let epoch = Epoch::begin(Instant::ZERO, 140.0, Some(200.0));
    let near = |value: f64, wanted: f64, tolerance: f64| (value - wanted).abs() < tolerance;
    assert!(near(epoch.k(), 5.31329, 5e-6), "K = {}", epoch.k());
    for (t, packets) in [(0.0, 140.0), (1.0, 167.901), (2.0, 185.451), (6.0, 200.130)] {
        assert!(near(epoch.at(t), packets, 5e-4), "W({t}) = {}", epoch.at(t));
    }
}

#[test]
fn cube_roots_are_exact_to_the_last_bits() {
    assert_eq!(cbrt(0.0), 0.0);
    assert_eq!(cbrt(-8.0), 0.0);
    for root in [1e-3, 0.5, 1.0, 3.0, 5.31329, 77.0, 1e6, 1e80] {
        let error = cbrt(root * root * root) / root - 1.0;
        assert!(error.abs() < 1e-15, "{root}: {error}");
    }
}

mod hystart {
    use super::super::hystart::HyStart;
    use crate::tests::ack;
    use crate::{AckSample, Algorithm, Config, Group, build};
    use units::{Duration, Instant};

    /// One round of ten acknowledgements with the same RTT; returns the growth of the last one, and
    /// whether slow start ended.
    fn round(hystart: &mut HyStart, number: u64, rtt_ms: u64) -> (f64, bool) {
        let (mut grow, mut leave) = (0.0, false);
        for _ in 0..10 {
            let sample = AckSample {
                rtt: Some(Duration::from_millis(rtt_ms)),
                prior_delivered_bytes: number * 1000,
                delivered_bytes: (number + 1) * 1000,
                ..ack(2)
            };
            let step = hystart.on_ack(&sample, 2.0);
            grow = step.grow;
            leave |= step.leave;
        }
        (grow, leave)
    }

    #[test]
    fn a_rise_by_an_eighth_slows_down_and_five_rounds_later_it_is_over() {
        let mut hystart = HyStart::default();
        assert_eq!(round(&mut hystart, 0, 60), (2.0, false));
        assert_eq!(round(&mut hystart, 1, 67), (2.0, false)); // 60 / 8 = 7.5 ms
        assert_eq!(round(&mut hystart, 2, 76), (0.5, false)); // 67 / 8 = 8.4 ms
        for number in 3..=6 {
            assert_eq!(round(&mut hystart, number, 90), (0.5, false));
        }
        assert!(round(&mut hystart, 7, 90).1);
    }

    #[test]
    fn a_blip_does_not_end_slow_start() {
        let mut hystart = HyStart::default();
        round(&mut hystart, 0, 60);
        assert_eq!(round(&mut hystart, 1, 90), (0.5, false));
        assert_eq!(round(&mut hystart, 2, 61), (2.0, false));
        for number in 3..20 {
            assert_eq!(round(&mut hystart, number, 62), (2.0, false));
        }
    }

    #[test]
    fn one_stretched_ack_counts_for_eight_packets() {
        assert_eq!(HyStart::default().on_ack(&ack(50), 50.0).grow, 8.0);
    }

    /// A window of one packet is what a timeout leaves: the threshold stays above it (RFC 5681 §3.1 eq. 4).
    /// Found by the random events of `make fuzz`.
    #[test]
    fn slow_start_that_ends_with_a_window_of_one_packet_leaves_a_threshold_of_two() {
        let mut cubic = build(&Algorithm::Cubic.into(), Config::new(1000, 1), &Group::new());
        for (number, rtt_ms) in [60, 90, 90, 90, 90, 90, 90, 90].into_iter().enumerate() {
            cubic.on_timeout(Instant::from_millis(number as u64 * 1000), 0, true);
            for _ in 0..10 {
                let sample = AckSample {
                    rtt: Some(Duration::from_millis(rtt_ms)),
                    prior_delivered_bytes: number as u64 * 1000,
                    delivered_bytes: (number as u64 + 1) * 1000,
                    window_limited: false,
                    ..ack(2)
                };
                cubic.on_acked(Instant::from_millis(number as u64 * 1000), &sample);
            }
        }
        assert_eq!(cubic.ssthresh_bytes(), 2000);
    }
}
