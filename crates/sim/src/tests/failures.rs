//! Paths that fall silent, go away and come back: what each mode does about it.

use super::world::*;
use crate::{OwnScheduler, RunConfig, simulate, simulate_with};
use congestion::Algorithm as Congestion;
use link::{PathConfig, UpWindow};
use mptcp::Mode;
use proptest::prelude::*;
use scheduler::{Algorithm as Scheduling, Choice, ConnectionView, Decision, Scheduler};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

fn satellite_and_terrestrial(gap_s: f64) -> Vec<PathConfig> {
    let sat = path("sat", 50.0, 60.0);
    let terr = path("terr", 100.0, 108.0);
    if gap_s > 0.0 { vec![with_gap(sat, 10.0, 10.0 + gap_s), terr] } else { vec![sat, terr] }
}

/// docs/model.md §5.6: one gap of 1 s in v0.96 with CUBIC. The subflow times out about 260 to
/// 400 ms after the last ACK, everything is reinjected on the other path, the satellite is heard of
/// only when a backed-off retransmission comes after the gap, and it starts over from one packet.
#[test]
fn a_gap_in_v096_costs_a_timeout_reinjection_and_a_slow_return() {
    let one = connection(Mode::V096, Congestion::Cubic, seconds(20.0));
    let outcome = run(satellite_and_terrestrial(1.0), vec![one]);
    let timeouts = times(&outcome, "timeout", 0);
    assert!((10.2..10.6).contains(&timeouts[0]), "{timeouts:?}");
    let spacing = (timeouts[1] - timeouts[0]) / (timeouts[0] - 10.0);
    assert!((1.5..2.5).contains(&spacing), "{timeouts:?}: doubled");
    assert_eq!(times(&outcome, "failed", 0).len(), 1);
    assert_eq!(times(&outcome, "reinjected", 0).len(), 1);
    let revived = times(&outcome, "revived", 0);
    assert!(revived.len() == 1 && (11.0..13.5).contains(&revived[0]), "{revived:?}");
    let during = goodput_between(&outcome, 0, 10.6, 11.0);
    assert!(during > 60.0, "the terrestrial path carries on: {during}");
    let after = goodput_between(&outcome, 0, 17.0, 20.0);
    assert!(after > 0.9 * 150.0 * 1428.0 / 1500.0, "{after}");
}

/// docs/model.md §7: upstream, a gap of 0.5 s makes nothing stale, one of 5 s does, once, and
/// the whole queue is reinjected.
#[test]
fn upstream_calls_a_path_stale_after_a_long_gap_only() {
    let stale = |gap_s| {
        let one = connection(Mode::Upstream, Congestion::Cubic, seconds(30.0));
        let outcome = run(satellite_and_terrestrial(gap_s), vec![one]);
        (times(&outcome, "failed", 0).len(), times(&outcome, "reinjected", 0).len())
    };
    assert_eq!(stale(0.5), (0, 0));
    assert_eq!(stale(5.0), (1, 1));
}

/// The peer learns at once that an interface left and came back: no timeout is needed to move on,
/// and the path joins again.
#[test]
fn an_interface_that_leaves_and_returns_is_closed_and_joined_again() {
    for mode in [Mode::V096, Mode::Upstream] {
        let mut paths = satellite_and_terrestrial(0.0);
        paths[0].present = vec![
            UpWindow { start_s: 0.0, end_s: Some(5.0) },
            UpWindow { start_s: 8.0, end_s: None },
        ];
        let outcome = run(paths, vec![connection(mode, Congestion::Cubic, seconds(20.0))]);
        assert_eq!(times(&outcome, "closed", 0).len(), 1, "{mode:?}");
        let joined = times(&outcome, "established", 0);
        assert!(joined.len() == 2 && (8.0..8.4).contains(&joined[1]), "{mode:?}: {joined:?}");
        let alone = goodput_between(&outcome, 0, 6.0, 8.0);
        assert!((80.0..100.0).contains(&alone), "{mode:?}: {alone}");
        let both = goodput_between(&outcome, 0, 15.0, 20.0);
        assert!(both > 125.0, "{mode:?}: {both}");
    }
}

