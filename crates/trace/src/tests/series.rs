use crate::{Fault, Opportunities, Steps, TraceError, duration_from_millis, instant_from_secs};
use proptest::prelude::*;
use units::{Bitrate, Duration, Instant};

fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

fn steps(entries: &[(u64, u64)], period_ms: Option<u64>) -> Steps<u64> {
    let times = entries.iter().map(|&(time_ms, _)| ms(time_ms)).collect();
    let values = entries.iter().map(|&(_, value)| value).collect();
    Steps::new(times, values, period_ms.map(Duration::from_millis)).unwrap()
}

fn rates(entries: &[(u64, u64)], period_ms: Option<u64>) -> Steps<Bitrate> {
    steps(entries, period_ms).map(|mbps| Bitrate::from_bps(mbps * 1_000_000))
}

fn fault(times_ms: &[u64], values: usize, period_ms: Option<u64>) -> (usize, Fault) {
    let times = times_ms.iter().map(|&time_ms| ms(time_ms)).collect();
    let period = period_ms.map(Duration::from_millis);
    match Steps::new(times, vec![0; values], period).unwrap_err() {
        TraceError::Entry { index, fault } => (index, fault),
        placed => panic!("no file was named: {placed}"),
    }
}

#[test]
fn series_that_break_a_rule_are_refused() {
    assert_eq!(fault(&[], 0, None), (0, Fault::Empty));
    assert_eq!(fault(&[0, 1], 1, None), (1, Fault::Lengths { times: 2, values: 1 }));
    assert_eq!(fault(&[1, 2], 2, None), (0, Fault::FirstNotZero { found: ms(1) }));
    assert_eq!(
        fault(&[0, 5, 5], 3, None),
        (2, Fault::NotIncreasing { previous: ms(5), found: ms(5) })
    );
    let (period, last) = (Duration::from_millis(5), ms(5));
    assert_eq!(fault(&[0, 5], 2, Some(5)), (1, Fault::PeriodTooShort { period, last }));
    assert!(matches!(fault(&[0], 1, Some(0)), (0, Fault::PeriodTooShort { .. })));
}

#[test]
fn seconds_and_milliseconds_become_nanoseconds() {
    assert_eq!(instant_from_secs(0.1), Ok(ms(100)));
    assert_eq!(duration_from_millis(0.25), Ok(Duration::from_micros(250)));
    assert!(matches!(instant_from_secs(-1.0), Err(Fault::Negative { .. })));
    assert!(matches!(instant_from_secs(f64::NAN), Err(Fault::NotFinite { .. })));
    assert!(matches!(duration_from_millis(1e300), Err(Fault::TooLarge { .. })));
}

#[test]
fn the_last_value_holds_for_ever_without_a_loop() {
    let mut cursor = steps(&[(0, 10), (5, 20)], None).into_cursor();
    assert_eq!((cursor.value_at(ms(4)), cursor.next_change()), (10, Some(ms(5))));
    assert_eq!((cursor.value_at(ms(5)), cursor.next_change()), (20, None));
    assert_eq!(cursor.value_at(Instant::FAR_FUTURE), 20);
    assert_eq!((cursor.value_at(ms(0)), cursor.next_change()), (10, Some(ms(5))));
}

#[test]
fn a_loop_starts_again_after_its_period() {
    let mut cursor = steps(&[(0, 10), (5, 20)], Some(8)).into_cursor();
    assert_eq!((cursor.value_at(ms(7)), cursor.next_change()), (20, Some(ms(8))));
    assert_eq!((cursor.value_at(ms(8)), cursor.next_change()), (10, Some(ms(13))));
    assert_eq!((cursor.value_at(ms(8007)), cursor.next_change()), (20, Some(ms(8008))));
    assert_eq!(
        cursor.value_at(Instant::FAR_FUTURE),
        steps(&[(0, 10), (5, 20)], Some(8)).value_at(Instant::FAR_FUTURE)
    );
}

#[test]
fn capacity_is_the_integral_of_the_rate() {
    let rate = rates(&[(0, 8), (10, 0), (20, 80)], Some(30));
    assert_eq!(rate.bytes_between(ms(0), ms(10)), 10_000);
    assert_eq!(rate.bytes_between(ms(10), ms(20)), 0);
    assert_eq!(rate.bytes_between(ms(0), ms(30)), 110_000);
    assert_eq!(rate.bytes_between(ms(29), ms(61)), 10_000 + 110_000 + 1000);
    assert_eq!(rate.bytes_between(ms(5), ms(1)), 0);
}

#[test]
fn opportunities_loop_at_the_last_timestamp() {
    let trace = Opportunities::new(vec![0, 2, 2, 5]).unwrap();
    assert_eq!(trace.period(), Duration::from_millis(5));
    let mut cursor = trace.clone().into_cursor();
    let mut seen = Vec::new();
    for _ in 0..9 {
        seen.push(cursor.time().as_nanos() / 1_000_000);
        cursor.advance();
    }
    assert_eq!(seen, [0, 2, 2, 5, 5, 7, 7, 10, 10]);
    assert_eq!(trace.count_between(ms(0), ms(10)), 9);
    assert_eq!(trace.count_between(ms(5), ms(5)), 2);
    assert_eq!(trace.count_between(ms(3), ms(4)), 0);
    assert_eq!(trace.bytes_between(ms(2), ms(5)), 4 * 1500);
}

