//! The steps of docs/model.md §5.2 one by one, and the consequences computed in §5.4. Its numbers of
//! equations are those of arXiv 2503.07973: 3 and 4 are the transfer times; the others (expected and
//! actual packets, the moves of sigma, its limits) stand there without their numbers.

use super::Alcs;
use super::sigma::{Frozen, Limits, ONE, against_window, moved};
use crate::tests::{MSS, build, path, send, view, word};
use crate::{Algorithm, Decision, PathView, Scheduler};
use forecast::Foreseen;
use parameters::Given;
use units::{Duration, Instant, PathId, Window};

fn alcs(parameters: &[(&str, Given)]) -> Alcs {
    let given = parameters.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
    Alcs::new(&Algorithm::Alcs.info().resolve(&given.collect()).unwrap())
}

fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

/// Equations 3 and 4 with what enters them: (k, i_f, q_f, i_s, delta), and tl_f, tl_s in µs at
/// rtt = (60, 108) ms, w = (20, 40), sigma = 1, mean deviation 2 and 4 ms.
#[test]
fn transfer_times_follow_equations_3_and_4() {
    for (k, i_f, q_f, i_s, delta, tl_f_us, tl_s_us) in [
        (1_u64, 20, 0, 10, "none", 63_000, 29_700), // 21/20 * 60, 11/40 * 108
        (10, 20, 0, 10, "none", 90_000, 54_000),
        (10, 20, 6, 10, "none", 108_000, 54_000), // q_f counts
        (10, 20, 0, 30, "mdev", 93_000, 112_000), // 30/20 * 62, 40/40 * 112
        (10, 20, 0, 30, "kernel", 240_000, 208_000), // + 100 ms each
    ] {
        let mut paths = [path(0, 60, 20, i_f), path(1, 108, 40, i_s)];
        paths[0].queued_packets = q_f;
        paths[0].mdev = Duration::from_millis(2);
        paths[1].mdev = Duration::from_millis(4);
        let mut alcs = alcs(&[("delta", word(delta))]);
        let (tl_f, tl_s) = alcs.transfer_times(k, &paths[0], &paths[1]);
        let scale = 20 * 40 * ONE;
        assert_eq!((tl_f / scale, tl_s / scale), (tl_f_us, tl_s_us), "k = {k}, {delta}");
    }
}

/// sigma multiplies its own path's time.
#[test]
fn transfer_times_scale_with_sigma() {
    let mut alcs = alcs(&[("delta", word("none"))]);
    let paths = [path(0, 60, 20, 20), path(1, 108, 40, 10)];
    alcs.sigma(PathId(0)).micro = 2 * ONE;
    alcs.sigma(PathId(1)).micro = ONE / 2;
    let (tl_f, tl_s) = alcs.transfer_times(10, &paths[0], &paths[1]);
    let scale = 20 * 40 * ONE;
    assert_eq!((tl_f / scale, tl_s / scale), (180_000, 27_000));
}

/// Item 24: (k, i_f, q_f, i_s), and tl_f, tl_s in µs as above with Delta = 0 and whole round trips.
#[test]
fn whole_round_trips_are_rounded_up() {
    for (k, i_f, q_f, i_s, tl_f_us, tl_s_us) in [
        (1_u64, 20, 0, 10, 120_000, 108_000), // 21/20 → 2, 11/40 → 1
        (1, 19, 0, 39, 60_000, 108_000),      // 20/20 and 40/40 are whole as they are
        (1, 19, 1, 40, 120_000, 216_000),     // 21/20 → 2 with q_f, 41/40 → 2
        (100, 20, 0, 10, 360_000, 324_000),   // 120/20 = 6, 110/40 → 3
    ] {
        let mut paths = [path(0, 60, 20, i_f), path(1, 108, 40, i_s)];
        paths[0].queued_packets = q_f;
        let mut alcs = alcs(&[("delta", word("none")), ("rounds", word("whole"))]);
        let (tl_f, tl_s) = alcs.transfer_times(k, &paths[0], &paths[1]);
        let scale = 20 * 40 * ONE;
        assert_eq!((tl_f / scale, tl_s / scale), (tl_f_us, tl_s_us), "k = {k}, {i_f}, {i_s}");
    }
}