/// Upstream's subflows join short pieces of the stream, so that a DATA_ACK may end within one whose
/// rest was queued for reinjection when the other path went: the rest must stay queued.
#[test]
fn whenever_an_interface_leaves_the_stream_goes_on() {
    for tenth in 2..20 {
        let mut leaves = path("leaves", 10.0, 40.0);
        let end_s = Some(f64::from(tenth) / 10.0);
        leaves.present = vec![UpWindow { start_s: 0.0, end_s }];
        let one = connection(Mode::Upstream, Congestion::Cubic, seconds(6.0));
        let outcome = run(vec![path("stays", 10.0, 40.0), leaves], vec![one]);
        let stall_s = outcome.totals.connections[0].longest_stall_s.unwrap();
        assert!(stall_s < 1.0, "{end_s:?}: {stall_s}");
    }
}

/// Handshakes (docs/model.md §2.3): server sends; the first path after 1.5 RTT, the second after
/// about 2 RTT of the first and 1.5 of its own.
#[test]
fn a_second_path_joins_after_the_published_delay() {
    let paths = vec![path("sat", 50.0, 60.0), path("terr", 100.0, 108.0)];
    let outcome = run(paths, vec![connection(Mode::V096, Congestion::Cubic, seconds(2.0))]);
    let first = times(&outcome, "established", 0)[0];
    let second = times(&outcome, "established", 1)[0];
    assert!((first - 0.090).abs() < 0.002, "{first}");
    assert!((second - (0.120 + 0.162)).abs() < 0.005, "{second}");
    let mut up = connection(Mode::V096, Congestion::Cubic, seconds(2.0));
    bulk(&mut up).direction = link::Direction::Up;
    let outcome = run(vec![path("sat", 50.0, 60.0), path("terr", 100.0, 108.0)], vec![up]);
    let second = times(&outcome, "established", 1)[0];
    assert!((second - (0.120 + 0.216)).abs() < 0.005, "{second}");
}

#[test]
fn a_backup_path_carries_data_only_while_the_other_is_away() {
    for mode in [Mode::V096, Mode::Upstream] {
        let mut paths = satellite_and_terrestrial(0.0);
        paths[1].backup = true;
        paths[0].present = vec![UpWindow { start_s: 0.0, end_s: Some(5.0) }];
        let outcome = run(paths, vec![connection(mode, Congestion::Cubic, seconds(10.0))]);
        let delivered = |time_s: f64| {
            let mut rows = outcome.samples.iter().filter(|row| row.path == Some(1));
            rows.find(|row| (row.time_s - time_s).abs() < 0.01).unwrap().delivered_bytes
        };
        assert_eq!(delivered(4.9), 0, "{mode:?}");
        assert!(delivered(9.9) > 20_000_000, "{mode:?}");
    }
}

/// A link that stands still for 3 s and loses nothing: the timeout was spurious, and it is undone
/// once. What the network still held is not taken for lost again (RFC 8985 §6.2 step 2).
#[test]
fn a_pause_without_loss_is_undone_once_and_retransmits_next_to_nothing() {
    // FAST takes the delay of the pause for congestion, wVegas does not fill the link to begin with.
    let others = |one: &Congestion| !matches!(one, Congestion::Fast | Congestion::WVegas);
    for congestion in Congestion::ALL.into_iter().filter(others) {
        let mut paused = path("a", 20.0, 50.0);
        paused.down.queue = link::QueueConfig::Infinite;
        paused.down.capacity = link::CapacityConfig::Steps {
            times_s: vec![0.0, 3.0, 6.0],
            mbps: vec![20.0, 0.0, 20.0],
            repeat_s: None,
        };
        let outcome = run(vec![paused], vec![connection(Mode::Tcp, congestion, seconds(14.0))]);
        assert_eq!(times(&outcome, "undone", 0).len(), 1, "{congestion:?}");
        let again = outcome.totals.connections[0].paths["a"].retransmitted_packets;
        assert!(again < 20, "{congestion:?}: {again}");
        let share = goodput_between(&outcome, 0, 8.0, 14.0) / (20.0 * 1448.0 / 1500.0);
        assert!(share > 0.9, "{congestion:?}: {share}");
    }
}

