//! Multipath QUIC as a transport of the simulator: the endpoint itself is tested in `mpquic`.

use super::world::*;
use crate::{Outcome, PathTotals, SimError, simulate};
use congestion::Algorithm as Congestion;
use link::{Direction, InFlight, OutageConfig, PathConfig, UpWindow};
use mpquic::Reinject;
use proptest::prelude::*;
use scheduler::Algorithm as Scheduling;

fn two_paths() -> Vec<PathConfig> {
    vec![path("sat", 50.0, 60.0), path("terr", 20.0, 40.0)]
}

fn present(mut path: PathConfig, windows: &[(f64, Option<f64>)]) -> PathConfig {
    let window = |&(start_s, end_s)| UpWindow { start_s, end_s };
    path.present = windows.iter().map(window).collect();
    path
}

fn completion(outcome: &Outcome) -> f64 {
    outcome.totals.connections[0].completion_s.expect("a complete transfer")
}

fn path_totals(outcome: &Outcome, name: &str) -> PathTotals {
    outcome.totals.connections[0].paths[name]
}

/// TLS draws new keys in every run; no time and no size depends on them.
#[test]
fn the_same_seed_gives_the_same_record_whatever_the_keys() {
    let lossy = |seed| {
        let paths = vec![with_loss(path("a", 20.0, 50.0), 0.01), path("b", 7.0, 130.0)];
        let one = quic(Scheduling::MinRtt, Congestion::Bbr, seconds(5.0));
        let mut config = config(paths, vec![one]);
        config.seed = seed;
        let outcome = run_config(&config);
        format!("{:?}{:?}{:?}", outcome.samples, outcome.events, outcome.totals)
    };
    assert_eq!(lossy(7), lossy(7));
    assert_ne!(lossy(7), lossy(8));
}

#[test]
fn two_paths_carry_nearly_what_both_could_in_either_direction() {
    for direction in [Direction::Down, Direction::Up] {
        let mut one = quic(Scheduling::MinRtt, Congestion::Cubic, megabytes(40));
        bulk(&mut one).direction = direction;
        let outcome = run(two_paths(), vec![one]);
        let rate = goodput(&outcome);
        assert!((0.85 * 70.0..70.0).contains(&rate), "{direction:?}: {rate}");
        let unique: u64 =
            ["sat", "terr"].map(|name| path_totals(&outcome, name).unique_bytes).iter().sum();
        assert_eq!(unique, 40_000_000);
        assert_eq!(outcome.totals.connections[0].delivered_bytes, 40_000_000);
    }
}

/// The path of an interface that leaves is abandoned (PATH_ABANDON); when it is back it gets a new
/// path.
#[test]
fn an_interface_that_leaves_and_returns_is_abandoned_and_added_again() {
    let mut paths = two_paths();
    paths[0] = present(path("sat", 50.0, 60.0), &[(0.0, Some(2.0)), (4.0, None)]);
    let outcome = run(paths, vec![quic(Scheduling::MinRtt, Congestion::Cubic, seconds(8.0))]);
    let (established, closed) = (times(&outcome, "established", 0), times(&outcome, "closed", 0));
    assert_eq!(closed.len(), 1, "{closed:?}");
    assert!((2.0..2.1).contains(&closed[0]), "{closed:?}");
    assert!(established.len() == 2 && (4.0..4.2).contains(&established[1]), "{established:?}");
    let alone = goodput_between(&outcome, 0, 2.5, 4.0);
    assert!((15.0..20.0).contains(&alone), "{alone}");
    assert!(goodput_between(&outcome, 0, 6.0, 8.0) > 55.0);
}

/// The only interface changes its network (windows that touch): the new path takes over, and the old
/// one, which was the last, is kept until then.
#[test]
fn a_handover_of_the_only_interface_keeps_the_connection() {
    let only =
        present(path("cell", 20.0, 50.0), &[(0.0, Some(1.5)), (1.5, Some(3.0)), (3.2, Some(90.0))]);
    let outcome = run(vec![only], vec![quic(Scheduling::MinRtt, Congestion::Cubic, megabytes(10))]);
    assert!(completion(&outcome) < 6.5, "{}", completion(&outcome));
    assert!(outcome.totals.simulated_s < 7.0, "what comes later concerns nobody");
    assert!(outcome.totals.connections[0].longest_stall_s.unwrap() < 1.0);
}