/// One segment in whole round trips: a full window of the fast path means two of them, and waiting for
/// it is worth that only where the slow path has more than twice the RTT. In fractions it is worth it
/// as soon as the slow window is half full (`the_slow_window_fills_as_computed`).
#[test]
fn one_segment_in_whole_rounds_waits_for_less_than_half_the_rtt_alone() {
    for (srtt_f, expected) in [(53, Decision::Wait(None)), (54, send(1)), (60, send(1))] {
        for in_flight_s in [0, 10, 39] {
            let paths = [path(0, srtt_f, 20, 20), path(1, 108, 40, in_flight_s)];
            let parameters =
                [("delta", word("none")), ("k", word("one")), ("rounds", word("whole"))];
            let decision = build(Algorithm::Alcs, &parameters).select(&view(&paths, 1 << 30));
            assert_eq!(decision, expected, "{srtt_f} ms, {in_flight_s}");
        }
    }
}

/// tl_f < tl_s → wait; equal (item 23) and later → send. (10 + 20) / 20 * 60 = 90 ms against
/// (10 + i_s) / 40 * 120 ms, equal at i_s = 20.
#[test]
fn waits_if_and_only_if_the_fast_path_is_earlier() {
    for (in_flight_s, expected) in
        [(19, send(1)), (20, send(1)), (21, Decision::Wait(None)), (39, Decision::Wait(None))]
    {
        let paths = [path(0, 60, 20, 20), path(1, 120, 40, in_flight_s)];
        let mut view = view(&paths, 1 << 30);
        view.unsent_bytes = 10 * MSS;
        let mut alcs = build(Algorithm::Alcs, &[("delta", word("none"))]);
        assert_eq!(alcs.select(&view), expected, "{in_flight_s}");
    }
}

/// How far the slow window fills, in percent of it, before ALCS waits.
fn fill_percent(delta: &str, windows: [u64; 2], k: u64) -> u64 {
    let fills = (0..windows[1]).take_while(|in_flight_s| {
        let paths = [path(0, 60, windows[0], windows[0]), path(1, 108, windows[1], *in_flight_s)];
        let mut view = view(&paths, 1 << 30);
        view.unsent_bytes = k * MSS;
        let decision = build(Algorithm::Alcs, &[("delta", word(delta))]).select(&view);
        decision == send(1)
    });
    let filled = fills.count() as u64;
    (filled * 200 + windows[1]) / (2 * windows[1])
}

/// docs/model.md §5.4, both tables: rtt = (60, 108) ms; values of 100 and more mean "never waits".
#[test]
fn the_slow_window_fills_as_computed() {
    let ks = [1, 10, 100, 500, 2000];
    for (delta, windows, expected) in [
        ("none", [128, 198], [55, 55, 48, 20, 0]),
        ("none", [262, 893], [56, 57, 66, 100, 100]),
        ("kernel", [128, 198], [77, 78, 87, 100, 100]),
        ("kernel", [262, 893], [77, 79, 95, 100, 100]),
    ] {
        for (k, expected) in ks.into_iter().zip(expected) {
            let filled = fill_percent(delta, windows, k);
            assert!(filled.abs_diff(expected) <= 1, "{delta} {windows:?} k = {k}: {filled}");
        }
    }
}

const LIMITS: Limits = Limits { alpha_micro: 990_000, min_micro: ONE / 2, max_micro: 2 * ONE };

/// sigma, acked packets, elapsed ms → sigma, at w = 128 and rtt + Delta = 60 ms: in 100 ms sigma 1
/// expects 213.3 packets.
#[test]
fn sigma_moves_by_alpha_with_what_was_delivered() {
    for (sigma, acked, elapsed_ms, expected) in [
        (1_000_000, 214, 100, 990_000),   // atp > etp: sigma * 0.99
        (1_000_000, 213, 100, 1_010_101), // atp < etp: sigma / 0.99
        (1_000_000, 128, 60, 1_000_000),  // equal: as it is
        (2_000_000, 107, 100, 1_980_000), // sigma 2 expects half
        (2_000_000, 106, 100, 2_000_000), // clamped above
        (500_000, 427, 100, 500_000),     // clamped below
        (500_000, 426, 100, 505_050),
    ] {
        let frozen = Frozen { cwnd_packets: 128, mss_bytes: MSS, round: Duration::from_millis(60) };
        let elapsed = Duration::from_millis(elapsed_ms);
        let order = against_window(sigma, acked * MSS, elapsed, &frozen);
        let new = moved(sigma, order, &LIMITS);
        assert_eq!(new, expected, "{sigma} {acked} {elapsed_ms}");
    }
}

