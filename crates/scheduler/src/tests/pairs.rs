//! Vectors of the schedulers that weigh a fast path against a slow one, and of those that repeat or
//! stand by.

use super::*;
use crate::linucb::Arm;
use crate::stms::Stms;
use crate::sttf::transfer_time;
use crate::{PathSet, PathView};

/// RTT of the slow path and segments to send, the parameters, and what ECF says: docs/model.md
/// §3.4, w = (20, 40), RTT of the fast path 60 ms.
#[test]
fn ecf_vectors() {
    let wait = Decision::Wait(None);
    for (srtt_s_ms, k, delta, expected) in [
        (108, 30, "paper", send(1)),
        (108, 5, "paper", send(1)),
        (200, 5, "paper", wait),
        (108, 5, "kernel", send(1)),
        (200, 5, "kernel", send(1)),
        // §3.4: x_s = max(S, w_s): 9600 >= 40 * (120 + 100) needs k = 48, then inequality 1 must
        // still hold: 60 * (48 + 20) < 20 * 300.
        (200, 48, "kernel", wait),
    ] {
        let mut paths = [path(0, 60, 20, 20), path(1, srtt_s_ms, 40, 10)];
        paths[0].mdev = Duration::from_millis(8);
        paths[1].mdev = Duration::from_millis(16);
        let mut view = view(&paths, 1 << 30);
        view.unsent_bytes = k * MSS;
        let mut ecf = build(Algorithm::Ecf, &[("delta", word(delta))]);
        assert_eq!(ecf.select(&view), expected, "{srtt_s_ms} ms, k = {k}, {delta}");
    }
}

/// §3.4: once waiting, inequality 1 has a quarter of slack; the flag stays when inequality 2 fails,
/// and falls when inequality 1 does.
#[test]
fn ecf_hysteresis_outlives_a_failed_second_inequality() {
    let mut ecf = build(Algorithm::Ecf, &[("delta", word("paper"))]);
    let mut ask = |srtt_s_ms: u64, k: u64| {
        let mut paths = [path(0, 60, 20, 20), path(1, srtt_s_ms, 40, 10)];
        paths[1].mdev = Duration::from_millis(16);
        let mut view = view(&paths, 1 << 30);
        view.unsent_bytes = k * MSS;
        ecf.select(&view)
    };
    // k = 55: 60 * 75 = 4500 against 20 * 216 = 4320, and 5400 with slack; 200 * 55 >= 40 * 136.
    assert_eq!(ask(200, 55), send(1), "not waiting yet");
    assert_eq!(ask(200, 5), Decision::Wait(None));
    assert_eq!(ask(200, 55), Decision::Wait(None), "waiting: a quarter of slack");
    assert_eq!(ask(110, 5), send(1), "inequality 1 holds, 2 fails: 4400 < 5440");
    assert_eq!(ask(200, 55), Decision::Wait(None), "still waiting");
    assert_eq!(ask(200, 500), send(1), "inequality 1 fails");
    assert_eq!(ask(200, 55), send(1), "no longer waiting");
}

/// §3.7: (q, if, w, ss, rtt) and the transfer time in ms; q counts the segment being scheduled.
#[test]
fn sttf_reference_results() {
    for (q, in_flight, cwnd, ssthresh, rtt_ms, expected_ms) in [
        (1, 5, 10, u64::MAX, 60, 30),
        (1, 10, 10, u64::MAX, 60, 90),
        (25, 10, 10, u64::MAX, 60, 150),
        (1, 40, 40, 20, 108, 162),
        (1, 39, 40, 20, 108, 54),
    ] {
        let mut path = path(0, rtt_ms, cwnd, in_flight);
        path.ssthresh_packets = ssthresh;
        path.queued_packets = q - 1;
        let expected = Duration::from_millis(expected_ms);
        assert_eq!(transfer_time(&path), expected, "{q} {in_flight} {cwnd} {rtt_ms}");
    }
}

