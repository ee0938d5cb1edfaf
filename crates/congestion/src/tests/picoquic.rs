//! FAST and CUBIC as picoquic has them: the vectors of docs/model.md §4.2 and §4.7.

use super::model::{Loss, Model, Path};
use super::{MSS, RTT, ack, config, with};
use crate::fast::{MinRtt, delay_threshold};
use crate::picoquic::{LossFilter, RttFilter};
use crate::{AckSample, Algorithm, Controller, LossSample, Phase};
use parameters::Given;
use units::{Bitrate, Duration, Instant};

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// docs/model.md §4.7.
#[test]
fn the_threshold_is_an_eighth_and_25_ms_at_most() {
    let micros = |rtt_ms| delay_threshold(ms(rtt_ms)).as_micros();
    assert_eq!((micros(60), micros(108)), (7_500, 13_500));
    assert_eq!((micros(200), micros(600)), (25_000, 25_000));
}

#[test]
fn the_minimum_rtt_is_what_seven_samples_agree_on_and_lives_for_six_seconds() {
    let mut min = MinRtt::new();
    for _ in 0..10 {
        assert_eq!(min.on_rtt(Instant::ZERO, ms(60)), ms(60));
    }
    assert_eq!(min.on_rtt(Instant::ZERO, ms(40)), ms(60)); // one of seven
    let mut expired_at = None;
    for tenth in 1..100 {
        if min.on_rtt(Instant::from_millis(100 * tenth), ms(90)) == ms(90) && expired_at.is_none() {
            expired_at = Some(tenth);
        }
    }
    assert!(expired_at.is_some_and(|tenth| (60..=70).contains(&tenth)), "{expired_at:?}");
}

#[test]
fn the_rtt_filter_holds_seven_samples() {
    let mut filter = RttFilter::default();
    let bounds: Vec<_> = (1..=8).map(|sample| filter.add(ms(sample))).collect();
    assert_eq!(bounds[5], None);
    assert_eq!(bounds[6..], [Some((ms(1), ms(7))), Some((ms(2), ms(8)))]);
}

/// 1 - (15/16)^n: 6.3 %, 12.1 %, 17.6 % after one, two, three losses in a row.
#[test]
fn three_losses_in_a_row_are_congestion_and_five_percent_are_not() {
    let mut filter = LossFilter::new(MSS);
    let row: Vec<_> = (0..3).map(|_| filter.on_lost(MSS, 0)).collect();
    assert_eq!(row, [false, false, true]);
    assert!(LossFilter::new(MSS).on_lost(3 * MSS, 0)); // together
    let mut filter = LossFilter::new(MSS);
    assert!((1..1000).all(|loss| !filter.on_lost(MSS, 19 * loss * MSS)));
}

fn lose(controller: &mut dyn Controller, now: Instant, packets: u64, delivered: u64) {
    let loss = LossSample {
        lost_bytes: packets * MSS,
        in_flight_bytes: 50 * MSS,
        tx_in_flight_bytes: 100 * MSS,
        lost_since_sent_bytes: packets * MSS,
        delivered_bytes: delivered * MSS,
        new_episode: true,
    };
    controller.on_lost(now, &loss);
}

fn window(controller: &dyn Controller) -> u64 {
    controller.window_bytes() / MSS
}

/// An acknowledgement of the 100th to 200th packet with an RTT in ms.
fn after(rtt_ms: u64, packets: u64) -> AckSample {
    AckSample {
        rtt: Some(ms(rtt_ms)),
        delivered_bytes: 200 * MSS,
        prior_delivered_bytes: 100 * MSS,
        ..ack(packets)
    }
}

/// A FAST with a window of 80 packets and a minimum RTT of 60 ms, in slow start.
fn fast(parameters: &[(&str, Given)]) -> Box<dyn Controller> {
    let mut fast = with(Algorithm::Fast, parameters);
    for _ in 0..7 {
        fast.on_acked(Instant::ZERO, &after(60, 10));
    }
    assert_eq!(window(&*fast), 80);
    fast
}

