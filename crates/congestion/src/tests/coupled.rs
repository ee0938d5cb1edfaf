//! LIA, OLIA, BALIA and wVegas: the vectors of docs/model.md §4.8 to §4.11.

use super::model::{Loss, Model, Path};
use super::{MSS, RTT, ack, config, with};
use crate::coupled::Law;
use crate::group::{Group, Member, Paths, Sibling};
use crate::wvegas::BaseRtt;
use crate::{AckSample, Algorithm, Controller, LossSample, Phase, balia, lia, olia};
use parameters::Given;
use units::{Bitrate, Duration, Instant};

const COUPLED: [Algorithm; 3] = [Algorithm::Lia, Algorithm::Olia, Algorithm::Balia];
/// Windows and RTTs of the vectors; OLIA's deliveries between losses, in packets.
const FULL: Sibling =
    Sibling { window_packets: 10.0, srtt: Duration::from_millis(60), shared: 400.0 };
const SPARE: Sibling =
    Sibling { window_packets: 20.0, srtt: Duration::from_millis(108), shared: 900.0 };

/// Looks at a group of the two paths of the vectors.
fn look<R>(look: impl FnOnce(Paths<'_>) -> R) -> R {
    let group = Group::new();
    let (full, spare) = (group.join(), group.join());
    full.share(FULL);
    spare.exchange(SPARE, look)
}

fn near(value: f64, wanted: f64, tolerance: f64) {
    assert!((value - wanted).abs() <= tolerance, "{value} instead of {wanted}");
}

/// docs/model.md §4.8.
#[test]
fn lia_meets_the_vector() {
    look(|paths| {
        near(lia::alpha(paths), 0.67313, 5e-6);
        near(lia::Lia.increase(&FULL, paths), 0.022_438, 5e-7);
        near(lia::Lia.increase(&SPARE, paths), 0.022_438, 5e-7);
    });
}

/// docs/model.md §4.9.
#[test]
fn olia_meets_the_vector() {
    look(|paths| {
        assert_eq!((olia::alpha(&FULL, paths), olia::alpha(&SPARE, paths)), (0.5, -0.5));
        near(olia::Olia::default().increase(&FULL, paths), 0.072_438, 1e-6);
        near(olia::Olia::default().increase(&SPARE, paths), -0.011_150, 1e-6);
    });
}

#[test]
fn olia_counts_the_bytes_between_losses() {
    let mut law = olia::Olia::default();
    law.on_delivered(400);
    law.on_loss();
    law.on_delivered(100);
    assert_eq!(law.shared(), 400.0);
    law.on_delivered(500);
    assert_eq!(law.shared(), 600.0);
    law.on_loss();
    law.on_loss();
    assert_eq!(law.shared(), 0.0);
}

/// When the best path has the largest window, nothing moves: alpha is zero.
#[test]
fn olia_moves_nothing_when_the_best_path_is_the_largest() {
    let group = Group::new();
    let (best, other) = (group.join(), group.join());
    let large = Sibling { window_packets: 50.0, ..FULL };
    best.share(large);
    let alphas = |paths: Paths<'_>| (olia::alpha(&large, paths), olia::alpha(&SPARE, paths));
    assert_eq!(other.exchange(SPARE, alphas), (0.0, 0.0));
}

/// docs/model.md §4.10: increments, decreases, the kernel's counter.
#[test]
fn balia_meets_the_vector() {
    let values = |exact| {
        let given = [("kernel_exact".to_owned(), Given::Flag(exact))].into();
        balia::INFO.resolve(&given).expect("a known flag")
    };
    let (float, exact) = (balia::Balia::new(&values(false)), balia::Balia::new(&values(true)));
    look(|paths| {
        near(balia::ratio(&FULL, paths), 1.1111, 5e-5);
        near(balia::ratio(&SPARE, paths), 1.0, 0.0);
        near(float.increase(&FULL, paths), 0.024_211, 5e-7);
        near(float.increase(&SPARE, paths), 0.013_850, 5e-7);
        near(10.0 * (1.0 - float.surviving(&FULL, paths)), 5.56, 5e-3);
        near(20.0 * (1.0 - float.surviving(&SPARE, paths)), 10.0, 1e-9);
        near(balia::packets_per_increment(&FULL, paths), 41.30, 5e-3);
        near(balia::packets_per_increment(&SPARE, paths), 72.20, 5e-3);
        // Whole numbers: a of 1.11 is 1, and one packet for every 41.
        near(exact.surviving(&FULL, paths), 0.5, 0.0);
        near(exact.increase(&FULL, paths), 1.0 / 41.0, 0.0);
    });
}

/// A path that is 2.5 times slower: min(a, 1.5) halves, that is a quarter survives.
#[test]
fn balia_gives_up_three_quarters_of_a_slow_path() {
    let group = Group::new();
    let fast = group.join();
    fast.share(Sibling { window_packets: 25.0, ..FULL });
    let values = balia::INFO.resolve(&Default::default()).expect("defaults");
    let slow = FULL;
    let left =
        group.join().exchange(slow, |paths| balia::Balia::new(&values).surviving(&slow, paths));
    assert_eq!(left, 0.25);
}

/// docs/model.md §7.
#[test]
fn with_one_path_all_are_newreno() {
    let path = Path {
        rate: Bitrate::from_mbps(20.0),
        rtt: RTT,
        queue_packets: 60,
        loss: Loss::Random(0.001),
        seed: 3,
    };
    let windows = |algorithm: Algorithm| {
        let mut model = Model::new(algorithm.build(config()), config(), path);
        let mut windows = Vec::new();
        while model.now < Instant::from_millis(20_000) {
            model.step();
            windows.push((model.controller.window_bytes(), model.controller.ssthresh_bytes()));
        }
        windows
    };
    let reno = windows(Algorithm::NewReno);
    for algorithm in COUPLED {
        assert!(windows(algorithm) == reno, "{algorithm} is not NewReno");
    }
}

fn sample(srtt_ms: u64, packets: u64) -> AckSample {
    let srtt = Duration::from_millis(srtt_ms);
    AckSample { rtt: Some(srtt), srtt, ..ack(packets) }
}

fn lose(controller: &mut dyn Controller) {
    let loss = LossSample {
        lost_bytes: MSS,
        in_flight_bytes: 10 * MSS,
        tx_in_flight_bytes: 10 * MSS,
        lost_since_sent_bytes: MSS,
        delivered_bytes: 0,
        new_episode: true,
    };
    controller.on_lost(Instant::ZERO, &loss);
    controller.on_recovered(Instant::ZERO);
}

/// The growth of the first path by 10,000 packets, next to a second one of the same kind, both with
/// a window of 50 at first.
fn growth(algorithm: Algorithm, group: &Group) -> (u64, Vec<Box<dyn Controller>>) {
    let build = || crate::build(&algorithm.into(), config(), group);
    let mut paths = vec![build(), build()];
    for path in &mut paths {
        path.on_acked(Instant::ZERO, &sample(60, 90));
        lose(&mut **path);
        path.on_acked(Instant::ZERO, &sample(60, 1));
    }
    let before = paths[0].window_bytes();
    for _ in 0..10_000 {
        paths[0].on_acked(Instant::ZERO, &sample(60, 1));
    }
    ((paths[0].window_bytes() - before) / MSS, paths)
}

#[test]
fn two_paths_grow_less_than_two_newrenos_and_one_that_closes_leaves_the_group() {
    let reno = growth(Algorithm::NewReno, &Group::new()).0;
    for algorithm in COUPLED {
        let group = Group::new();
        let (together, mut paths) = growth(algorithm, &group);
        assert!(together < reno, "{algorithm}: {together} and {reno}");
        drop(paths.pop());
        let before = paths[0].window_bytes() / MSS;
        for _ in 0..4 * before {
            paths[0].on_acked(Instant::ZERO, &sample(60, 1));
        }
        let grown = paths[0].window_bytes() / MSS - before;
        assert!((3..=4).contains(&grown), "{algorithm} alone is not Reno: {grown}");
    }
}

/// RFC 6356 §3: with more than one path, a threshold of one packet.
#[test]
fn the_smallest_threshold_is_one_packet_when_there_are_two_paths() {
    let group = Group::new();
    let (_, mut paths) = growth(Algorithm::Lia, &group);
    for _ in 0..20 {
        lose(&mut *paths[0]);
    }
    assert_eq!(paths[0].ssthresh_bytes(), MSS);
    let mut alone = Algorithm::Lia.build(config());
    for _ in 0..20 {
        lose(&mut *alone);
    }
    assert_eq!(alone.ssthresh_bytes(), 2 * MSS);
}

#[test]
fn a_group_forgets_members_that_are_dropped_and_ignores_those_without_an_rtt() {
    let group = Group::new();
    let members: Vec<Member> = (0..3).map(|_| group.join()).collect();
    let count = |member: &Member| member.exchange(FULL, |paths| paths.count());
    assert_eq!(count(&members[0]), 1);
    assert_eq!(count(&members[1]), 2);
    let mut members = members.into_iter();
    let first = members.next().expect("three members");
    drop(members);
    assert_eq!(count(&first), 1);
    assert_eq!(count(&group.join()), 2); // takes a place that is free
}

/// A wVegas in congestion avoidance, and the round trips it sees.
struct Vegas {
    controller: Box<dyn Controller>,
    delivered: u64,
}

impl Vegas {
    fn new(parameters: &[(&str, Given)]) -> Self {
        let mut vegas = Self { controller: with(Algorithm::WVegas, parameters), delivered: 0 };
        vegas.round(Duration::from_millis(60), 90);
        vegas.round(Duration::from_millis(62), 100); // 200 packets, 6 of them queued:
        vegas.round(Duration::from_millis(62), 1); // slow start is over, at 194
        assert_eq!(vegas.controller.phase(), Phase::Avoidance);
        vegas
    }

    /// A round trip in which `packets` are delivered, each with this RTT; the window after it.
    fn round(&mut self, rtt: Duration, packets: u64) -> u64 {
        let begin = self.delivered;
        for _ in 0..packets {
            self.delivered += 1;
            let sample = AckSample {
                rtt: Some(rtt),
                delivered_bytes: self.delivered * MSS,
                prior_delivered_bytes: begin * MSS,
                ..ack(1)
            };
            self.controller.on_acked(Instant::ZERO, &sample);
        }
        self.controller.window_bytes() / MSS
    }
}

/// docs/model.md §4.11. A round trip is judged at the first acknowledgement of the next one.
#[test]
fn wvegas_keeps_alpha_packets_queued() {
    let rtt = Duration::from_millis(63); // 3 of 63 ms: 9 of 194 packets
    let step = |total_alpha: f64| {
        let mut vegas = Vegas::new(&[("total_alpha", Given::Number(total_alpha))]);
        let before = vegas.round(rtt, 90) as i64;
        vegas.round(rtt, 1) as i64 - before
    };
    assert_eq!((step(20.0), step(9.0), step(4.0)), (1, 0, -1));
}

#[test]
fn wvegas_drains_the_queue_when_it_has_doubled() {
    let mut vegas = Vegas::new(&[]);
    vegas.round(Duration::from_millis(62), 90);
    let before = vegas.round(Duration::from_millis(65), 90);
    let after = vegas.round(Duration::from_millis(65), 1);
    assert!((before * 44 / 100..=before * 48 / 100).contains(&after), "{before}, {after}"); // 60/130
}

#[test]
fn wvegas_loses_nothing_and_forgets_a_base_rtt_if_told_to() {
    let (rate, loss) = (Bitrate::from_mbps(50.0), Loss::None);
    let path = Path { rate, rtt: RTT, queue_packets: 263, loss, seed: 1 };
    let mut model = Model::new(Algorithm::WVegas.build(config()), config(), path);
    while model.now < Instant::from_millis(20_000) {
        model.step();
    }
    assert_eq!(model.lost_packets, 0);

    let mut ever = BaseRtt::new(Duration::ZERO);
    let mut window = BaseRtt::new(Duration::from_secs(10));
    for (second, rtt_ms) in [(0, 60), (4, 80), (6, 80), (9, 80), (12, 80)] {
        for base in [&mut ever, &mut window] {
            base.on_rtt(Instant::from_millis(1000 * second), Duration::from_millis(rtt_ms));
        }
    }
    assert_eq!(ever.get(), RTT);
    assert_eq!(window.get(), Duration::from_millis(80));
}
