//! Weave's rules, one by one: docs/weave.md.

use super::*;
use crate::tests::{MSS, build, path, send, view};
use crate::{Algorithm, Choice, Delivery, Dispatch, Order, PathSet};
use parameters::Given;
use proptest::prelude::*;
use units::Bitrate;

/// A path that delivers `mbps`, has `unacked` packets on it and a smallest RTT of `rtt_ms`.
fn at_work(id: u8, rtt_ms: u64, mbps: f64, unacked: u64) -> PathView {
    let rate = Bitrate::from_mbps(mbps);
    PathView {
        ssthresh_packets: 10,
        latest_rtt: Duration::from_millis(2 * rtt_ms + 10), // a queue: it delivers all that it can
        delivery: Delivery { short: rate, rate, peak: rate, long_peak: rate, last_peak: rate },
        ..path(id, rtt_ms, 10_000, unacked)
    }
}

/// A path that was given all that it could take.
fn filled() -> Use {
    let mut used = Use::default();
    let settings = Weave::new(Choice::from(Algorithm::Weave).values()).settings;
    used.note(Instant::from_millis(500), &at_work(0, 50, 10.0, 10), &settings);
    used
}

/// One that has been at work for long.
fn weave() -> Weave {
    let mut weave = Weave::new(Choice::from(Algorithm::Weave).values());
    weave.used = vec![filled(); 4];
    weave
}

/// Packets that 10 ms of a megabit per second are.
fn packets(mbps: f64, ms: u64) -> u64 {
    Bitrate::from_mbps(mbps).bytes_in(Duration::from_millis(ms)) / MSS
}

#[test]
fn the_head_goes_where_it_arrives_first_whatever_the_round_trips() {
    // 300 ms of queue on the path with the smaller RTT, 20 ms on the other.
    let paths = [at_work(0, 40, 10.0, packets(10.0, 300)), at_work(1, 60, 10.0, packets(10.0, 80))];
    assert_eq!(weave().select(&view(&paths, 1 << 20)), send(1));
}

/// Trap (i) of rule 1: nothing was acknowledged lately because nothing was sent.
#[test]
fn an_idle_path_is_as_fast_as_it_was_last() {
    let mut idle = at_work(1, 50, 0.0, 0);
    idle.delivery.last_peak = Bitrate::from_mbps(40.0);
    let busy = at_work(0, 50, 10.0, packets(10.0, 80));
    assert_eq!(weave().select(&view(&[busy, idle], 1 << 20)), send(1));
    // One that was never used is as fast as its window says.
    idle.delivery = Delivery::default();
    assert_eq!(weave().select(&view(&[busy, idle], 1 << 20)), send(1));
}

/// Trap (ii) of rule 1: a path without a queue delivers what it was given, not what it could.
#[test]
fn a_path_that_is_held_back_is_as_fast_as_its_peak() {
    let unacked = packets(20.0, 60);
    let mut held = at_work(1, 50, 2.0, unacked);
    (held.delivery.long_peak, held.latest_rtt) = (Bitrate::from_mbps(20.0), held.min_rtt);
    let estimate = |path: &PathView| {
        Estimate::of(Instant::from_millis(1000), path, &filled(), &weave().settings).arrival
    };
    assert!(estimate(&held) < Duration::from_millis(50), "{:?}", estimate(&held));
    held.latest_rtt = Duration::from_millis(500); // it has a queue: that is all it can
    assert!(estimate(&held) > Duration::from_millis(500));
    (held.latest_rtt, held.delivery.short) = (held.min_rtt, Bitrate::ZERO); // or it is silent
    assert!(estimate(&held) > Duration::from_millis(500));
}