/// §3.11: 90 ms behind the full fast path against 54 on the slow one; with a slow path of 200 ms the
/// segment queues, up to the limit of the queue.
#[test]
fn sttf_queues_on_a_full_path_when_that_is_sooner() {
    let mut sttf = Algorithm::Sttf.build();
    let mut paths = [path(0, 60, 20, 20), path(1, 200, 40, 10)];
    assert_eq!(sttf.select(&view(&paths, 1 << 30)), send(0));
    paths[0].queued_packets = 39; // q = 40 of w = 40 in the second round: still 90 ms
    assert_eq!(sttf.select(&view(&paths, 1 << 30)), send(0));
    paths[0].queued_packets = 40; // 150 ms
    assert_eq!(sttf.select(&view(&paths, 1 << 30)), send(1));
    paths[1].latest_rtt = Duration::from_millis(500);
    assert_eq!(sttf.select(&view(&paths, 1 << 30)), Decision::Wait(None), "two windows queued");
}

/// §3.5: the paths take turns, each at its own place in the stream.
#[test]
fn redundant_lets_each_path_walk_the_stream() {
    let mut redundant = Algorithm::Redundant.build();
    let mut paths = [path(0, 60, 20, 5), path(1, 108, 40, 10), path(2, 80, 9, 9)];
    assert_eq!(redundant.select(&view(&paths, 1 << 30)), send(0));
    paths[1].repeat_bytes = MSS;
    assert_eq!(redundant.select(&view(&paths, 1 << 30)), Decision::Repeat(PathId(1)));
    assert_eq!(redundant.select(&view(&paths, 1 << 30)), send(0), "path 2 is full");
    let mut nothing_new = view(&paths, 1 << 30);
    nothing_new.segment_bytes = 0;
    assert_eq!(redundant.select(&nothing_new), Decision::Repeat(PathId(1)));
    assert_eq!(redundant.select(&nothing_new), Decision::Repeat(PathId(1)));
    let mut closed = view(&paths, 1 << 30);
    closed.window_left_bytes = 0;
    assert_eq!(redundant.select(&closed), Decision::Repeat(PathId(1)), "the window is closed");
}

#[test]
fn standby_paths_serve_in_their_order() {
    let mut backup = Algorithm::Backup.build();
    let mut paths = [path(0, 600, 20, 5), path(1, 108, 40, 10), path(2, 80, 9, 2)];
    assert_eq!(backup.select(&view(&paths, 1 << 30)), send(0), "whatever its RTT");
    paths[0].tried = true;
    let mut again = view(&paths, 1 << 30);
    again.reinjection = true;
    assert_eq!(backup.select(&again), send(1));
    paths[0].usable = false;
    assert_eq!(backup.select(&view(&paths, 1 << 30)), send(1));
    paths[1].usable = false;
    assert_eq!(backup.select(&view(&paths, 1 << 30)), send(2));
}

fn stms() -> Stms {
    Stms::new(&Algorithm::Stms.info().resolve(&Default::default()).unwrap())
}

/// §3.8: (108 - 60) / 2 ms at 20 segments in 60 ms are 8 segments.
#[test]
fn stms_leaves_a_gap_for_the_fast_path() {
    let mut stms = stms();
    let paths = [path(0, 60, 20, 20), path(1, 108, 40, 10)];
    let ahead = Decision::Ahead { path: PathId(1), gap: Gap::Stream(8 * MSS) };
    assert_eq!(stms.select(&view(&paths, 1 << 30)), ahead);
    let with_room = [path(0, 60, 20, 19), path(1, 108, 40, 10)];
    assert_eq!(stms.select(&view(&with_room, 1 << 30)), send(0), "the lowest is the fast path's");
    let mut tail = view(&paths, 1 << 30);
    tail.unsent_bytes = 8 * MSS;
    assert_eq!(stms.select(&tail), send(1), "less than the gap is left: the rule of ECF");
    let small = view(&paths, 43 * MSS);
    let clamped = Decision::Ahead { path: PathId(1), gap: Gap::Stream(3 * MSS) };
    assert_eq!(stms.select(&small), clamped, "window minus w_s");
}

