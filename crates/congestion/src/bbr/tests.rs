use super::filters::{MaxBandwidth, MinRtt, Rounds};
use super::gain::Gain;
use super::pacing::Pacing;
use super::policer::{Observation, Policer};
use super::{Bbr, Mode};
use crate::tests::model::{Loss, Model, Path};
use crate::tests::{MSS, RTT, ack, config};
use crate::{AckSample, Algorithm, Controller, LossSample};
use units::{Bitrate, Duration, Instant};

fn mbps(rate: u64) -> Bitrate {
    Bitrate::from_bps(rate * 1_000_000)
}

#[test]
fn the_bandwidth_filter_forgets_after_ten_rounds() {
    let mut filter = MaxBandwidth::default();
    filter.update(0, mbps(50));
    for round in 1..=10 {
        filter.update(round, mbps(20));
        assert_eq!(filter.get(), mbps(50), "round {round}");
    }
    filter.update(11, mbps(20));
    assert_eq!(filter.get(), mbps(20));
    filter.update(12, mbps(30));
    assert_eq!(filter.get(), mbps(30));
}

#[test]
fn the_bandwidth_filter_falls_to_the_best_of_the_recent_past() {
    let mut filter = MaxBandwidth::default();
    filter.update(0, mbps(50));
    for (round, rate) in [(3, 40), (6, 30), (9, 10), (11, 10)] {
        filter.update(round, mbps(rate));
    }
    assert_eq!(filter.get(), mbps(40));
    filter.update(14, mbps(10));
    assert_eq!(filter.get(), mbps(30));
}

#[test]
fn the_minimum_rtt_rises_only_after_ten_seconds_and_not_by_a_delayed_ack() {
    let mut filter = MinRtt::default();
    let (start, rtt) = (Instant::from_millis(500), Some(Duration::from_millis(80)));
    filter.update(start, Some(RTT), true);
    filter.update(start + Duration::from_secs(10), rtt, false);
    assert_eq!(filter.get(), Some(RTT));
    let late = start + Duration::from_millis(10_001);
    filter.update(late, rtt, true);
    assert_eq!(filter.get(), Some(RTT));
    filter.update(late, rtt, false);
    assert_eq!(filter.get(), rtt);
    assert!(!filter.expired(late + Duration::from_secs(10)));
}

#[test]
fn a_round_ends_with_a_packet_that_left_in_it() {
    let mut rounds = Rounds::default();
    rounds.on_acked(0, 10);
    assert!(rounds.started);
    rounds.on_acked(9, 20);
    assert!(!rounds.started);
    rounds.on_acked(10, 30);
    assert!(rounds.started);
    assert_eq!(rounds.count, 2);
}

#[test]
fn bursts_hold_a_millisecond() {
    let mut pacing = Pacing::new(10 * MSS, MSS, Gain::HIGH);
    let mut packets = |bps| {
        pacing.follow(Bitrate::from_bps(bps), Gain::UNIT, true);
        pacing.quantum_packets(MSS)
    };
    assert_eq!(packets(1_000_000), 1);
    assert_eq!(packets(2_000_000), 2);
    assert_eq!(packets(50_000_000), 4); // 49.5 Mbit/s / 8 / 1024 = 6,042 bytes
    assert_eq!(packets(10_000_000_000), 45); // 65,215 bytes
}

#[test]
fn pacing_starts_at_the_initial_window_in_a_millisecond_and_then_in_an_rtt() {
    let mut pacing = Pacing::new(10 * MSS, MSS, Gain::HIGH);
    assert_eq!(pacing.rate().as_bps(), 326_480_962); // 114.24 Mbit/s * 739/256 * 0.99
    pacing.on_srtt(10 * MSS, RTT);
    assert_eq!(pacing.rate().as_bps(), 5_441_348);
    pacing.follow(mbps(1), Gain::HIGH, false);
    assert_eq!(pacing.rate().as_bps(), 5_441_348); // only upwards until the pipe is full
}

/// One round per 100 ms; a loss in each.
fn policed(policer: &mut Policer, round: u64, bytes: u64) -> bool {
    policer.on_lost(bytes / 4);
    let seen = Observation {
        delivered_bytes: round * bytes,
        lost: true,
        app_limited: false,
        round_started: true,
        probing_bandwidth: true,
    };
    policer.observe(Instant::from_millis(100 * round), seen)
}