/// Runs one decision at 1000 ms, lets `acked` packets arrive on each path, decides again every
/// 10 ms until 1100 ms, and returns both sigmas.
fn sigmas_after(parameters: &[(&str, Given)], acked: [u64; 2], in_flight_s: u64) -> [u128; 2] {
    let mut alcs = alcs(parameters);
    let paths = [path(0, 60, 128, 128), path(1, 108, 198, in_flight_s)];
    for step in 0..=10 {
        let mut view = view(&paths, 1 << 30);
        view.now = ms(1000 + 10 * step);
        alcs.select(&view);
        if step == 0 {
            alcs.on_acked(view.now, PathId(0), acked[0] * MSS);
            alcs.on_acked(view.now, PathId(1), acked[1] * MSS);
        }
    }
    [alcs.sigmas[0].micro, alcs.sigmas[1].micro]
}

/// Step 4: nothing moves before T_u is over; then each path by itself. With Delta = 0 the fast path
/// expects 213.3 packets and the slow one 183.3.
#[test]
fn sigmas_are_updated_once_an_interval_from_values_frozen_at_its_start() {
    let none = ("delta", word("none"));
    let only = std::slice::from_ref(&none);
    assert_eq!(sigmas_after(only, [214, 183], 20), [990_000, 1_010_101]);
    assert_eq!(sigmas_after(only, [213, 184], 20), [1_010_101, 990_000]);
    let later = ("update_interval_ms", Given::Number(101.0));
    assert_eq!(sigmas_after(&[none.clone(), later], [214, 183], 20), [ONE, ONE]);
    // 0: once per largest smoothed RTT, here 108 ms.
    let per_rtt = ("update_interval_ms", Given::Number(0.0));
    assert_eq!(sigmas_after(&[none, per_rtt], [214, 183], 20), [ONE, ONE]);
}

/// Item 6: an idle path teaches nothing. Without the guard its sigma rises, which makes it wait
/// more.
#[test]
fn an_idle_path_keeps_its_sigma_unless_the_guard_is_off() {
    let guarded = sigmas_after(&[("delta", word("none"))], [214, 0], 0);
    assert_eq!(guarded, [990_000, ONE]);
    let off = [("delta", word("none")), ("idle_guard", Given::Flag(false))];
    assert_eq!(sigmas_after(&off, [214, 0], 0), [990_000, 1_010_101]);
}

/// Item 4, the other reading: dispatched packets are the expectation, whatever the window is, and an idle
/// path needs no guard: 0 of 0 moves nothing. (dispatched, acked) on each path → both sigmas.
#[test]
fn what_was_dispatched_may_be_what_is_expected() {
    let after = |sent: [u64; 2], acked: [u64; 2]| {
        let mut alcs = alcs(&[("etp", word("dispatched"))]);
        let paths = [path(0, 60, 128, 128), path(1, 108, 198, 0)];
        for now_ms in [1000, 1100] {
            let mut view = view(&paths, 1 << 30);
            view.now = ms(now_ms);
            alcs.select(&view);
            for id in [0, 1].into_iter().filter(|_| now_ms == 1000) {
                alcs.on_sent(view.now, PathId(id), sent[usize::from(id)] * MSS);
                alcs.on_acked(view.now, PathId(id), acked[usize::from(id)] * MSS);
            }
        }
        [alcs.sigmas[0].micro, alcs.sigmas[1].micro]
    };
    assert_eq!(after([10, 0], [11, 0]), [990_000, ONE]);
    assert_eq!(after([11, 5], [10, 5]), [1_010_101, ONE]);
    assert_eq!(after([0, 3], [0, 20]), [ONE, 990_000]);
}

