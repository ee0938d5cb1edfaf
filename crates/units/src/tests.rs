use crate::{Bitrate, Duration, Instant, Ranges, Window, union};
use proptest::prelude::*;
use std::collections::BTreeSet;

#[test]
fn instants_saturate_instead_of_wrapping() {
    let early = Instant::from_millis(1);
    let late = Instant::from_millis(5);
    assert_eq!(late - early, Duration::from_millis(4));
    assert_eq!(early - late, Duration::ZERO);
    assert_eq!(early.saturating_sub(Duration::from_secs(1)), Instant::ZERO);
    assert_eq!(Instant::FAR_FUTURE + Duration::MAX, Instant::FAR_FUTURE);
}

#[test]
fn a_full_packet_at_50_mbps_takes_240_microseconds() {
    let rate = Bitrate::from_mbps(50.0);
    assert_eq!(rate.time_for(1500), Some(Duration::from_micros(240)));
    assert_eq!(Bitrate::ZERO.time_for(1), None);
    assert_eq!(Bitrate::from_mbps(f64::NAN), Bitrate::ZERO);
}

#[test]
fn spans_saturate_instead_of_wrapping() {
    assert_eq!(Duration::MAX + Duration::from_nanos(1), Duration::MAX);
    assert_eq!(Duration::MAX * 2, Duration::MAX);
    assert_eq!(Duration::from_secs(u64::MAX), Duration::MAX);
    assert_eq!(Duration::from(std::time::Duration::MAX), Duration::MAX);
    assert_eq!(Duration::ZERO.saturating_sub(Duration::from_nanos(1)), Duration::ZERO);
    assert_eq!(Duration::ZERO.checked_sub(Duration::from_nanos(1)), None);
}

#[test]
#[should_panic(expected = "no shorter")]
fn a_shorter_span_does_not_hold_a_longer_one() {
    let _less = Duration::from_secs(1) - Duration::from_secs(2);
}

proptest! {
    #[test]
    fn a_span_is_that_of_the_standard_library(
        nanos in 0_u64..1 << 60, other in 0_u64..1 << 60, number in 1_u32..1000, factor in 0.0..10.0,
    ) {
        let (ours, std) = (Duration::from_nanos(nanos), std::time::Duration::from_nanos(nanos));
        let (other, std_other) = (Duration::from_nanos(other), std::time::Duration::from_nanos(other));
        prop_assert_eq!(ours + other, (std + std_other).into());
        prop_assert_eq!(ours.abs_diff(other), std.abs_diff(std_other).into());
        prop_assert_eq!(ours.checked_sub(other), std.checked_sub(std_other).map(Duration::from));
        prop_assert_eq!(ours.cmp(&other), std.cmp(&std_other));
        prop_assert_eq!(ours / number * number, (std / number * number).into());
        prop_assert_eq!(ours.as_secs_f64().to_bits(), std.as_secs_f64().to_bits());
        prop_assert_eq!(ours.mul_f64(factor), std.mul_f64(factor).into());
        prop_assert_eq!(
            (ours.as_secs(), ours.subsec_nanos(), u128::from(ours.as_micros())),
            (std.as_secs(), std.subsec_nanos(), std.as_micros())
        );
        prop_assert_eq!(format!("{ours:?}"), format!("{std:?}"));
    }

    #[test]
    fn time_for_is_the_shortest_time_that_carries_the_bytes(bps in 1_u64..10_u64.pow(10), bytes in 0_u64..10_u64.pow(9)) {
        let rate = Bitrate::from_bps(bps);
        let span = rate.time_for(bytes).unwrap();
        prop_assert!(rate.bytes_in(span) >= bytes);
        if span > Duration::from_nanos(8) {
            prop_assert!(rate.bytes_in(span - Duration::from_nanos(1)) <= bytes);
        }
    }
}

fn window(start_ms: u64, end_ms: u64) -> Window {
    Window { start: Instant::from_millis(start_ms), end: Instant::from_millis(end_ms) }
}

#[test]
fn a_window_holds_its_start_and_not_its_end() {
    let (start, end) = (Instant::from_millis(2), Instant::from_millis(5));
    let known = Window::new(start, end).unwrap();
    assert!(known.contains(start) && !known.contains(end));
    assert_eq!(known.length(), Duration::from_millis(3));
    assert_eq!(known.within(window(4, 9)), Some(window(4, 5)));
    assert_eq!(known.within(window(5, 9)), None);
    assert_eq!((Window::new(start, start), Window::new(end, start)), (None, None));
}

#[test]
fn windows_that_touch_or_overlap_become_one_and_join_their_values() {
    let windows =
        [(window(7, 8), 'd'), (window(3, 5), 'b'), (window(1, 3), 'a'), (window(4, 4), 'c')];
    let joined = union(windows.map(|(w, c)| (w, c.to_string())), |a, b| a + &b);
    assert_eq!(joined, [(window(1, 5), "abc".to_owned()), (window(7, 8), "d".to_owned())]);
}

proptest! {
    #[test]
    fn the_union_holds_the_same_moments_in_windows_apart(
        spans in prop::collection::vec((0_u64..60, 1_u64..9), 0..12),
    ) {
        let windows: Vec<Window> = spans.iter().map(|(at, length)| window(*at, at + length)).collect();
        let joined = Window::union(windows.iter().copied());
        prop_assert!(joined.windows(2).all(|pair| pair[0].end < pair[1].start));
        for at in (0..80).map(Instant::from_millis) {
            let within = |all: &[Window]| all.iter().any(|one| one.contains(at));
            prop_assert_eq!(within(&joined), within(&windows));
        }
    }
}

proptest! {
    /// Against a set of single numbers: ranges, counts and what was new.
    #[test]
    fn ranges_are_a_set_of_numbers(steps in proptest::collection::vec((0_u8..4, 0_u64..60, 0_u64..12), 0..60)) {
        let (mut ranges, mut model) = (Ranges::default(), BTreeSet::new());
        for (kind, start, length) in steps {
            if kind == 0 {
                let below = start / 2;
                let kept = model.split_off(&below);
                prop_assert_eq!(ranges.remove_before(below), model.len() as u64);
                model = kept;
            } else {
                let mut fresh = Vec::new();
                let count = ranges.insert_with(start..start + length, |gap| fresh.extend(gap));
                let new: Vec<u64> = (start..start + length).filter(|n| model.insert(*n)).collect();
                prop_assert_eq!(count, new.len() as u64);
                prop_assert_eq!(fresh, new);
            }
            let all: Vec<u64> = ranges.iter().cloned().flatten().collect();
            prop_assert_eq!(ranges.count(), all.len() as u64);
            prop_assert_eq!(&all, &model.iter().copied().collect::<Vec<_>>());
            prop_assert!(ranges.iter().zip(ranges.iter().skip(1)).all(|(a, b)| a.end < b.start));
            prop_assert!(ranges.iter().all(|range| !range.is_empty()));
            prop_assert!((0..80).all(|n| ranges.contains(n) == model.contains(&n)));
            for at in [0, 7, 30] {
                let gaps: Vec<u64> = ranges.gaps(at..at + 25).flatten().collect();
                let missing: Vec<u64> = (at..at + 25).filter(|n| !model.contains(n)).collect();
                prop_assert_eq!(gaps, missing);
            }
            let (first, last) = (ranges.first().map(|r| r.start), ranges.last().map(|r| r.end - 1));
            prop_assert_eq!((first, last), (model.first().copied(), model.last().copied()));
        }
    }
}