/// Two interfaces come at once and the packets of the faster one, which is named last, come first.
#[test]
fn paths_that_are_added_together_arrive_in_any_order() {
    let slow = present(path("slow", 4.0, 80.0), &[(1.0, None)]);
    let fast = present(path("fast", 20.0, 20.0), &[(1.0, None)]);
    let one = quic(Scheduling::MinRtt, Congestion::Cubic, seconds(4.0));
    let outcome = run(vec![path("first", 4.0, 40.0), slow, fast], vec![one]);
    let (slow, fast) = (times(&outcome, "established", 1), times(&outcome, "established", 2));
    assert!(fast[0] < slow[0] && slow[0] < 1.3, "{fast:?} {slow:?}");
    assert!(path_totals(&outcome, "slow").unique_bytes > 700_000);
}

/// An interface that goes and comes back in the same moment has another network: a new path takes
/// over, and congestion control begins anew.
#[test]
fn an_interface_in_another_network_gets_a_new_path() {
    let moves = present(path("moves", 4.0, 40.0), &[(0.0, Some(2.0)), (2.0, None)]);
    let other = present(path("other", 8.0, 40.0), &[(2.0, None)]);
    let one = quic(Scheduling::MinRtt, Congestion::Cubic, seconds(5.0));
    let outcome = run(vec![moves, other], vec![one]);
    assert_eq!(times(&outcome, "closed", 0).len(), 1);
    let established = times(&outcome, "established", 0);
    assert!((2.0..2.2).contains(&established[1]), "{established:?}");
    assert!(goodput_between(&outcome, 0, 3.0, 5.0) > 0.85 * 12.0);
}

/// A link without capacity holds its packets. They come when it is back: their RTT is that of the
/// silence, not of the path, and nothing was lost.
#[test]
fn a_path_that_held_its_packets_is_used_again_at_once() {
    let mut held = path("held", 20.0, 40.0);
    for link in [&mut held.down, &mut held.up] {
        link.outages.push(OutageConfig { start_s: 2.0, end_s: 4.0, in_flight: InFlight::Hold });
    }
    let one = quic(Scheduling::MinRtt, Congestion::Cubic, seconds(6.0));
    let outcome = run(vec![path("steady", 4.0, 40.0), held], vec![one]);
    assert_eq!(times(&outcome, "failed", 1).len(), 1);
    let revived = times(&outcome, "revived", 1);
    assert!(revived.len() == 1 && (4.0..4.1).contains(&revived[0]), "{revived:?}");
    assert!(goodput_between(&outcome, 0, 2.6, 4.0) > 0.85 * 4.0);
    assert!(goodput_between(&outcome, 0, 4.4, 6.0) > 0.85 * 24.0);
}

/// Make before break: each second path is there before the first one goes.
#[test]
fn paths_replace_each_other() {
    let first = present(path("a", 10.0, 40.0), &[(0.0, Some(2.0))]);
    let second = present(path("b", 10.0, 40.0), &[(1.5, Some(4.0))]);
    let third = present(path("c", 10.0, 40.0), &[(3.5, None)]);
    let one = quic(Scheduling::RoundRobin, Congestion::NewReno, seconds(6.0));
    let outcome = run(vec![first, second, third], vec![one]);
    assert_eq!(times(&outcome, "closed", 0).len(), 1);
    assert_eq!(times(&outcome, "closed", 1).len(), 1);
    assert!(goodput_between(&outcome, 0, 2.5, 3.5) > 8.0);
    assert!(goodput_between(&outcome, 0, 4.5, 6.0) > 8.0);
}

/// A connection opens when its first interface is there.
#[test]
fn a_client_without_an_interface_waits_for_one() {
    let late = present(path("late", 20.0, 40.0), &[(1.0, None)]);
    let one = quic(Scheduling::MinRtt, Congestion::Cubic, megabytes(1));
    let outcome = run(vec![late], vec![one]);
    assert!((1.4..2.5).contains(&completion(&outcome)), "{}", completion(&outcome));
}

/// A backup path carries no data while the other one is usable, and all of it when that one is dark
/// or away, in either direction and whichever path the connection begins on.
#[test]
fn a_backup_path_carries_data_only_while_the_other_one_does_not() {
    for direction in [Direction::Down, Direction::Up] {
        for backup in [0, 1] {
            let active = 1 - backup;
            let mut paths = two_paths();
            paths[backup].backup = true;
            let gap = with_gap(paths[active].clone(), 3.0, 5.0);
            paths[active] = present(gap, &[(0.0, Some(7.0)), (9.0, None)]);
            let mut one = quic(Scheduling::MinRtt, Congestion::Cubic, seconds(11.0));
            bulk(&mut one).direction = direction;
            let outcome = run(paths, vec![one]);
            let carried = |from_s, to_s| carried_bytes(&outcome, backup, from_s, to_s);
            // Challenges and probes, and data of the first round trips when the backup comes first.
            const IDLE: u64 = 10_000;
            let first = if backup == 0 { 700_000 } else { IDLE };
            assert!(carried(0.0, 3.0) <= first, "{direction:?} {backup}: {}", carried(0.0, 3.0));
            assert!(carried(6.0, 7.0) <= IDLE, "{direction:?} {backup}: {}", carried(6.0, 7.0));
            assert!(carried(3.5, 5.0) > 2_000_000, "{direction:?} {backup}: {}", carried(3.5, 5.0));
            assert!(carried(7.5, 9.0) > 2_000_000, "{direction:?} {backup}: {}", carried(7.5, 9.0));
            assert!(carried(10.0, 11.0) <= IDLE, "{direction:?} {backup}: {}", carried(10.0, 11.0));
        }
    }
}