#[test]
fn two_lossy_intervals_of_the_same_rate_are_a_policer_for_48_rounds() {
    let mut policer = Policer::default();
    let bytes = 125_000; // per 100 ms: 10 Mbit/s
    let found = (1..100).find(|round| {
        policed(&mut policer, *round, bytes);
        policer.rate().is_some()
    });
    assert_eq!(found, Some(8)); // the first loss begins at round 1; intervals end at 4 and 8
    assert_eq!(policer.rate(), Some(mbps(10)));
    let over = (9..100).find(|round| policed(&mut policer, *round, bytes));
    assert_eq!(over, Some(8 + 48));
    assert_eq!(policer.rate(), None);
}

#[test]
fn without_enough_loss_nobody_is_suspected() {
    let mut policer = Policer::default();
    for round in 1..100 {
        policer.on_lost(20_000); // 16 % of what arrives
        let seen = Observation {
            delivered_bytes: round * 125_000,
            lost: true,
            app_limited: false,
            round_started: true,
            probing_bandwidth: true,
        };
        assert!(!policer.observe(Instant::from_millis(100 * round), seen));
        assert_eq!(policer.rate(), None);
    }
}

fn steady() -> Path {
    let (rate, loss) = (Bitrate::from_mbps(50.0), Loss::None);
    Path { rate, rtt: RTT, queue_packets: 263, loss, seed: 1 }
}

/// Stretches in which the window was four packets, and at most four were in flight.
fn dips(model: &mut Model, until: Instant) -> Vec<(Instant, Duration)> {
    let mut dips = Vec::new();
    let mut since = None;
    while model.now < until {
        model.step();
        let dipped = model.controller.window_bytes() == 4 * MSS && model.in_flight_bytes <= 4 * MSS;
        match since {
            None if dipped => since = Some(model.now),
            Some(begin) if !dipped => {
                dips.push((begin, model.now - begin));
                since = None;
            }
            _ => {}
        }
    }
    dips
}

#[test]
fn every_ten_seconds_four_packets_for_200_milliseconds() {
    let mut model = Model::new(Algorithm::Bbr.build(config()), config(), steady());
    let dips = dips(&mut model, Instant::from_millis(45_000));
    assert_eq!(dips.len(), 4, "{dips:?}");
    for (_, span) in &dips {
        assert!((200..=200 + 61).contains(&span.as_millis()), "{dips:?}");
    }
    for pair in dips.windows(2) {
        let apart = pair[1].0 - pair[0].0;
        assert!((10_200..10_500).contains(&apart.as_millis()), "{dips:?}");
    }
}

#[test]
fn the_steady_queue_is_a_small_part_of_the_bdp() {
    let mut model = Model::new(Algorithm::Bbr.build(config()), config(), steady());
    while model.now < Instant::from_millis(3_000) {
        model.step();
    }
    let (mut area, begin) = (0.0, model.now);
    while model.now < Instant::from_millis(9_000) {
        let before = model.now;
        model.step();
        area += (model.now - before).as_secs_f64() * model.queued_packets() as f64;
    }
    let mean = area / (model.now - begin).as_secs_f64();
    assert!(mean < 0.1 * 262.6, "{mean} packets");
}

#[test]
fn random_loss_of_one_percent_costs_no_rate() {
    let path = Path { loss: Loss::Random(0.01), ..steady() };
    let mut model = Model::new(Algorithm::Bbr.build(config()), config(), path);
    while model.now < Instant::from_millis(30_000) {
        model.step();
    }
    let share = model.delivered_bytes as f64 / path.rate.bytes_in(model.now - Instant::ZERO) as f64;
    assert!(share > 0.9, "{share}");
}

/// A BBR that has filled the pipe of the steady path, and the time.
fn filled() -> (Bbr, Instant) {
    let mut bbr = Bbr::new(config());
    let mut now = Instant::ZERO;
    let mut delivered = 0;
    while bbr.mode != Mode::ProbeBw {
        now += RTT;
        let prior = delivered;
        delivered += 263 * MSS;
        let sample = crate::RateSample {
            rate: mbps(50),
            delivered_bytes: 263 * MSS,
            interval: RTT,
            app_limited: false,
            tx_in_flight_bytes: 263 * MSS,
            lost_bytes: 0,
        };
        let sample = AckSample {
            delivered_bytes: delivered,
            prior_delivered_bytes: prior,
            rate: Some(sample),
            ..ack(263)
        };
        bbr.on_acked(now, &sample);
    }
    (bbr, now)
}