/// A trickle of small objects is no measure of a path: what goes out at once within its window arrives
/// after a round trip, and takes the path with the smaller one.
#[test]
fn what_the_application_had_is_no_measure_of_a_path() {
    let pacing_rate = Bitrate::from_mbps(20.0);
    let used = |id, rtt_ms, unacked| PathView {
        latest_rtt: Duration::from_millis(rtt_ms),
        pacing_rate,
        ..at_work(id, rtt_ms, 0.005, unacked)
    };
    let fresh = PathView { delivery: Delivery::default(), ..used(1, 50, 0) };
    let mut weave = weave();
    weave.used = vec![Use::default(); 2];
    for unacked in 0..5 {
        assert_eq!(weave.select(&view(&[used(0, 45, unacked), fresh], 10 * MSS)), send(0));
    }
    // Its round trip has moved beyond the other's.
    let moved = PathView { srtt: Duration::from_millis(65), ..used(0, 45, 1) };
    assert_eq!(weave.select(&view(&[moved, fresh], 10 * MSS)), send(1));
    let idle = PathView { srtt: Duration::from_millis(65), ..used(0, 45, 0) };
    assert_eq!(weave.select(&view(&[idle, fresh], 10 * MSS)), send(1));
    // A measurement older than 2 s counts no more: the path is tried again.
    let paths = [idle, fresh];
    let later = ConnectionView { now: Instant::from_millis(9_000), ..view(&paths, 10 * MSS) };
    assert_eq!(weave.select(&later), send(0));
    // What a full window brought is.
    weave.used[0] = filled();
    assert_eq!(weave.select(&view(&[used(0, 45, 0), fresh], 10 * MSS)), send(1));
}

#[test]
fn a_slower_path_takes_what_is_due_when_it_gets_there() {
    let full = PathView { has_room: false, ..at_work(0, 20, 50.0, packets(50.0, 20)) };
    let slow = at_work(1, 100, 5.0, packets(5.0, 100));
    let paths = [full, slow];
    let Decision::Ahead { path, gap: Gap::Unsent(gap) } = weave().select(&view(&paths, 1 << 20))
    else {
        panic!("not ahead");
    };
    // It arrives 10 ms after now on the one, 50 ms on the other: 40 ms of 50 Mbit/s lie between.
    let between = Bitrate::from_mbps(50.0).bytes_in(Duration::from_millis(40));
    assert!((gap as f64 / between as f64 - 1.0).abs() < 0.05, "{gap} {between}");
    assert_eq!(path, PathId(1));
    // With less than that left it would only be late.
    let end = ConnectionView { unsent_bytes: gap, ..view(&paths, 1 << 20) };
    assert_eq!(weave().select(&end), Decision::Wait(None));
}

#[test]
fn queues_are_bounded_but_a_few_packets_always_go() {
    let span_ms = 50 + 120;
    let at = |unacked| [at_work(0, 50, 20.0, unacked)];
    assert_eq!(weave().select(&view(&at(packets(20.0, span_ms) - 2), 1 << 20)), send(0));
    let full = at(packets(20.0, span_ms) + 1);
    assert_eq!(weave().select(&view(&full, 1 << 20)), Decision::Wait(None));
    // Beside an urgent stream they are shorter, and longer again after it.
    let (mut both, half) = (weave(), at(packets(20.0, 50 + 60) + 1));
    let urgent = ConnectionView { urgent: true, ..view(&half, 1 << 20) };
    assert_eq!(both.select(&urgent), Decision::Wait(None));
    assert_eq!(both.select(&view(&half, 1 << 20)), send(0));
    assert!(weave().fills(Instant::from_millis(1000), &full[0]));
    let mut thin = at_work(0, 50, 0.01, 4);
    assert_eq!(weave().select(&view(&[thin], 1 << 20)), send(0));
    (thin.unacked_bytes, thin.ssthresh_packets) = (400 * MSS, u64::MAX); // slow start, no queue yet
    thin.latest_rtt = thin.min_rtt;
    assert_eq!(weave().select(&view(&[thin], 1 << 20)), send(0));
    let unbounded = [("bound", Given::Flag(false))];
    assert_eq!(build(Algorithm::Weave, &unbounded).select(&view(&full, 1 << 20)), send(0));
}

