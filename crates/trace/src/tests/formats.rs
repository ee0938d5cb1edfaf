use crate::{
    DELAY_SPACING, Opportunities, Steps, parse_csv, parse_delays, write_csv, write_delays,
};
use proptest::prelude::*;
use units::{Bitrate, Duration, Instant};

fn csv_error(text: &str) -> String {
    parse_csv(text, "rate.csv", "rate_mbps").unwrap_err().to_string()
}

fn mahimahi_error(text: &str) -> String {
    Opportunities::parse(text, "down.trace").unwrap_err().to_string()
}

fn delay_error(text: &str) -> String {
    parse_delays(text, "owd.txt", DELAY_SPACING).unwrap_err().to_string()
}

#[test]
fn bad_csv_is_refused_with_one_sentence() {
    let after_header = |line: &str| csv_error(&format!("time_s,rate_mbps\n0,5\n{line}\n"));
    assert_eq!(csv_error(""), "rate.csv:1: there is no value; give at least one");
    assert_eq!(csv_error("time_s,rate_mbps\n"), "rate.csv:1: there is no value; give at least one");
    assert_eq!(
        csv_error("time_s,mbps\n0,5\n"),
        "rate.csv:1: no column `rate_mbps` in the header `time_s,mbps`; rename it or name another \
         column"
    );
    assert!(csv_error("rate_mbps\n5\n").starts_with("rate.csv:1: no column `time_s`"));
    assert_eq!(
        csv_error("time_s,rate_mbps\n3.5,5\n"),
        "rate.csv:2: the first time is 3.500000000s; subtract it from all times so that the series \
         starts at 0"
    );
    assert_eq!(after_header("1,-2"), "rate.csv:3: `-2` is negative; give a number of at least 0");
    assert!(after_header("-1,2").starts_with("rate.csv:3: `-1` is negative"));
    assert_eq!(
        after_header("1,NaN"),
        "rate.csv:3: `NaN` is not finite; replace it by a number or remove the line"
    );
    assert!(after_header("1,inf").starts_with("rate.csv:3: `inf` is not finite"));
    assert!(after_header("1e99,2").contains("is too large for a time; check the unit"));
    assert_eq!(
        after_header("0,6"),
        "rate.csv:3: time 0.000000000s does not come after 0.000000000s; sort the times and remove \
         doubles"
    );
    assert_eq!(
        after_header(",6"),
        "rate.csv:3: the time is missing; fill it in or remove the line"
    );
    assert!(after_header("1,").starts_with("rate.csv:3: the value is missing"));
    assert_eq!(
        after_header("1"),
        "rate.csv:3: 1 column(s) where the header has 2; complete the line, or remove it if the \
         file was cut off"
    );
    assert!(after_header("1,2,3").starts_with("rate.csv:3: 3 column(s)"));
    assert!(after_header("").starts_with("rate.csv:3: the line is empty"));
    assert_eq!(
        after_header("1,fast"),
        "rate.csv:3: `fast` is not a number; put one there (decimal point, no unit, no quotes)"
    );
}

#[test]
fn bad_mahimahi_files_are_refused_with_one_sentence() {
    assert_eq!(mahimahi_error(""), "down.trace:1: there is no value; give at least one");
    assert_eq!(
        mahimahi_error("0\n0\n"),
        "down.trace:2: the last timestamp is 0, so the trace has no duration; end it at a later \
         millisecond"
    );
    assert_eq!(mahimahi_error("1\n5\n4\n"), "down.trace:3: 4 ms comes before 5 ms; sort the lines");
    assert!(mahimahi_error("1\n-5\n").starts_with("down.trace:2: `-5` is negative"));
    assert!(mahimahi_error("1\nnan\n").starts_with("down.trace:2: `nan` is not finite"));
    assert_eq!(
        mahimahi_error("1\n2.5\n"),
        "down.trace:2: `2.5` is not a whole number of milliseconds; round it, or use a time/value \
         CSV"
    );
    assert!(mahimahi_error("1\n\n2\n").starts_with("down.trace:2: the line is empty"));
    assert!(mahimahi_error("1\n2 ms\n").starts_with("down.trace:2: `2 ms` is not a number"));
    assert!(mahimahi_error("1\n99999999999999999\n").contains("more than a week"));
    assert!(mahimahi_error("1\n99999999999999999999999\n").contains("too large"));
}

#[test]
fn bad_delay_series_are_refused_with_one_sentence() {
    assert_eq!(delay_error(""), "owd.txt:1: there is no value; give at least one");
    assert!(delay_error("12\n-1\n").starts_with("owd.txt:2: `-1` is negative"));
    assert!(delay_error("12\nNaN\n").starts_with("owd.txt:2: `NaN` is not finite"));
    assert!(delay_error("12\n\n13\n").starts_with("owd.txt:2: the line is empty"));
    assert!(delay_error("12\n13,5\n").starts_with("owd.txt:2: `13,5` is not a number"));
    let spacing = parse_delays("12\n", "owd.txt", Duration::ZERO).unwrap_err().to_string();
    assert!(spacing.starts_with("owd.txt:1: 0ns is no usable spacing"), "{spacing}");
}