#[test]
fn four_long_rtts_in_a_row_cost_an_eighth_and_freeze() {
    let mut fast = fast(&[]);
    for _ in 0..3 {
        fast.on_acked(Instant::ZERO, &after(68, 1));
    }
    fast.on_acked(Instant::ZERO, &after(60, 0)); // one short RTT forgives
    assert_eq!(window(&*fast), 83); // with what was acknowledged in the meantime
    for _ in 0..4 {
        fast.on_acked(Instant::ZERO, &after(68, 0));
    }
    assert_eq!((window(&*fast), fast.phase()), (72, Phase::Freeze)); // 83 * 7/8 = 72.6
    fast.on_acked(Instant::ZERO, &AckSample { prior_delivered_bytes: 0, ..after(60, 10) });
    assert_eq!((window(&*fast), fast.phase()), (72, Phase::Freeze));
    let prior_delivered_bytes = 200 * MSS; // left after the freeze began
    fast.on_acked(Instant::ZERO, &AckSample { prior_delivered_bytes, ..after(60, 8) });
    assert_eq!((window(&*fast), fast.phase()), (74, Phase::Avoidance)); // a quarter of 8 at no delay
}

#[test]
fn in_eval_growth_falls_with_the_delay() {
    let mut fast = fast(&[]);
    for _ in 0..4 {
        fast.on_acked(Instant::ZERO, &after(68, 0));
    }
    let frozen = window(&*fast); // 70
    let later = Instant::from_millis(61);
    fast.on_acked(later, &AckSample { rtt: Some(Duration::from_micros(63_750)), ..after(0, 40) });
    assert_eq!(window(&*fast), frozen + 5); // 3.75 of 7.5 ms: an eighth of 40
}

#[test]
fn a_timeout_leaves_two_packets_and_while_frozen_by_delay_nothing_unless_told_to() {
    for (ends_freeze, left) in [(false, 70), (true, 2)] {
        let mut fast = fast(&[("timeout_ends_freeze", Given::Flag(ends_freeze))]);
        for _ in 0..4 {
            fast.on_acked(Instant::ZERO, &after(68, 0));
        }
        fast.on_timeout(Instant::ZERO, 70 * MSS, false);
        lose(&mut *fast, Instant::ZERO, 10, 200);
        assert_eq!(window(&*fast), left);
    }
    let mut fast = fast(&[]);
    fast.on_timeout(Instant::ZERO, 80 * MSS, false);
    assert_eq!((window(&*fast), fast.phase()), (2, Phase::Freeze));
    fast.on_acked(Instant::from_millis(61), &after(60, 2));
    assert_eq!((window(&*fast), fast.phase()), (4, Phase::SlowStart));
}

#[test]
fn heavy_loss_halves_fast_and_single_losses_do_nothing() {
    let mut fast = fast(&[]);
    lose(&mut *fast, Instant::ZERO, 1, 200);
    assert_eq!(window(&*fast), 80);
    lose(&mut *fast, Instant::ZERO, 3, 201);
    assert_eq!(window(&*fast), 40);
}

#[test]
fn cubic_of_picoquic_keeps_seven_eighths_and_stands_single_losses() {
    let mut cubic = Algorithm::CubicPicoquic.build(config());
    cubic.on_acked(Instant::ZERO, &after(60, 90));
    lose(&mut *cubic, Instant::from_millis(100), 1, 200);
    assert_eq!(window(&*cubic), 100);
    lose(&mut *cubic, Instant::from_millis(100), 3, 201);
    assert_eq!((window(&*cubic), cubic.ssthresh_bytes() / MSS), (87, 87)); // 7/8 of 100
    lose(&mut *cubic, Instant::from_millis(101), 3, 202); // of the same flight
    assert_eq!(window(&*cubic), 87);
    // K = cbrt(100 / 8 / 0.4) = 3.15 s: back at W_max, and level there.
    cubic.on_acked(Instant::from_millis(100 + 3_000), &after(60, 1));
    assert_eq!(window(&*cubic), 99);
    cubic.on_acked(Instant::from_millis(100 + 3_200), &after(60, 1));
    assert_eq!(window(&*cubic), 100);
    cubic.on_spurious(Instant::from_millis(3_400));
    assert_eq!((window(&*cubic), cubic.phase()), (100, Phase::SlowStart));
}

#[test]
fn cubic_of_picoquic_stands_random_loss_that_starves_rfc_9438() {
    let delivered = |algorithm: Algorithm| {
        let path = Path {
            rate: Bitrate::from_mbps(50.0),
            rtt: RTT,
            queue_packets: 263,
            loss: Loss::Random(0.02),
            seed: 1,
        };
        let mut model = Model::new(algorithm.build(config()), config(), path);
        while model.now < Instant::from_millis(20_000) {
            model.step();
        }
        model.delivered_bytes
    };
    assert!(delivered(Algorithm::CubicPicoquic) > 5 * delivered(Algorithm::Cubic));
}