#[test]
fn a_path_beyond_the_horizon_drains_first() {
    let best = PathView { has_room: false, ..at_work(0, 20, 50.0, packets(50.0, 20)) };
    let late = at_work(1, 20, 5.0, packets(5.0, 260)); // 250 ms, within no bound of 120 ms
    let unbounded = [("bound", Given::Flag(false))];
    let mut weave = build(Algorithm::Weave, &unbounded);
    weave.select(&view(&[at_work(0, 20, 1.0, 1), at_work(1, 20, 1.0, 1)], 1 << 20));
    assert_eq!(weave.select(&view(&[best, late], 1 << 20)), Decision::Wait(None));
}

#[test]
fn what_comes_late_is_copied_within_the_budget() {
    let fast = at_work(0, 20, 50.0, 1);
    let slow = at_work(1, 50, 5.0, packets(5.0, 400));
    let mut weave = weave();
    let paths = [fast, slow];
    let mut found = Vec::new();
    let again = weave.rescues(&view(&paths, 1 << 20), &mut found);
    assert_eq!(again, Some(Instant::from_millis(1010)));
    // A copy arrives after 10 ms; with the margin and the way back 135 ms of the slow path's flight.
    let [Rescue { from: PathId(1), to: PathId(0), behind_bytes }] = found[..] else {
        panic!("{found:?}");
    };
    let due = Bitrate::from_mbps(5.0).bytes_in(Duration::from_millis(135));
    assert!((behind_bytes as f64 / due as f64 - 1.0).abs() < 0.05, "{behind_bytes} {due}");
    weave.on_rescued(Instant::from_millis(1000), &found[0], 1_000_000);
    found.clear();
    weave.rescues(&view(&paths, 1 << 20), &mut found);
    assert_eq!(found, []);
    weave.on_sent(Instant::from_millis(1000), PathId(0), 10 * MSS); // a tenth of it is earned
    weave.rescues(&view(&paths, 1 << 20), &mut found);
    assert_eq!(found.len(), 1);
}

#[test]
fn lost_data_holds_nothing_up() {
    let best = PathView { has_room: false, ..at_work(0, 20, 50.0, packets(50.0, 20)) };
    let slow = at_work(1, 100, 5.0, packets(5.0, 100));
    let reinjection = |paths| ConnectionView { reinjection: true, ..view(paths, 1 << 20) };
    let near = [best, slow];
    assert_eq!(weave().select(&reinjection(&near)), send(1)); // 40 ms later, within the margin
    let far = [best, at_work(1, 100, 5.0, packets(5.0, 215))];
    let decision = weave().select(&reinjection(&far)); // 155 ms later: new data goes meanwhile
    assert!(
        matches!(decision, Decision::Ahead { path: PathId(1), gap: Gap::Unsent(_) }),
        "{decision:?}"
    );
    let mut dispatch = Dispatch::new(Box::new(weave()));
    let order = dispatch.order(&reinjection(&far), decision);
    assert!(matches!(order, Order::Ahead { path: PathId(1), .. }), "{order:?}");
}

#[test]
fn a_foreseen_outage_empties_the_path_beforehand() {
    let window =
        |from, to| units::Window::new(Instant::from_millis(from), Instant::from_millis(to));
    let mut soon = at_work(0, 40, 20.0, packets(20.0, 40));
    soon.forecast = window(1010, 1500).map(forecast::Foreseen::certain);
    let other = at_work(1, 200, 20.0, packets(20.0, 200));
    assert_eq!(weave().select(&view(&[soon, other], 1 << 20)), send(1));
    soon.forecast = window(1400, 1500).map(forecast::Foreseen::certain); // what leaves now arrives before
    assert_eq!(weave().select(&view(&[soon, other], 1 << 20)), send(0));
}