/// Bytes that a path delivered between two samples.
fn carried_bytes(outcome: &Outcome, path: usize, from_s: f64, to_s: f64) -> u64 {
    let delivered = |time_s: f64| {
        let mut rows = outcome.samples.iter().filter(|row| row.path == Some(path));
        rows.find(|row| (row.time_s - time_s).abs() < 0.01).map_or(0, |row| row.delivered_bytes)
    };
    delivered(to_s) - delivered(from_s)
}

/// What is known ahead goes to the sending end, for paths that come later as well.
#[test]
fn a_forecast_spares_the_losses_of_an_outage() {
    let lost = |forecast: bool| {
        let mut gap = with_gap(path("sat", 50.0, 60.0), 3.0, 4.0);
        if forecast {
            gap = with_forecast(gap, 0.0);
        }
        let one = quic(Scheduling::Alcs, Congestion::Cubic, seconds(6.0));
        let outcome = run(vec![path("terr", 20.0, 40.0), gap], vec![one]);
        outcome.totals.links["sat.down"].dropped_outage
    };
    assert!(lost(false) > 50, "{}", lost(false));
    assert_eq!(lost(true), 0);
}

/// Five seconds of darkness on one of two paths.
#[test]
fn a_blackout_stalls_the_application_for_less_than_a_second() {
    let stall = |reinjection| {
        let mut one = quic(Scheduling::MinRtt, Congestion::Cubic, seconds(12.0));
        one.quic.reinjection = reinjection;
        let outcome = run(
            vec![with_gap(path("sat", 50.0, 60.0), 3.0, 8.0), path("terr", 20.0, 40.0)],
            vec![one],
        );
        outcome.totals.connections[0].longest_stall_s.unwrap()
    };
    assert!(stall(Reinject::All) < 0.6, "{}", stall(Reinject::All));
    assert!(stall(Reinject::None) > stall(Reinject::All), "{}", stall(Reinject::None));
}

#[test]
fn a_datagram_that_quic_cannot_send_is_refused() {
    let mut one = quic(Scheduling::MinRtt, Congestion::Cubic, megabytes(1));
    one.quic.datagram_bytes = 1199;
    let refused = simulate(&config(two_paths(), vec![one])).unwrap_err();
    assert!(matches!(refused, SimError::Datagram { connection: 0, bytes: 1199 }), "{refused}");
}

proptest! {
    #![proptest_config(cases::at_least(24))]

    /// Paths come, go and fall silent as they like; one is always there: all arrives, and counts add up.
    #[test]
    fn everything_arrives_over_paths_that_come_and_go(
        windows in prop::collection::vec((0.0..6.0f64, 0.2..4.0f64), 1..4),
        gap in (0.5..5.0f64, 0.1..3.0f64),
        scheduler in 0..3usize,
        seed in 1..1000u64,
    ) {
        let mut at = 0.0;
        let mut stays = Vec::new();
        for (away, stay) in windows {
            stays.push((at + away, Some(at + away + stay)));
            at += away + stay;
        }
        let paths = vec![
            with_loss(path("steady", 8.0, 50.0), 0.002),
            present(with_gap(path("moody", 20.0, 80.0), gap.0, gap.0 + gap.1), &stays),
        ];
        let scheduler = [Scheduling::MinRtt, Scheduling::RoundRobin, Scheduling::Blest][scheduler];
        let one = quic(scheduler, Congestion::Cubic, megabytes(8));
        let mut config = config(paths, vec![one]);
        config.seed = seed;
        let outcome = run_config(&config);
        let all = &outcome.totals.connections[0];
        prop_assert_eq!(all.delivered_bytes, 8_000_000);
        prop_assert!(all.completion_s.unwrap() < 20.0, "{:?}", all.completion_s);
        let unique: u64 = all.paths.values().map(|path| path.unique_bytes).sum();
        prop_assert_eq!(unique, 8_000_000);
    }
}