fn with_outage(mut path: PathView, start_ms: u64, end_ms: u64) -> PathView {
    path.forecast = Window::new(ms(start_ms), ms(end_ms)).map(Foreseen::certain);
    path
}

fn smoothed() -> (&'static str, Given) {
    ("margin_rtt", word("smoothed"))
}

/// Step 1: from one smoothed RTT before the outage to its end, the satellite takes nothing new.
#[test]
fn a_path_is_left_one_rtt_before_its_outage_and_taken_again_at_its_end() {
    let paths = [with_outage(path(0, 60, 20, 5), 10_000, 11_000), path(1, 108, 40, 10)];
    let at = |now_ms: u64, parameters: &[(&str, Given)]| {
        let mut view = view(&paths, 1 << 30);
        view.now = ms(now_ms);
        build(Algorithm::Alcs, parameters).select(&view)
    };
    for (now_ms, expected) in [
        (9_939, send(0)),
        (9_940, send(1)),
        (10_500, send(1)),
        (10_999, send(1)),
        (11_000, send(0)),
    ] {
        assert_eq!(at(now_ms, &[smoothed()]), expected, "{now_ms}");
    }
    assert_eq!(at(10_500, &[("deactivate", word("none"))]), send(0));
    let margin = [smoothed(), ("margin_rtts", Given::Number(2.0))];
    assert_eq!(at(9_879, &margin), send(0));
    assert_eq!(at(9_880, &margin), send(1));
}

/// The margin of a packet sent now: its RTT may be the latest one, twice that in slow start, and its
/// acknowledgement may be delayed.
#[test]
fn the_expected_rtt_is_ahead_of_a_queue_that_grows() {
    let mut growing = with_outage(path(0, 60, 20, 5), 10_000, 11_000);
    growing.latest_rtt = Duration::from_millis(100);
    assert_eq!(alcs(&[]).leaves_at(&growing), Some(ms(10_000 - 240)));
    growing.ssthresh_packets = 20;
    assert_eq!(alcs(&[]).leaves_at(&growing), Some(ms(10_000 - 190)));
    growing.latest_rtt = Duration::from_millis(50);
    assert_eq!(alcs(&[]).leaves_at(&growing), Some(ms(10_000 - 130)));
    assert_eq!(alcs(&[smoothed()]).leaves_at(&growing), Some(ms(10_000 - 60)));
}

#[test]
fn without_waiting_only_the_deactivation_is_left() {
    let far = with_outage(path(0, 60, 20, 20), 10_000, 11_000);
    let busy = path(1, 120, 40, 39);
    let at = |now_ms: u64, waits: bool| {
        let paths = [far, busy];
        let mut view = view(&paths, 1 << 30);
        (view.now, view.unsent_bytes) = (ms(now_ms), MSS);
        let parameters = [("delta", word("none")), ("waits", Given::Flag(waits))];
        build(Algorithm::Alcs, &parameters).select(&view)
    };
    assert!(matches!(at(9_000, true), Decision::Wait(_)), "tl_f < tl_s");
    assert_eq!(at(9_000, false), send(1));
    let free = with_outage(path(0, 60, 20, 5), 10_000, 11_000);
    let mut view = view(std::slice::from_ref(&free), 1 << 30);
    view.now = ms(10_500);
    let only = build(Algorithm::Alcs, &[("waits", Given::Flag(false))]).select(&view);
    assert_eq!(only, Decision::Wait(Some(ms(11_000))));
}

/// With more than two paths: one that is not worth it does not hide the next.
#[test]
fn the_third_path_is_compared_as_well() {
    // Both of 60 ms: the first is full, the second is not worth it; the third has the larger window.
    let paths = [path(0, 60, 100, 100), path(1, 61, 10, 9), path(2, 100, 800, 10)];
    let ask = |candidates: &str| {
        let mut view = view(&paths, 1 << 30);
        view.unsent_bytes = 1000 * MSS;
        let parameters = [("delta", word("none")), ("candidates", word(candidates))];
        build(Algorithm::Alcs, &parameters).select(&view)
    };
    assert_eq!(ask("all"), send(2));
    assert_eq!(ask("second"), Decision::Wait(None));
}

