//! What every controller does on six paths: a snapshot file per controller.

use super::config;
use super::model::{Loss, Model, Path};
use crate::Algorithm;
use std::fmt::Write;
use units::{Bitrate, Duration, Instant};

/// From a time on, the path is like this.
#[derive(Clone, Copy)]
struct Stage {
    from_s: u64,
    mbps: u64,
    rtt_ms: u64,
}

struct Scenario {
    name: &'static str,
    stages: &'static [Stage],
    loss: Loss,
    until_s: u64,
    /// Rounds of 60 ms per line of the table.
    every: u64,
}

const fn stage(from_s: u64, mbps: u64, rtt_ms: u64) -> Stage {
    Stage { from_s, mbps, rtt_ms }
}

/// 50 Mbit/s, 60 ms where nothing else is said; the queue holds 263 packets, a BDP.
const SCENARIOS: [Scenario; 6] = [
    Scenario {
        name: "steady",
        stages: &[stage(0, 50, 60)],
        loss: Loss::None,
        until_s: 12,
        every: 10,
    },
    Scenario {
        name: "step up, 20 to 50 Mbit/s at 4 s",
        stages: &[stage(0, 20, 60), stage(4, 50, 60)],
        loss: Loss::None,
        until_s: 12,
        every: 10,
    },
    Scenario {
        name: "step down, 50 to 20 Mbit/s at 4 s",
        stages: &[stage(0, 50, 60), stage(4, 20, 60)],
        loss: Loss::None,
        until_s: 12,
        every: 10,
    },
    Scenario {
        name: "RTT of 60, 80, 50, 70 ms for 15 s each",
        stages: &[stage(0, 50, 60), stage(15, 50, 80), stage(30, 50, 50), stage(45, 50, 70)],
        loss: Loss::None,
        until_s: 60,
        every: 20,
    },
    Scenario {
        name: "2 % random loss",
        stages: &[stage(0, 50, 60)],
        loss: Loss::Random(0.02),
        until_s: 12,
        every: 10,
    },
    Scenario {
        name: "nothing passes from 4 to 5 s",
        stages: &[stage(0, 50, 60)],
        loss: Loss::Outage(Instant::from_millis(4_000), Instant::from_millis(5_000)),
        until_s: 12,
        every: 10,
    },
];

/// What is used of the path after the first second, and a line per `every` rounds: window, flight
/// and queue in packets, pacing in Mbit/s, losses so far, phase.
///
/// What waits when the path slows down still leaves at the old rate, hence more than 100 %.
fn table(algorithm: Algorithm, scenario: &Scenario) -> String {
    let first = scenario.stages[0];
    let path = Path {
        rate: Bitrate::from_bps(first.mbps * 1_000_000),
        rtt: Duration::from_millis(first.rtt_ms),
        queue_packets: 263,
        loss: scenario.loss,
        seed: 1,
    };
    let mut model = Model::new(algorithm.build(config()), config(), path);
    let (mut rows, mut possible, mut before) = (String::new(), 0, 0);
    for round in 1..=scenario.until_s * 1000 / 60 {
        let time_s = round * 60 / 1000;
        let stage = scenario.stages.iter().rev().find(|stage| stage.from_s <= time_s);
        let stage = stage.copied().unwrap_or(first);
        let rate = Bitrate::from_bps(stage.mbps * 1_000_000);
        model.change(rate, Duration::from_millis(stage.rtt_ms));
        while model.now < Instant::from_millis(60 * round) {
            model.step();
        }
        if time_s < 1 {
            before = model.delivered_bytes;
        } else {
            possible += rate.bytes_in(Duration::from_millis(60));
        }
        if round % scenario.every == 0 {
            rows += &row(&model, round);
        }
    }
    let share = (model.delivered_bytes - before) as f64 / possible as f64;
    format!("== {}: {:.1} %\n{rows}\n", scenario.name, 100.0 * share)
}

fn row(model: &Model, round: u64) -> String {
    let controller = &model.controller;
    let pacing = controller.pacing_rate().map_or(0, |rate| rate.as_bps() / 1_000_000);
    let flight = model.in_flight_bytes / super::MSS;
    let (window, queue) = (model.window_packets(), model.queued_packets());
    let (lost, phase) = (model.lost_packets, controller.phase().name());
    format!("{round:5} {window:6} {flight:6} {queue:5} {pacing:6} {lost:6}  {phase}\n")
}

fn tables(algorithm: Algorithm) -> String {
    let mut text = String::new();
    writeln!(text, "round window flight queue pacing   lost  phase").expect("a String takes all");
    for scenario in &SCENARIOS {
        text += &table(algorithm, scenario);
    }
    text
}

macro_rules! snapshots {
    ($($test:ident: $algorithm:ident),* $(,)?) => {$(
        #[test]
        fn $test() {
            insta::assert_snapshot!(tables(Algorithm::$algorithm));
        }
    )*

        #[test]
        fn every_algorithm_has_a_snapshot() {
            assert_eq!(Algorithm::ALL, [$(Algorithm::$algorithm),*]);
        }
    };
}

snapshots! {
    newreno: NewReno,
    cubic: Cubic,
    bbr: Bbr,
    bbr2: Bbr2,
    bbr3: Bbr3,
    boundary: Boundary,
    leocc: LeoCc,
    headroom: Headroom,
    cubic_linux: CubicLinux,
    cubic_picoquic: CubicPicoquic,
    fast: Fast,
    hybla: Hybla,
    lia: Lia,
    olia: Olia,
    balia: Balia,
    wvegas: WVegas,
}
