use super::*;
use crate::{DelayConfig, LossConfig};

fn with_loss(loss: LossConfig) -> LinkConfig {
    LinkConfig { loss, ..unbounded(1000.0, 5.0) }
}

/// Which of `packets` arrive, with the link seeded by `seed` and packets `gap` apart.
fn arrived(loss: &LossConfig, seed: u64, packets: u64, gap: Duration) -> Vec<bool> {
    let mut link: Link<Packet> = with_loss(loss.clone()).build(seed).unwrap();
    let mut now = Instant::ZERO;
    for number in 0..packets {
        link.push(now, full(number)).unwrap();
        now += gap;
    }
    let mut arrived = vec![false; packets as usize];
    for (_, number) in drain(&mut link) {
        arrived[number as usize] = true;
    }
    let lost = arrived.iter().filter(|&&arrived| !arrived).count() as u64;
    assert_eq!(link.counters().dropped_loss_packets, lost);
    arrived
}

fn lost(arrived: &[bool]) -> f64 {
    arrived.iter().filter(|&&arrived| !arrived).count() as f64
}

const GAP: Duration = Duration::from_micros(12);

#[test]
fn bernoulli_loses_its_share() {
    let packets = 200_000;
    for (seed, ratio) in [(1, 0.001), (2, 0.01), (3, 0.3)] {
        let lost = lost(&arrived(&LossConfig::Bernoulli { ratio }, seed, packets, GAP));
        let mean = packets as f64 * ratio;
        let deviation = (mean * (1.0 - ratio)).sqrt();
        assert!((lost - mean).abs() < 4.0 * deviation, "{lost} lost of {mean} ± {deviation}");
    }
}

#[test]
fn certainties_are_exact() {
    assert_eq!(lost(&arrived(&LossConfig::Bernoulli { ratio: 0.0 }, 1, 10_000, GAP)), 0.0);
    assert_eq!(lost(&arrived(&LossConfig::Bernoulli { ratio: 1.0 }, 1, 10_000, GAP)), 10_000.0);
    assert_eq!(lost(&arrived(&LossConfig::None, 1, 10_000, GAP)), 0.0);
}

#[test]
fn gilbert_elliott_loses_in_bursts() {
    let packets = 400_000;
    let loss = LossConfig::GilbertElliott { p: 0.01, r: 0.2, loss_good: 0.0, loss_bad: 1.0 };
    let arrived = arrived(&loss, 5, packets, GAP);
    let ratio = lost(&arrived) / packets as f64;
    let bursts = arrived.windows(2).filter(|pair| pair[0] && !pair[1]).count() as f64;
    // Stationary share of the bad state p / (p + r); mean burst 1 / r. About 3,800 bursts, each
    // with a deviation near its mean: 3 % of both is more than 1.5 deviations; take 6 %.
    assert!((ratio / (0.01 / 0.21) - 1.0).abs() < 0.06, "lost {ratio}");
    assert!((lost(&arrived) / bursts / 5.0 - 1.0).abs() < 0.06, "{bursts} bursts");
}

#[test]
fn gilbert_elliott_uses_the_ratio_of_its_state() {
    let alternate = LossConfig::GilbertElliott { p: 1.0, r: 1.0, loss_good: 0.0, loss_bad: 1.0 };
    let arrived = arrived(&alternate, 1, 6, GAP);
    assert_eq!(arrived, [true, false, true, false, true, false]);
}

#[test]
fn a_loss_trace_follows_the_departure_time() {
    let (times_s, ratio) = (vec![0.0, 0.001], vec![0.0, 1.0]);
    let loss = LossConfig::Steps { times_s, ratio, repeat_s: Some(0.002) };
    let arrived = arrived(&loss, 1, 8, Duration::from_micros(500));
    // Each departs 12 µs after its arrival.
    assert_eq!(arrived, [true, true, false, false, true, true, false, false]);
}

#[test]
fn the_nth_packet_meets_the_same_fate_at_any_pace() {
    let models = [
        LossConfig::Bernoulli { ratio: 0.1 },
        LossConfig::GilbertElliott { p: 0.05, r: 0.3, loss_good: 0.01, loss_bad: 0.7 },
    ];
    for loss in models {
        let fast = arrived(&loss, 9, 5000, Duration::ZERO);
        assert_eq!(fast, arrived(&loss, 9, 5000, Duration::from_millis(3)));
        assert_ne!(fast, arrived(&loss, 10, 5000, Duration::ZERO));
    }
}

#[test]
fn losses_use_capacity() {
    let mut link = built(&LinkConfig {
        loss: LossConfig::GilbertElliott { p: 1.0, r: 1.0, loss_good: 0.0, loss_bad: 1.0 },
        ..unbounded(12.0, 0.0)
    });
    for number in 0..3 {
        link.push(Instant::ZERO, full(number)).unwrap();
    }
    assert_eq!(drain(&mut link), [(ms(1), 0), (ms(3), 2)]);
}

#[test]
fn a_lost_packet_hides_no_earlier_delivery() {
    // Packet 1 would arrive at 52 ms and is lost; packet 2 arrives at 3 ms, for the delay fell.
    let delay = DelayConfig::Steps {
        times_s: vec![0.0, 0.002, 0.003],
        ms: vec![0.0, 50.0, 0.0],
        repeat_s: None,
    };
    let loss = LossConfig::GilbertElliott { p: 1.0, r: 1.0, loss_good: 0.0, loss_bad: 1.0 };
    let mut link = built(&LinkConfig { loss, delay, ..unbounded(12.0, 0.0) });
    for number in 0..3 {
        link.push(Instant::ZERO, full(number)).unwrap();
    }
    assert_eq!(drain(&mut link), [(ms(1), 0), (ms(3), 2)]);
}
