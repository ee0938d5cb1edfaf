use crate::*;
use proptest::prelude::*;
use units::{Bitrate, Duration, Instant, Window};

fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

fn likely(start_ms: u64, end_ms: u64, probability: f64) -> Foreseen {
    let window = Window::new(ms(start_ms), ms(end_ms)).unwrap();
    Foreseen { window, probability: Probability::new(probability).unwrap() }
}

fn config(json: &str) -> ForecastConfig {
    serde_json::from_str(json).unwrap()
}

fn refusal(json: &str) -> String {
    config(json).build(ms(1000)).unwrap_err().to_string()
}

// ---- outages ---------------------------------------------------------------------------------

#[test]
fn the_next_outage_is_the_next_one_that_is_likely_enough() {
    let foreseen = vec![likely(9000, 9500, 0.9), likely(1000, 2000, 0.2), likely(4000, 5000, 0.6)];
    let known = Forecast::of_outages(foreseen);
    let next = |now, least| known.outage(now, Probability::new(least).unwrap());
    assert_eq!(next(ms(0), 0.0), Some(likely(1000, 2000, 0.2)));
    assert_eq!(next(ms(0), 0.5), Some(likely(4000, 5000, 0.6)));
    assert_eq!(next(ms(4999), 0.6), Some(likely(4000, 5000, 0.6)), "under way");
    assert_eq!(next(ms(5000), 0.6), Some(likely(9000, 9500, 0.9)), "the end is not part of it");
    assert_eq!(next(ms(0), 0.95), None);
}

#[test]
fn outages_that_meet_are_one_as_likely_as_the_likeliest() {
    let known =
        Forecast::of_outages(vec![likely(0, 10, 0.3), likely(10, 20, 0.8), likely(15, 30, 0.5)]);
    assert_eq!(known.outages(Probability::NEVER), [likely(0, 30, 0.8)]);
    assert_eq!(known.outages(Probability::EVEN), [likely(10, 30, 0.8)]);
}

#[test]
fn nothing_is_said_beyond_the_end_of_a_forecast() {
    let mut known = Forecast::of_outages(vec![likely(10, 20, 1.0), likely(40, 50, 1.0)]);
    known.valid_until = ms(15);
    known.rtt_ms = Some(steps(&[0], &[(0.5, 40.0)]));
    assert_eq!(known.outages(Probability::EVEN), [likely(10, 20, 1.0)]);
    assert_eq!(known.rtt(ms(14), Probability::EVEN), Some(Duration::from_millis(40)));
    assert_eq!(known.rtt(ms(15), Probability::EVEN), None);
    assert!(known.is_over(ms(15)) && !known.is_over(ms(14)));
}

// ---- boundaries --------------------------------------------------------------------------------

fn boundary(at_ms: u64, uncertainty_ms: u64) -> Boundary {
    let uncertainty = Duration::from_millis(uncertainty_ms);
    let kind = BoundaryKind::Slot;
    Boundary { at: ms(at_ms), uncertainty, kind, probability: Probability::CERTAIN }
}

#[test]
fn boundaries_come_in_order_and_end_with_the_forecast() {
    let mut known = Forecast::of_outages(vec![]);
    known.boundaries = vec![boundary(27_000, 0), boundary(12_000, 300), boundary(42_000, 0)];
    known.valid_until = ms(42_000);
    assert_eq!(known.boundaries(), [boundary(12_000, 300), boundary(27_000, 0)]);
    let later = known.later_by(Duration::from_secs(1));
    assert_eq!(later.boundaries(), [boundary(13_000, 300), boundary(28_000, 0)]);
    assert_eq!(boundary(100, 300).earliest(), Instant::ZERO, "no time before the run");
    assert_eq!(boundary(100, 300).latest(), ms(400));
}

#[test]
fn a_feed_has_the_boundaries_of_the_forecast_issued_last() {
    let mut feed = Feed::default();
    assert_eq!(feed.boundaries(), []);
    let mut known = Forecast::of_outages(vec![]);
    (known.issued_at, known.boundaries) = (ms(10), vec![boundary(12_000, 0)]);
    assert!(feed.update(known.clone()));
    (known.issued_at, known.boundaries) = (ms(9), vec![boundary(13_000, 0)]);
    assert!(!feed.update(known));
    assert_eq!(feed.boundaries(), [boundary(12_000, 0)]);
}