fn any_path(id: u8) -> impl Strategy<Value = PathView> {
    let rates = prop::array::uniform5(0.0_f64..200.0);
    (rates, 1_u64..600, 1_u64..3, 0_u64..3000, any::<[bool; 3]>()).prop_map(
        move |([short, rate, peak, long, last], rtt_ms, queue, unacked, flags)| {
            let [short, rate, peak, long, last] =
                [short, rate, peak, long, last].map(|mbps| if mbps < 20.0 { 0.0 } else { mbps });
            PathView {
                has_room: flags[0],
                ssthresh_packets: if flags[1] { 10 } else { u64::MAX },
                latest_rtt: Duration::from_millis(rtt_ms * queue),
                delivery: Delivery {
                    short: Bitrate::from_mbps(short),
                    rate: Bitrate::from_mbps(rate),
                    peak: Bitrate::from_mbps(peak),
                    long_peak: Bitrate::from_mbps(long),
                    last_peak: Bitrate::from_mbps(last),
                },
                ..path(id, rtt_ms, 4000, if flags[2] { unacked } else { unacked % 5 })
            }
        },
    )
}

proptest! {
    /// A path that has next to nothing in flight is open, so that none starves and none is waited for
    /// that is not being used: with such a path with room, some data leaves.
    #[test]
    fn somebody_sends_while_a_path_is_nearly_empty(
        mut one in any_path(0),
        mut two in any_path(1),
    ) {
        (one.has_room, one.unacked_bytes) = (true, one.unacked_bytes.min(4 * MSS));
        one.delivery = Delivery::default();
        two.has_room |= two.unacked_bytes == 0;
        let paths = [one, two];
        let mut weave = weave();
        let decision = weave.select(&view(&[one], 1 << 20));
        prop_assert_eq!(decision, send(0)); // alone it sends, whatever is known of it
        let both = ConnectionView { unsent_bytes: u64::MAX / 4, ..view(&paths, 1 << 20) };
        let estimates: Vec<_> = { weave.select(&both); weave.estimates.clone() };
        let best = estimates.iter().min_by_key(|path| path.arrival).copied();
        let late = best.is_some_and(|best| {
            estimates[0].arrival > best.arrival + weave.settings.horizon
        });
        let waits = matches!(weave.select(&both), Decision::Wait(_));
        // It waits only for the better path, and only while data on this one would be far too late.
        prop_assert!(!waits || late && two.unacked_bytes > 0, "{:?}", estimates);
    }

    /// Copies never exceed their share of what was sent and the bucket.
    #[test]
    fn the_budget_holds(
        share in 0.0_f64..1.0,
        steps in prop::collection::vec((1_u64..3000, 1_u64..3000), 1..300),
    ) {
        let most = 20_000;
        let mut budget = Budget::new(share, most);
        let (mut sent, mut copied) = (0, 0);
        for (new, copy) in steps {
            budget.earn(new);
            sent += new;
            if budget.allows_any() && budget.has_any() {
                budget.spend(copy);
                copied += copy;
            }
            prop_assert!(copied as f64 <= share * sent as f64 + (most + 3000) as f64 + 1.0);
        }
    }

    /// Only paths with room are named, none twice, and a copy goes to another path than the original's.
    #[test]
    fn rescues_are_possible(paths in (any_path(0), any_path(1), any_path(2))) {
        let paths = [paths.0, paths.1, paths.2];
        let mut found = Vec::new();
        weave().rescues(&view(&paths, 1 << 20), &mut found);
        let mut from = PathSet::EMPTY;
        for rescue in found {
            prop_assert!(rescue.from != rescue.to && !from.contains(rescue.from));
            prop_assert!(paths[rescue.to.index()].has_room);
            prop_assert!(paths[rescue.from.index()].unacked_bytes > rescue.behind_bytes);
            from = from.with(rescue.from);
        }
    }
}