/// A scheduler that always waits: the connection must not stall.
#[derive(Debug)]
struct Procrastinator;

impl Scheduler for Procrastinator {
    fn select(&mut self, _: &ConnectionView<'_>) -> Decision {
        Decision::Wait(None)
    }
}

fn lazy() -> OwnScheduler {
    OwnScheduler { name: "lazy".into(), scheduler: Box::new(Procrastinator) }
}

#[test]
fn a_scheduler_that_only_waits_cannot_deadlock_a_transfer() {
    let mut one = connection(Mode::V096, Congestion::Cubic, megabytes(1));
    bulk(&mut one).bytes = Some(50_000);
    let config = config(satellite_and_terrestrial(0.0), vec![one]);
    let outcome =
        simulate_with(&config, BTreeMap::from([(0, lazy())]), &AtomicBool::new(false)).unwrap();
    assert!(outcome.totals.connections[0].completion_s.is_some());
    assert_eq!(outcome.totals.connections[0].scheduler, "lazy");
}

/// What such a scheduler leaves to the rule against deadlocks keeps off a backup path, however fast.
#[test]
fn the_rule_against_deadlocks_spares_a_backup_path() {
    for mode in [Mode::V096, Mode::Upstream] {
        let mut paths = vec![path("active", 20.0, 60.0), path("backup", 20.0, 20.0)];
        paths[1].backup = true;
        let mut one = connection(mode, Congestion::Cubic, megabytes(1));
        bulk(&mut one).bytes = Some(100_000);
        let schedulers = BTreeMap::from([(0, lazy())]);
        let outcome =
            simulate_with(&config(paths, vec![one]), schedulers, &AtomicBool::new(false)).unwrap();
        let totals = &outcome.totals.connections[0];
        assert!(totals.completion_s.is_some(), "{mode:?}");
        assert_eq!(totals.paths["backup"].unique_bytes, 0, "{mode:?}");
    }
}

/// The fourth ACK of a join is lost: the third one is repeated, and has to be answered again.
#[test]
fn a_lost_fourth_ack_does_not_keep_a_path_out() {
    let mut joined = path("b", 5.0, 100.0);
    joined.down.outages.push(link::OutageConfig {
        start_s: 0.2,
        end_s: 0.5,
        in_flight: link::InFlight::Drop,
    });
    let mut one = connection(Mode::V096, Congestion::Cubic, seconds(10.0));
    bulk(&mut one).direction = link::Direction::Up;
    let outcome = run(vec![path("a", 5.0, 20.0), joined], vec![one]);
    assert!(outcome.totals.links["b.down"].dropped_outage > 0, "the fourth ACK");
    assert!(outcome.totals.connections[0].paths["b"].unique_bytes > 1_000_000);
}