/// An RTT of a second ago still counts, one of three seconds ago does not.
#[test]
fn the_largest_rtt_of_late_sets_the_margin() {
    let mut alcs = alcs(&[]);
    let mut known = with_outage(path(0, 60, 20, 5), 10_000, 11_000);
    known.ssthresh_packets = 20;
    let mut see = |now_ms: u64, rtt_ms: u64| {
        known.latest_rtt = Duration::from_millis(rtt_ms);
        let paths = [known];
        let mut view = view(&paths, 1 << 30);
        view.now = ms(now_ms);
        alcs.select(&view);
        alcs.leaves_at(&known)
    };
    assert_eq!(see(6_000, 300), Some(ms(10_000 - 490)));
    assert_eq!(see(7_100, 60), Some(ms(10_000 - 490)));
    assert_eq!(see(9_200, 60), Some(ms(10_000 - 130)));
}

/// `deactivate`: retransmissions rest as well, or new data only, or nothing does.
#[test]
fn what_rests_before_an_outage_is_a_parameter() {
    let known = with_outage(path(0, 60, 20, 5), 10_000, 11_000);
    let rests = |how: &str, now_ms: u64| {
        alcs(&[smoothed(), ("deactivate", word(how))]).rests_until(ms(now_ms), &known)
    };
    assert_eq!(rests("all", 9_939), None);
    assert_eq!(rests("all", 9_940), Some(ms(11_000)));
    assert_eq!(rests("all", 11_000), None);
    assert_eq!(rests("new", 10_500), None);
    assert_eq!(rests("none", 10_500), None);
}

/// Items 10, 19 and 22: a wait ends when a path leaves or comes back; a path that has left is no
/// S_f to wait for.
#[test]
fn waits_are_looked_at_again_when_the_paths_change() {
    let far = with_outage(path(0, 60, 20, 20), 10_000, 11_000);
    let full = path(1, 120, 40, 40);
    let ask = |paths: &[PathView], now_ms: u64, unsent_bytes: u64| {
        let mut view = view(paths, 1 << 30);
        (view.now, view.unsent_bytes) = (ms(now_ms), unsent_bytes);
        build(Algorithm::Alcs, &[("delta", word("none")), smoothed()]).select(&view)
    };
    assert_eq!(ask(&[far, full], 9_000, MSS), Decision::Wait(Some(ms(9_940))), "it leaves");
    assert_eq!(ask(&[far, full], 9_990, MSS), Decision::Wait(Some(ms(11_000))), "it comes back");
    let busy = path(1, 120, 40, 39);
    assert_eq!(ask(&[far, busy], 9_000, MSS), Decision::Wait(Some(ms(9_940))), "tl_f < tl_s");
    assert_eq!(ask(&[far, busy], 9_990, MSS), send(1), "nothing to wait for");
    let only = with_outage(path(0, 60, 20, 5), 10_000, 11_000);
    assert_eq!(ask(&[only], 10_200, MSS), Decision::Wait(Some(ms(11_000))), "all are out");
}

/// A reinjection that only the absent path has not carried is sent again where it went.
#[test]
fn a_reinjection_does_not_hold_up_the_stream_for_an_outage() {
    let mut paths = [with_outage(path(0, 60, 20, 5), 900, 2_000), path(1, 108, 40, 10)];
    paths[1].tried = true;
    let mut again = view(&paths, 1 << 30);
    again.reinjection = true;
    assert_eq!(Algorithm::Alcs.build().select(&again), send(1));
}

/// Item 7: all unsent segments, one, or the slow path's free window.
#[test]
fn k_counts_what_it_is_told_to() {
    let slow = path(1, 108, 40, 10);
    let paths = [path(0, 60, 20, 20), slow];
    let mut view = view(&paths, 1 << 30);
    view.unsent_bytes = 100 * MSS + 1;
    for (k, expected) in [("all", 101), ("one", 1), ("burst", 30)] {
        assert_eq!(alcs(&[("k", word(k))]).segments(&view, &slow), expected, "{k}");
    }
}