#[test]
fn csv_reads_the_named_column_in_any_place() {
    let text = "\u{feff}time_s, rtt_ms ,rate_mbps\r\n0,30,5.5\r\n0.25,31,0\r\n";
    let series = parse_csv(text, "rate.csv", "rate_mbps").unwrap();
    assert_eq!(series.times(), [Instant::ZERO, Instant::from_millis(250)]);
    assert_eq!(series.values(), [5.5, 0.0]);
    assert_eq!(parse_csv(text, "rate.csv", "rtt_ms").unwrap().values(), [30.0, 31.0]);
}

#[test]
fn delays_are_spaced_evenly_and_may_be_fractional() {
    let series = parse_delays("12\n16.25\n16.25\n", "owd.txt", DELAY_SPACING).unwrap();
    assert_eq!(series.value_at(Instant::from_millis(9)), Duration::from_millis(12));
    assert_eq!(series.value_at(Instant::from_millis(10)), Duration::from_micros(16_250));
    assert_eq!(write_delays(&series, DELAY_SPACING).unwrap(), "12\n16.25\n16.25\n");
}

#[test]
fn delays_off_the_grid_are_not_written() {
    let times = vec![Instant::ZERO, Instant::from_millis(15)];
    let values = vec![Duration::from_millis(12), Duration::from_millis(13)];
    let series = Steps::new(times, values, None).unwrap();
    let error = write_delays(&series, DELAY_SPACING).unwrap_err().to_string();
    assert_eq!(
        error,
        "entry 1: the step at 0.015000000s is not a multiple of the spacing 10ms; choose a finer \
         one"
    );
    let finer = write_delays(&series, Duration::from_millis(5)).unwrap();
    assert_eq!(finer, "12\n12\n12\n13\n");
}

proptest! {
    #[test]
    fn csv_survives_a_round_trip(entries in prop::collection::vec((1_u64..10_u64.pow(13), 0_u64..10_u64.pow(12)), 1..50)) {
        let mut times = vec![Instant::ZERO];
        let mut values = vec![Bitrate::ZERO];
        for (gap, bps) in entries {
            times.push(Instant::from_nanos(times[times.len() - 1].as_nanos() + gap));
            values.push(Bitrate::from_bps(bps));
        }
        let series = Steps::new(times, values, None).unwrap();
        let text = write_csv(&series.map(Bitrate::as_mbps), "rate_mbps");
        let read = parse_csv(&text, "rate.csv", "rate_mbps").unwrap();
        prop_assert_eq!(read.map(Bitrate::from_mbps), series);
    }

    #[test]
    fn delays_survive_a_round_trip(nanos in prop::collection::vec(0_u64..10_u64.pow(10), 1..50)) {
        let times = (0..nanos.len() as u64).map(|index| Instant::from_millis(10 * index)).collect();
        let values = nanos.iter().map(|&nanos| Duration::from_nanos(nanos)).collect();
        let series = Steps::new(times, values, None).unwrap();
        let text = write_delays(&series, DELAY_SPACING).unwrap();
        prop_assert_eq!(parse_delays(&text, "owd.txt", DELAY_SPACING).unwrap(), series);
    }

    #[test]
    fn mahimahi_survives_a_round_trip(mut times_ms in prop::collection::vec(0_u64..100_000, 1..50), last in 1_u64..1000) {
        times_ms.sort_unstable();
        times_ms.push(100_000 + last);
        let trace = Opportunities::new(times_ms).unwrap();
        prop_assert_eq!(Opportunities::parse(&trace.write(), "down.trace").unwrap(), trace);
    }
}

#[test]
fn a_trace_lasts_a_week_at_most() {
    let week_ms = 7 * 24 * 3600 * 1000_u64;
    assert!(Opportunities::parse(&format!("0\n{week_ms}\n"), "week").is_ok());
    assert_eq!(
        mahimahi_error("0\n99999999999\n"),
        "down.trace:2: `99999999999 ms` is more than a week after the start; check the unit, or cut \
         the trace"
    );
    assert!(mahimahi_error(&format!("0\n{}\n", week_ms + 1)).contains("more than a week"));
    let at = |seconds: &str| parse_csv(&format!("time_s,mbps\n0,5\n{seconds},1\n"), "x", "mbps");
    assert!(at("604800").is_ok());
    let refused = at("604800.5").unwrap_err().to_string();
    assert!(refused.starts_with("x:3: `604800.5 s` is more than a week"), "{refused}");
    let day = Duration::from_secs(24 * 3600);
    assert!(parse_delays("5\n".repeat(8).as_str(), "owd", day).is_ok());
    let refused = parse_delays("5\n".repeat(9).as_str(), "owd", day).unwrap_err().to_string();
    assert!(refused.starts_with("owd:9: `691200 s` is more than a week"), "{refused}");
}

#[test]
fn a_trace_has_only_so_many_values() {
    use crate::{MOST_VALUES, limits::room_for_more};
    assert!(room_for_more(MOST_VALUES - 1, "down", 7).is_ok());
    assert_eq!(
        room_for_more(MOST_VALUES, "down", 8).unwrap_err().to_string(),
        "down:8: there are more than 100000000 values; cut the trace"
    );
}