/// One path of the fuzz below: steady numbers, then faults.
fn any_path(name: &'static str) -> impl Strategy<Value = PathConfig> {
    let gaps = prop::collection::vec((0.0..20.0_f64, 0.05..6.0_f64), 0..3);
    let absences = prop::option::of((0.0..10.0_f64, 0.1..8.0_f64));
    let forecast = prop::option::of(prop::sample::select(vec![-700.0, 0.0, 0.0, 700.0]));
    (
        1.0..60.0_f64,
        2.0..300.0_f64,
        prop::sample::select(vec![0.0, 0.001, 0.02, 0.1]),
        gaps,
        absences,
        forecast,
    )
        .prop_map(move |(mbps, rtt_ms, loss, gaps, absence, forecast)| {
            let mut path = with_loss(path(name, mbps, rtt_ms), loss);
            let mut free_from = 0.0;
            for (after_s, length_s) in gaps {
                let start_s = free_from + after_s;
                path = with_gap(path, start_s, start_s + length_s);
                free_from = start_s + length_s + 0.001;
            }
            if let Some((start_s, length_s)) = absence {
                path.present = vec![
                    UpWindow { start_s: 0.0, end_s: Some(start_s + 0.001) },
                    UpWindow { start_s: start_s + length_s, end_s: None },
                ];
            }
            if let Some(error_ms) = forecast {
                path = with_forecast(path, error_ms);
            }
            path
        })
}

/// All of them with their defaults, and some with other parameters.
fn every_scheduler() -> Vec<Choice> {
    let others = [
        r#"{"name": "roundrobin", "num_segments": 3}"#,
        r#"{"name": "ecf", "delta": "paper"}"#,
        r#"{"name": "daps", "in_slow_start": false, "queue_windows": 1}"#,
        r#"{"name": "sttf", "queue_windows": 64}"#,
        r#"{"name": "stms", "delta": "paper"}"#,
        r#"{"name": "peekaboo", "flip_max": 1.0}"#,
        r#"{"name": "alcs", "k": "one", "delta": "none", "idle_guard": false}"#,
        r#"{"name": "alcs", "k": "burst", "delta": "mdev", "margin_rtts": 5}"#,
    ];
    let others = others.map(|json| serde_json::from_str(json).expect("a scheduler"));
    Scheduling::ALL.map(Choice::from).into_iter().chain(others).collect()
}

fn any_run() -> impl Strategy<Value = RunConfig> {
    let algorithms = (
        prop::sample::select(vec![Mode::V096, Mode::Upstream]),
        prop::sample::select(Congestion::ALL.to_vec()),
        prop::sample::select(every_scheduler()),
    );
    let buffers = (3_000_u64..3_000_000, 3_000_u64..3_000_000);
    let paths = (any_path("a"), any_path("b"), prop::option::of(any_path("c")));
    (paths, algorithms, buffers, 1_u64..3_000_000, any::<bool>(), 0_u64..1000).prop_map(
        |(paths, (mode, congestion, scheduler), (send, receive), bytes, up, seed)| {
            let mut one = connection(mode, congestion, megabytes(1));
            one.scheduler = scheduler;
            one.send_buffer_bytes = send;
            one.receive_buffer_bytes = receive;
            bulk(&mut one).bytes = Some(bytes);
            if up {
                bulk(&mut one).direction = link::Direction::Up;
            }
            let (a, b, c) = paths;
            let mut config = config([a, b].into_iter().chain(c).collect(), vec![one]);
            config.seed = seed;
            config.stop_after_s = 36_000.0;
            config
        },
    )
}

proptest! {
    #![proptest_config(cases::at_least(300))]

    /// Paths that come and go, lose and reorder: a transfer always finishes, every byte is
    /// delivered exactly once (the receiver counts bytes in order; first arrivals per path must
    /// add up to the transfer, whatever was sent again).
    #[test]
    fn every_byte_arrives_exactly_once_whatever_happens(mut config in any_run()) {
        let bytes = bulk(&mut config.connections[0]).bytes.unwrap();
        let outcome = simulate(&config).unwrap();
        let one = &outcome.totals.connections[0];
        prop_assert_eq!(one.delivered_bytes, bytes);
        prop_assert!(one.completion_s.is_some());
        let unique: u64 = one.paths.values().map(|path| path.unique_bytes).sum();
        prop_assert_eq!(unique, bytes);
        let sent: u64 = one.paths.values().map(|path| path.sent_bytes).sum();
        prop_assert!(sent >= bytes);
        prop_assert!(one.reorder_buffer_max_bytes <= config.connections[0].receive_buffer_bytes);
    }
}
