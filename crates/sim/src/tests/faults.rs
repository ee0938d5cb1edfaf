//! The runs with faults themselves: they finish, digests of slices add up, and a failure is reported.

use super::world::*;
use crate::faults::{FaultRun, Size, Tally, Verdict};
use link::{CapacityConfig, UpWindow};

fn tally(seeds: std::ops::Range<u64>, size: Size) -> Tally {
    let mut tally = Tally::default();
    seeds.for_each(|seed| tally.run(seed, size));
    tally
}

#[test]
fn runs_with_faults_finish() {
    let short = tally(0..1500, Size::Short);
    assert_eq!((short.finished, short.failures), (1500, vec![]));
    let long = tally(0..12, Size::Long);
    assert_eq!((long.finished, long.failures), (12, vec![]));
}

#[test]
fn slices_have_the_digest_of_the_whole_in_any_order() {
    let whole = tally(100..180, Size::Short);
    let mut parts = tally(150..180, Size::Short);
    parts.add(tally(100..150, Size::Short));
    assert_eq!(whole, parts);
    assert_ne!(whole.digest, tally(100..179, Size::Short).digest);
}

/// Every transport, scheduler and congestion control is in the first 624 runs with each other.
#[test]
fn every_combination_takes_its_turn() {
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..624 {
        let run = FaultRun::new(seed, Size::Short);
        let one = &run.config.connections[0];
        let (scheduler, control) = (one.scheduler.algorithm(), one.congestion.algorithm());
        let transport = format!("{:?} {:?}", one.transport, one.mode);
        seen.insert((transport, scheduler.name(), control.name()));
        let bytes: u64 = run.transfer.down_bytes.iter().chain(&run.transfer.up_bytes).sum();
        assert!((1..=200_000).contains(&bytes), "{seed}: {bytes}");
    }
    assert_eq!(seen.len(), 624);
}

#[test]
fn a_run_that_cannot_finish_is_told() {
    for seed in 0..8 {
        let mut run = FaultRun::new(seed, Size::Short);
        for path in &mut run.config.paths {
            path.down.capacity = CapacityConfig::Constant { mbps: 0.0 };
        }
        let (verdict, _) = run.play();
        assert!(matches!(verdict, Verdict::Hung(_)), "{seed}: {verdict:?}");
    }
}

#[test]
fn a_run_that_makes_no_sense_is_told() {
    let mut run = FaultRun::new(0, Size::Short);
    run.config.paths[0].present = vec![UpWindow { start_s: 2.0, end_s: Some(1.0) }];
    let (verdict, _) = run.play();
    assert!(matches!(verdict, Verdict::Broken(_)), "{verdict:?}");
}

/// The same packets reach an endpoint whether they pass through a channel that does nothing or none.
#[test]
fn a_channel_that_does_nothing_changes_nothing() {
    let (mut run, paths) = (FaultRun::new(3, Size::Short), vec![path("a", 20.0, 40.0)]);
    run.channel =
        crate::faults::Channel { late: 0.0, late_ms: 0, twice: 0.0, damaged: 0.0, until_s: 1e6 };
    run.config.paths = paths;
    let (_, through) = run.outcome().unwrap();
    run.channel.until_s = 0.0;
    let (_, around) = run.outcome().unwrap();
    assert_eq!(format!("{:?}", through.totals), format!("{:?}", around.totals));
}

/// Found by these runs: a packet cut right behind the reset token that it announced was taken for a
/// stateless reset, since simulated packets are plain text.
#[test]
fn a_cut_packet_shows_no_reset_token() {
    let (verdict, _) = FaultRun::new(111_207, Size::Short).play();
    assert_eq!(verdict, Verdict::Finished);
}

/// Found by these runs: a path at rest twice had lost packets, a full window, and no timer.
#[test]
fn a_path_that_rests_twice_goes_on_afterwards() {
    let mut path = with_gap(path("a", 17.0, 11.0), 4.5, 9.85);
    let window = |start_s, end_s| forecast::ForecastWindow { start_s, end_s, probability: 1.0 };
    path.forecast = link::PathForecast::Outages(vec![window(3.95, 6.66), window(7.95, 10.12)]);
    let mut one = connection(mptcp::Mode::Tcp, congestion::Algorithm::Cubic, megabytes(20));
    one.scheduler = scheduler::Algorithm::Alcs.into();
    let outcome = run(vec![path], vec![one]);
    assert!(outcome.totals.connections[0].completion_s.is_some());
}

/// Found by these runs: all that the client said of its connection IDs was lost with the path of the
/// handshake, and the server could not answer on the other one.
#[test]
fn a_second_path_comes_up_though_the_first_died_right_after_the_handshake() {
    let outage =
        |start_s: f64| link::OutageConfig { start_s, end_s: 60.0, in_flight: link::InFlight::Drop };
    for dark_from_ms in (40..120).step_by(4) {
        let mut first = path("a", 2.0, 40.0);
        first.up.outages.push(outage(f64::from(dark_from_ms) * 1e-3));
        first.present = vec![UpWindow { start_s: 0.0, end_s: Some(0.5) }];
        let one = quic(
            scheduler::Algorithm::MinRtt,
            congestion::Algorithm::Cubic,
            application::Bulk { bytes: Some(100_000), ..megabytes(1) },
        );
        let outcome = run(vec![first, path("b", 2.0, 60.0)], vec![one]);
        let totals = &outcome.totals.connections[0];
        let confirmed = outcome.events.iter().any(|event| event.event == "established");
        assert_eq!(totals.completion_s.is_some(), confirmed, "dark from {dark_from_ms} ms on");
    }
}

/// Found by these runs: upstream kept a backup path idle while the only other one had been silent for
/// good, because both had been silent once.
#[test]
fn upstream_uses_its_backup_after_both_paths_were_silent() {
    let mut active = with_gap(path("active", 5.0, 20.0), 1.0, 500.0);
    active.present = vec![UpWindow { start_s: 0.0, end_s: None }];
    let mut backup = with_gap(path("backup", 5.0, 40.0), 0.9, 9.0);
    backup.backup = true;
    let one = connection(mptcp::Mode::Upstream, congestion::Algorithm::Cubic, megabytes(1));
    let outcome = run(vec![active, backup], vec![one]);
    let done_s = outcome.totals.connections[0].completion_s;
    assert!(done_s.is_some_and(|at| at < 100.0), "{done_s:?}");
}