/// 263 packets of BDP; three bursts of 12 (141.5 Mbit/s) at the end of STARTUP, of 3 to 5 after it.
#[test]
fn targets_are_the_bdp_and_three_bursts() {
    let (mut bbr, _) = filled();
    assert_eq!(bbr.ssthresh_bytes() / MSS, 300); // 263 + 36, made even
    bbr.pacing.follow(mbps(50), Gain::UNIT, true);
    let probing = if bbr.cycle.probes() { 2 } else { 0 };
    assert_eq!(bbr.in_flight_target(Gain::UNIT) / MSS, 276 + probing); // 263 + 12, made even
    assert_eq!(bbr.in_flight_target(Gain::WINDOW) / MSS, 538 + probing); // 526 + 12
}

fn lose(bbr: &mut Bbr, now: Instant, in_flight_packets: u64) {
    let loss = LossSample {
        lost_bytes: MSS,
        in_flight_bytes: in_flight_packets * MSS,
        tx_in_flight_bytes: 200 * MSS,
        lost_since_sent_bytes: MSS,
        delivered_bytes: 0,
        new_episode: true,
    };
    bbr.on_lost(now, &loss);
}

#[test]
fn the_first_round_of_a_repair_conserves_packets_and_the_window_returns() {
    let (mut bbr, now) = filled();
    let before = bbr.window_bytes();
    lose(&mut bbr, now, 100);
    let delivered_bytes = bbr.delivered_bytes + MSS;
    let first = AckSample {
        lost_bytes: MSS,
        in_flight_bytes: 99 * MSS,
        delivered_bytes,
        in_recovery: true,
        ..ack(1)
    };
    bbr.on_acked(now, &first);
    assert_eq!(bbr.window_bytes(), 100 * MSS); // one in, one out
    bbr.on_recovered(now);
    assert_eq!(bbr.window_bytes(), before);
}

#[test]
fn a_timeout_leaves_one_packet_and_the_window_returns() {
    let (mut bbr, now) = filled();
    let before = bbr.window_bytes();
    bbr.on_timeout(now, 100 * MSS, false);
    bbr.on_timeout(now + RTT, MSS, true);
    assert_eq!(bbr.window_bytes(), MSS);
    bbr.on_recovered(now + RTT);
    assert_eq!(bbr.window_bytes(), before);
}

#[test]
fn after_idle_it_paces_at_the_bandwidth() {
    let (mut bbr, now) = filled();
    bbr.on_sent(now + Duration::from_secs(2), MSS, MSS, true);
    assert_eq!(bbr.pacing_rate(), Some(mbps(50).scaled(99, 100)));
    bbr.on_idle_restart(now, Duration::from_secs(2), Duration::from_millis(260));
    assert!(bbr.window_bytes() > 263 * MSS);
}

#[test]
fn samples_limited_by_the_application_only_raise_the_bandwidth() {
    let (mut bbr, mut now) = filled();
    for (rate, expected) in [(10, 50), (60, 60)] {
        for _ in 0..20 {
            now += RTT;
            let prior = bbr.delivered_bytes;
            let sample = crate::RateSample {
                rate: mbps(rate),
                delivered_bytes: MSS,
                interval: RTT,
                app_limited: true,
                tx_in_flight_bytes: MSS,
                lost_bytes: 0,
            };
            let sample = AckSample {
                delivered_bytes: prior + MSS,
                prior_delivered_bytes: prior,
                rate: Some(sample),
                ..ack(1)
            };
            bbr.on_acked(now, &sample);
        }
        assert_eq!(bbr.max_bandwidth.get(), mbps(expected));
    }
}

#[test]
fn the_seed_draws_the_first_phase_and_never_the_draining_one() {
    let mut seen = [false; 8];
    for seed in 0..100 {
        let mut bbr = Bbr::new(crate::Config { seed, ..config() });
        bbr.enter_probe_bw(Instant::ZERO);
        seen[Gain::CYCLE.iter().position(|gain| *gain == bbr.cycle.gain()).unwrap_or(0)] = true;
        assert_ne!(bbr.cycle.gain(), Gain::CYCLE[1]);
    }
    assert!(seen[0] && seen[2]);
}