#[test]
fn a_seek_finds_the_first_opportunity_that_is_not_before() {
    let trace = Opportunities::new(vec![0, 2, 2, 5]).unwrap();
    let mut cursor = trace.into_cursor();
    for (now, expected) in [(0, 0), (1, 2), (5, 5), (6, 7), (1003, 1005), (2, 2)] {
        cursor.seek(ms(now));
        assert_eq!(cursor.time(), ms(expected), "from {now} ms");
    }
    cursor.seek(ms(5));
    cursor.advance();
    assert_eq!(cursor.time(), ms(5), "the one at 0 of the next turn");
}

#[test]
fn a_rate_becomes_as_many_opportunities_as_it_carries() {
    // 12 Mbit/s is one packet per millisecond; 5 Mbit/s carries 416.67 packets per second.
    let trace = Opportunities::from_rate(&rates(&[(0, 12)], None), Duration::from_millis(3));
    assert_eq!(trace.unwrap().times_ms(), [1, 2, 3]);
    let trace = Opportunities::from_rate(&rates(&[(0, 5)], None), Duration::from_secs(3)).unwrap();
    assert_eq!((trace.times_ms().len(), trace.period()), (1250, Duration::from_secs(3)));
    let uneven = rates(&[(0, 36), (2, 0)], Some(4));
    let trace = Opportunities::from_rate(&uneven, Duration::from_millis(8)).unwrap();
    assert_eq!(trace.times_ms(), [1, 1, 1, 2, 2, 2, 5, 5, 5, 6, 6, 8]);
    let zero = Opportunities::from_rate(&rates(&[(0, 0)], None), Duration::from_secs(1));
    assert_eq!(zero.unwrap_err().fault(), &Fault::NoCapacity);
    let no_span = Opportunities::from_rate(&rates(&[(0, 5)], None), Duration::from_micros(1500));
    assert!(matches!(no_span.unwrap_err().fault(), Fault::BadSpacing { .. }));
    let endless =
        Opportunities::from_rate(&rates(&[(0, 1000)], None), Duration::from_secs(10_000_000));
    assert!(matches!(endless.unwrap_err().fault(), Fault::TooMany { .. }));
}

proptest! {
    #[test]
    fn a_cursor_reads_what_a_search_finds(
        gaps in prop::collection::vec(1_u64..20, 1..20),
        tail in prop::option::of(1_u64..20),
        reads in prop::collection::vec(0_u64..2000, 1..50),
    ) {
        let mut times = vec![Instant::ZERO];
        for gap in gaps {
            times.push(times[times.len() - 1] + Duration::from_nanos(gap));
        }
        let values: Vec<usize> = (0..times.len()).collect();
        let period = tail.map(|tail| times[times.len() - 1] - Instant::ZERO + Duration::from_nanos(tail));
        let series = Steps::new(times, values, period).unwrap();
        let mut cursor = series.clone().into_cursor();
        for read in reads {
            let now = Instant::from_nanos(read);
            prop_assert_eq!(cursor.value_at(now), series.value_at(now));
            if let Some(change) = cursor.next_change() {
                prop_assert!(change > now);
                prop_assert_eq!(series.value_at(change.saturating_sub(Duration::from_nanos(1))), series.value_at(now));
                prop_assert!(series.value_at(change) != series.value_at(now));
            }
        }
    }

    #[test]
    fn opportunities_carry_what_the_rate_carries(
        entries in prop::collection::vec((1_u64..50, 0_u64..100), 1..10),
        length_ms in 1_u64..400,
    ) {
        let mut times = vec![0];
        for (gap, _) in &entries {
            times.push(times[times.len() - 1] + gap);
        }
        let pairs: Vec<(u64, u64)> = times.iter().copied().zip(entries.iter().map(|entry| entry.1)).collect();
        let rate = rates(&pairs, None);
        let length = Duration::from_millis(length_ms);
        let bytes = rate.bytes_between(ms(0), ms(length_ms));
        match Opportunities::from_rate(&rate, length) {
            Ok(trace) => {
                prop_assert_eq!(trace.times_ms().len() as u64, bytes / 1500);
                prop_assert_eq!(trace.period(), length);
                // Each comes when its bytes are full; the last one marks the end of the turn.
                let last = trace.times_ms().len() as u64 - 1;
                for at in 0..length_ms {
                    let come = trace.times_ms().partition_point(|&time| time <= at) as u64;
                    prop_assert_eq!(come, last.min(rate.bytes_between(ms(0), ms(at)) / 1500));
                }
            }
            Err(error) => {
                prop_assert!(bytes < 1500);
                prop_assert_eq!(error.fault(), &Fault::NoCapacity);
            }
        }
    }
}