#[test]
fn a_boundary_is_read_with_its_defaults_and_refused_when_it_makes_no_sense() {
    let read = |json: &str| config(json).build(ms(1000)).unwrap().boundaries;
    assert_eq!(read(r#"{"boundaries": [{"at_s": 12}]}"#), [boundary(12_000, 0)]);
    let whole = r#"{"at_s": 1, "uncertainty_s": 0.3, "kind": "handover", "probability": 0.25}"#;
    let one = read(&format!(r#"{{"boundaries": [{whole}]}}"#))[0];
    assert_eq!((one.kind, one.probability.get()), (BoundaryKind::Handover, 0.25));
    assert_eq!(
        refusal(r#"{"boundaries": [{"at_s": -1}]}"#),
        "boundaries.at_s is -1; give seconds from 0 to 1e9"
    );
    assert_eq!(
        refusal(r#"{"boundaries": [{"at_s": 1, "probability": 2}]}"#),
        "boundaries.probability is 2; give a probability from 0 to 1"
    );
}

// ---- series ----------------------------------------------------------------------------------

/// The same quantiles at all times.
fn steps(times_ms: &[u64], row: &[(f64, f64)]) -> Series {
    let (quantiles, values): (Vec<f64>, Vec<f64>) = row.iter().copied().unzip();
    let quantiles = quantiles.into_iter().map(|one| Probability::new(one).unwrap()).collect();
    let rows = vec![values; times_ms.len()];
    Series::new(times_ms.iter().copied().map(ms).collect(), quantiles, &rows).unwrap()
}

#[test]
fn quantiles_lie_on_the_line_between_those_that_are_given() {
    let known = steps(&[1000, 2000], &[(0.1, 10.0), (0.5, 30.0), (0.9, 40.0)]);
    let at = |time, quantile| known.value(time, Probability::new(quantile).unwrap());
    assert_eq!(at(ms(999), 0.5), None, "before the first time");
    assert_eq!(at(ms(1000), 0.5), Some(30.0));
    assert_eq!(at(ms(1000), 0.3), Some(20.0));
    assert_eq!((at(ms(9999), 0.0), at(ms(9999), 1.0)), (Some(10.0), Some(40.0)));
}

#[test]
fn capacity_and_round_trips_have_their_units() {
    let known = config(
        r#"{"down_mbps": {"times_s": [0, 5], "quantiles": [0.5], "values": [[20], [0]]},
            "up_mbps": {"times_s": [0], "quantiles": [0.5], "values": [[2.5]]},
            "rtt_ms": {"times_s": [2], "quantiles": [0.5], "values": [[60]]}}"#,
    );
    let known = known.build(ms(1000)).unwrap();
    let median = Probability::EVEN;
    assert_eq!(known.issued_at, ms(1000), "made when it arrives, unless it says otherwise");
    assert_eq!(known.down(ms(4999), median), Some(Bitrate::from_mbps(20.0)));
    assert_eq!(known.down(ms(5000), median), Some(Bitrate::ZERO));
    assert_eq!(known.up(ms(0), median), Some(Bitrate::from_mbps(2.5)));
    assert_eq!(known.rtt(ms(1999), median), None);
    assert_eq!(known.rtt(ms(2000), median), Some(Duration::from_millis(60)));
}

// ---- the feed --------------------------------------------------------------------------------

fn issued(at_ms: u64, outages: Vec<Foreseen>) -> Forecast {
    Forecast { issued_at: ms(at_ms), ..Forecast::of_outages(outages) }
}

#[test]
fn the_forecast_issued_last_counts_in_whatever_order_they_arrive() {
    let mut feed = Feed::new(Probability::EVEN);
    assert!(!feed.advance(ms(0)));
    assert!(feed.update(issued(10, vec![likely(100, 200, 1.0)])));
    assert!(feed.update(issued(30, vec![likely(150, 250, 0.7), likely(90, 95, 0.4)])));
    assert!(!feed.update(issued(20, vec![likely(60, 70, 1.0)])), "it was made before");
    assert_eq!(feed.outage(), Some(likely(150, 250, 0.7)), "0.4 is not likely enough");
    assert!(feed.advance(ms(249)) && feed.outage().is_some());
    assert!(feed.advance(ms(250)), "there was one until now");
    assert_eq!((feed.outage(), feed.advance(ms(251))), (None, false));
    assert!(feed.update(issued(30, vec![])), "a repetition may correct");
    assert_eq!(feed.forecast().map(|known| known.outages.len()), Some(0));
}

#[test]
fn updates_are_put_in_order_of_arrival() {
    let configs: Vec<UpdateConfig> = serde_json::from_str(
        r#"[{"arrives_s": 5, "forecast": {"outages": []}},
            {"arrives_s": 2, "forecast": {"issued_at_s": 1.5, "outages": [{"start_s": 7, "end_s": 8}]}}]"#,
    )
    .unwrap();
    let built = updates(&configs).unwrap();
    assert_eq!(built.iter().map(|one| one.arrives).collect::<Vec<_>>(), [ms(2000), ms(5000)]);
    assert_eq!(built[0].forecast.issued_at, ms(1500));
    assert_eq!(built[0].forecast.outages, [likely(7000, 8000, 1.0)], "certain by default");
    assert_eq!(built[1].forecast.issued_at, ms(5000));
}

#[test]
fn a_forecast_moves_with_the_beginning_of_its_run() {
    let json = r#"{"arrives_s": 3, "forecast": {"valid_until_s": 60, "outages": [
        {"start_s": 7, "end_s": 8}], "rtt_ms": {"times_s": [5], "quantiles": [0.5], "values": [[9]]}}}"#;
    let update = updates(&[serde_json::from_str(json).unwrap()]).unwrap().remove(0);
    let moved = update.later_by(Duration::from_secs(100));
    assert_eq!((moved.arrives, moved.forecast.issued_at), (ms(103_000), ms(103_000)));
    assert_eq!(moved.forecast.valid_until, ms(160_000));
    assert_eq!(moved.forecast.outages, [likely(107_000, 108_000, 1.0)]);
    assert_eq!(moved.forecast.rtt(ms(104_999), Probability::EVEN), None);
    assert!(moved.forecast.rtt(ms(105_000), Probability::EVEN).is_some());
}

// ---- what comes from outside -----------------------------------------------------------------

#[test]
fn bad_forecasts_are_refused_in_a_sentence() {
    let series = |times: &str, quantiles: &str, values: &str| {
        refusal(&format!(
            r#"{{"rtt_ms": {{"times_s": {times}, "quantiles": {quantiles}, "values": {values}}}}}"#
        ))
    };
    let said = [
        refusal(r#"{"outages": [{"start_s": 2, "end_s": 2}]}"#),
        refusal(r#"{"outages": [{"start_s": -1, "end_s": 2}]}"#),
        refusal(r#"{"outages": [{"start_s": 1, "end_s": 1e300}]}"#),
        refusal(r#"{"outages": [{"start_s": 1, "end_s": 2, "probability": 1.5}]}"#),
        refusal(r#"{"issued_at_s": 3}"#),
        refusal(r#"{"issued_at_s": 1, "valid_until_s": 1}"#),
        series("[]", "[0.5]", "[]"),
        series("[1, 1]", "[0.5]", "[[1], [2]]"),
        series("[1]", "[0.5, 0.1]", "[[1, 2]]"),
        series("[1, 2]", "[0.5]", "[[1], [2, 3]]"),
        series("[1, 2]", "[0.5]", "[[1]]"),
        series("[1]", "[0.1, 0.5]", "[[2, 1]]"),
        series("[1]", "[0.5]", "[[-1]]"),
    ];
    let expected = [
        "outages[0] from 2 s to 2 s: end_s must be after start_s",
        "outages.start_s is -1; give seconds from 0 to 1e9",
        "outages.end_s is 1000000000000000000000",
        "outages.probability is 1.5; give a probability from 0 to 1",
        "arrives_s is 1 s: it must not be before issued_at_s, 3 s",
        "valid_until_s is 1 s: it must be after issued_at_s, 1 s",
        "times_s: give at least one number, each larger than the one before it",
        "times_s: give at least one number, each larger than the one before it",
        "quantiles: give at least one number, each larger than the one before it",
        "values: give 2 rows, one for each time, of 1 numbers, one for each quantile",
        "values: give 2 rows, one for each time, of 1 numbers, one for each quantile",
        "values[0]: the values of a row must not fall, for its quantiles rise",
        "a number in values is -1; give a finite number of at least 0",
    ];
    for (said, expected) in said.iter().zip(expected) {
        assert!(said.starts_with(expected), "{said:?} instead of {expected:?}");
    }
    assert!(serde_json::from_str::<ForecastConfig>(r#"{"outage": []}"#).is_err(), "a typo");
}

#[test]
fn what_is_too_long_is_refused() {
    let one = ForecastWindow { start_s: 1.0, end_s: 2.0, probability: 1.0 };
    let long = ForecastConfig { outages: vec![one; 1_000_001], ..ForecastConfig::default() };
    let said = long.build(Instant::ZERO).unwrap_err().to_string();
    assert_eq!(
        said,
        "the forecast has 1000001 outages: at most 1000000 are possible; make it shorter"
    );
    let quantiles: Vec<Probability> =
        (0..100).map(|n| Probability::new(f64::from(n) / 100.0).unwrap()).collect();
    assert!(Series::new(vec![ms(0)], quantiles, &[vec![1.0; 100]]).is_err());
    let update = UpdateConfig { arrives_s: 0.0, forecast: ForecastConfig::default() };
    assert!(updates(&vec![update; 100_001]).is_err());
}

fn any_number() -> impl Strategy<Value = f64> {
    prop_oneof![0.0..1.0, 0.0..1e3, any::<f64>()]
}

fn any_series() -> impl Strategy<Value = Option<SeriesConfig>> {
    let numbers = || prop::collection::vec(any_number(), 0..4);
    let values = prop::collection::vec(numbers(), 0..4);
    prop::option::of(
        (numbers(), numbers(), values).prop_map(|(times_s, quantiles, values)| SeriesConfig {
            times_s,
            quantiles,
            values,
        }),
    )
}

proptest! {
    /// Whatever numbers arrive: either a refusal, or a forecast that answers every question sensibly.
    #[test]
    fn any_numbers_are_refused_or_make_sense(
        outages in prop::collection::vec((any_number(), any_number(), any_number()), 0..6),
        down_mbps in any_series(),
        at in 0_u64..2_000_000_000_000,
        least in 0.0..=1.0,
    ) {
        let outages = outages.into_iter().map(|(start_s, length_s, probability)| ForecastWindow {
            start_s,
            end_s: start_s + length_s,
            probability,
        });
        let config =
            ForecastConfig { outages: outages.collect(), down_mbps, ..ForecastConfig::default() };
        let Ok(known) = config.build(Instant::ZERO) else { return Ok(()) };
        let (at, least) = (Instant::from_nanos(at), Probability::new(least).unwrap());
        let likely = known.outages(least);
        prop_assert!(likely.windows(2).all(|pair| pair[0].window.end < pair[1].window.start));
        prop_assert!(likely.iter().all(|one| one.probability >= least));
        let mut feed = Feed::new(least);
        feed.update(known.clone());
        feed.advance(at);
        prop_assert_eq!(feed.outage(), known.outage(at, least));
        prop_assert!(feed.outage().is_none_or(|one| at < one.window.end));
        if let (Some(low), Some(high)) =
            (known.down(at, Probability::NEVER), known.down(at, Probability::CERTAIN))
        {
            prop_assert!(low <= known.down(at, least).unwrap());
            prop_assert!(known.down(at, least).unwrap() <= high);
        }
    }
}