/// §3.8, ours: half of the error with the weight of an eighth, in thousandths of segments.
#[test]
fn stms_learns_its_gap_from_early_and_late_arrivals() {
    let mut stms = stms();
    let paths = [path(0, 60, 20, 20), path(1, 108, 40, 10)];
    stms.select(&view(&paths, 1 << 30));
    let slow = PathId(1);
    assert_eq!(stms.gap_milli(slow), Some(8000));
    let mut deliver = |dsn: u64, data_ack: u64| {
        stms.on_delivered(Instant::ZERO, slow, dsn * MSS, data_ack * MSS);
        stms.gap_milli(slow).unwrap()
    };
    assert_eq!(deliver(100, 84), 7000, "16 early: one less");
    assert_eq!(deliver(100, 132), 9000, "32 waited for it: two more");
    assert_eq!(deliver(100, 100), 9000, "in time");
    assert_eq!(deliver(100, 101), 9000, "one behind it: in time");
}

#[test]
fn linucb_solves_the_normal_equations() {
    // Two lessons without forgetting: A = I + e1 e1' + (e1 + e2)(e1 + e2)' = [[3, 1], [1, 2]],
    // b = 1 * e1 + 2 * (e1 + e2) = (3, 2); theta = A^-1 b = (4, 3) / 5.
    let mut arm = Arm::default();
    arm.learn(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0], 1.0, 1.0);
    arm.learn(&[1.0, 1.0, 0.0, 0.0, 0.0, 0.0], 2.0, 1.0);
    let x = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    assert!((arm.score(&x, 0.0) - 0.8).abs() < 1e-12);
    // x' A^-1 x = 2 / 5.
    assert!((arm.score(&x, 1.0) - (0.8 + 0.4_f64.sqrt())).abs() < 1e-12);
}

/// An arm whose choices are followed by fast acknowledgements wins over one that is not.
#[test]
fn peekaboo_learns_to_do_what_is_rewarded() {
    for (rewarded, expected) in [(Decision::Wait(None), 0), (send(1), 1)] {
        let calm = [("flip_max", Given::Number(0.0)), ("open_decisions", Given::Number(1.0))];
        let mut peekaboo = build(Algorithm::Peekaboo, &calm);
        let paths = [path(0, 60, 20, 20), path(1, 108, 40, 10)];
        let mut sent = 0;
        for step in 0..200_u64 {
            let mut view = view(&paths, 1 << 30);
            view.now = Instant::from_millis(step * 400); // 3 * T_r = 360 ms: each lesson is over
            let decision = peekaboo.select(&view);
            let after_ms = if decision == rewarded { 1 } else { 300 };
            let at = view.now + Duration::from_millis(after_ms);
            peekaboo.on_acked(at, PathId(0), 10 * MSS);
            sent += u64::from(step >= 100 && decision == send(1));
        }
        let share = if expected == 1 { sent } else { 100 - sent };
        assert!(share > 80, "{rewarded:?}: {share} %");
    }
}

#[test]
fn a_set_of_paths_lists_the_lowest_first() {
    let set = PathSet::EMPTY.with(PathId(63)).with(PathId(2)).with(PathId(0));
    assert_eq!(set.iter().map(|path| path.0).collect::<Vec<_>>(), [0, 2, 63]);
    let other = PathSet::EMPTY.with(PathId(2)).with(PathId(5));
    assert_eq!(set.common(other), PathSet::EMPTY.with(PathId(2)));
    let full: PathView = path(0, 60, 20, 20);
    assert!(!full.accepts(0) && full.accepts(1));
}
