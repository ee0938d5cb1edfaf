//! Choices of the algorithms one by one.

use crate::abr::{Algorithm, Choice, Download, Estimate, View, build};
use crate::{Ladder, Qoe, Value};
use forecast::{Forecast, Foreseen, Probability, Series};
use units::{Instant, Window};

fn ladder() -> Ladder {
    Ladder::constant(4.0, vec![0.3, 0.75, 1.2, 1.85, 2.85, 4.3], 48).expect("Pensieve's ladder")
}

fn came(mbps: f64) -> Download {
    let bytes = 1_000_000;
    let elapsed_s = 8.0 / mbps;
    Download { quality: 2, bytes, received_bytes: bytes, latency_s: 0.0, elapsed_s }
}

/// Asks an algorithm once.
fn choose(abr: &str, buffer_s: f64, past: &[Download], forecast: Option<&Forecast>) -> usize {
    let (ladder, choice) = (ladder(), serde_json::from_str::<Choice>(abr).expect("an algorithm"));
    let qoe = Qoe::new(Value::Linear, &ladder);
    let estimate = past.last().map(|one| Estimate { mbps: one.mbps(), latency_s: 0.0 });
    let view = View {
        now: Instant::ZERO,
        buffer_s,
        most_buffer_s: 60.0,
        chunk: 10,
        ladder: &ladder,
        qoe: &qoe,
        past,
        estimate,
        forecast,
    };
    build(&choice).choose(&view).quality
}

#[test]
fn every_algorithm_decides_whatever_it_sees() {
    for algorithm in Algorithm::ALL {
        let name = format!("\"{algorithm}\"");
        for past in [&[][..], &[came(1e-6)], &[came(1e6); 9]] {
            for buffer_s in [0.0, 10.0, 60.0] {
                assert!(choose(&name, buffer_s, past, None) < 6, "{name}");
            }
        }
    }
}

#[test]
fn a_plan_spends_the_buffer_that_there_is() {
    // At 2 Mbit/s the steady choice is 1.85 Mbit/s; 4.3 costs more in rebuffering than it brings.
    assert_eq!(choose("\"mpc\"", 4.0, &[came(2.0); 5], None), 3);
    assert_eq!(choose("\"mpc\"", 50.0, &[came(2.0); 5], None), 5);
    assert_eq!(choose("\"mpc\"", 4.0, &[came(50.0); 5], None), 5);
}

#[test]
fn robust_mpc_lowers_the_rate_by_the_worst_error() {
    let ladder = ladder();
    let qoe = Qoe::new(Value::Linear, &ladder);
    let mut abr = build(&Algorithm::RobustMpc.into());
    let mut plain = build(&Algorithm::Mpc.into());
    let mut choose = |past: &[Download]| {
        let view = View {
            now: Instant::ZERO,
            buffer_s: 5.0,
            most_buffer_s: 60.0,
            chunk: 10,
            ladder: &ladder,
            qoe: &qoe,
            past,
            estimate: None,
            forecast: None,
        };
        (abr.choose(&view).quality, plain.choose(&view).quality)
    };
    // The first choice knows of no error.
    let (robust, plain_one) = choose(&[came(4.0)]);
    assert_eq!(robust, plain_one);
    // 4 was predicted and 1 came: an error of 3, and a quarter of the mean of 1.6 is planned with.
    let (robust, plain_one) = choose(&[came(4.0), came(1.0)]);
    assert!(robust < plain_one, "{robust} {plain_one}");
}

fn rates(mbps: &[f64]) -> Series {
    let times = (0..mbps.len()).map(|second| Instant::from_millis(1000 * second as u64)).collect();
    let values: Vec<Vec<f64>> = mbps.iter().map(|one| vec![*one]).collect();
    Series::new(times, vec![Probability::new(0.5).expect("a half")], &values).expect("a series")
}

fn foreseen(mbps: &[f64]) -> Forecast {
    Forecast { down_mbps: Some(rates(mbps)), ..Forecast::of_outages(Vec::new()) }
}

#[test]
fn a_forecast_that_knows_of_a_drop_lowers_the_quality_before_it() {
    let mut drop = vec![5.0; 6];
    drop.extend([0.2; 60]);
    for abr in ["\"mpc-forecast\"", "\"mpc-oracle\""] {
        let steady = choose(abr, 6.0, &[came(5.0); 5], Some(&foreseen(&[5.0])));
        let before = choose(abr, 6.0, &[came(5.0); 5], Some(&foreseen(&drop)));
        assert!(before < steady, "{abr}: {before} {steady}");
        assert_eq!(steady, choose("\"mpc\"", 6.0, &[came(5.0); 5], None));
    }
}

#[test]
fn a_foreseen_outage_is_a_time_in_which_nothing_comes() {
    let outage = Window::new(Instant::from_millis(2000), Instant::from_millis(14_000));
    let certain = Foreseen::certain(outage.expect("a window"));
    let unlikely = Foreseen { probability: Probability::new(0.2).expect("0.2"), ..certain };
    let with = |one| Forecast { outages: vec![one], ..foreseen(&[5.0]) };
    let past = [came(5.0); 5];
    let free = choose("\"mpc-forecast\"", 6.0, &past, Some(&foreseen(&[5.0])));
    let out = choose("\"mpc-forecast\"", 6.0, &past, Some(&with(certain)));
    assert!(out < free, "{out} {free}");
    assert_eq!(choose("\"mpc-forecast\"", 6.0, &past, Some(&with(unlikely))), free);
}

#[test]
fn without_a_forecast_they_plan_as_robust_mpc() {
    let past = [came(3.0), came(1.0), came(2.0)];
    let robust = choose("\"robust-mpc\"", 9.0, &past, None);
    let over = Forecast { valid_until: Instant::ZERO, ..foreseen(&[50.0]) };
    for abr in ["\"mpc-forecast\"", "\"mpc-oracle\""] {
        assert_eq!(choose(abr, 9.0, &past, None), robust);
        assert_eq!(choose(abr, 9.0, &past, Some(&over)), robust);
    }
}

#[test]
fn a_handover_ahead_lowers_the_quality_and_what_is_left_beyond_it_counts() {
    let outage = |start_s: u64, end_s: u64| {
        Window::new(Instant::from_millis(1000 * start_s), Instant::from_millis(1000 * end_s))
            .expect("a window")
    };
    let past = [came(5.0); 5];
    let with = |abr: &str, windows: &[Window]| {
        choose(abr, 6.0, &past, Some(&Forecast::certain(windows.iter().copied())))
    };
    let plain = "\"mpc-handovers\"";
    let free = choose("\"robust-mpc\"", 6.0, &past, None);
    assert_eq!(choose(plain, 6.0, &past, None), free, "nothing is known");
    assert_eq!(with(plain, &[]), free, "no handover comes");
    assert!(with(plain, &[outage(2, 14)]) < free, "nothing comes for 12 s");
    // A handover that interrupts nothing to speak of, after which a fifth of the rate is left.
    let short =
        [Window::new(Instant::from_millis(2000), Instant::from_millis(2010)).expect("10 ms")];
    assert_eq!(with(plain, &short), free);
    let left = r#"{"name": "mpc-handovers", "left": 0.2}"#;
    assert!(with(left, &short) < free);
    let unlikely = Foreseen {
        probability: Probability::new(0.2).expect("0.2"),
        ..Foreseen::certain(outage(2, 14))
    };
    let forecast = Forecast::of_outages(vec![unlikely]);
    assert_eq!(choose(plain, 6.0, &past, Some(&forecast)), free, "it is not likely");
}

#[test]
fn a_forecast_that_was_wrong_is_lowered_if_asked_to() {
    let ladder = ladder();
    let qoe = Qoe::new(Value::Linear, &ladder);
    let forecast = foreseen(&[5.0]);
    let ask = |abr: &str| {
        let mut abr = build(&serde_json::from_str::<Choice>(abr).expect("an algorithm"));
        let mut choose = |past: &[Download]| {
            let view = View {
                now: Instant::ZERO,
                buffer_s: 6.0,
                most_buffer_s: 60.0,
                chunk: 10,
                ladder: &ladder,
                qoe: &qoe,
                past,
                estimate: None,
                forecast: Some(&forecast),
            };
            abr.choose(&view).quality
        };
        (choose(&[came(5.0)]), choose(&[came(5.0), came(1.0)]))
    };
    let (before, after) = ask("\"mpc-forecast\"");
    assert_eq!(before, after, "it trusts the forecast");
    let (before, after) = ask(r#"{"name": "mpc-forecast", "robust": true}"#);
    assert!(after < before, "{after} {before}: 5 was foreseen, and 1 came");
}

#[test]
fn bba_takes_the_lowest_in_its_reservoir_and_the_best_beyond_its_cushion() {
    let past = [came(2.0)];
    assert_eq!(choose("\"bba\"", 22.0, &past, None), 0); // 0.375 × 60 s
    assert_eq!(choose("\"bba\"", 54.1, &past, None), 5); // (0.375 + 0.525) × 60 s
    // Half of the cushion: 2.3 Mbit/s, and 1.85 is the best below it.
    assert_eq!(choose("\"bba\"", 38.25, &past, None), 3);
}

#[test]
fn fixed_stays_within_the_ladder_of_the_player() {
    assert_eq!(choose(r#"{"name": "fixed", "quality": 3}"#, 0.0, &[], None), 3);
    assert!(serde_json::from_str::<Choice>(r#"{"name": "fixed", "quality": -1}"#).is_err());
}

#[test]
fn quality_of_experience_is_its_terms() {
    let ladder = ladder();
    let qoe = Qoe::new(Value::Linear, &ladder);
    let mut terms = crate::Terms::default();
    for (before, quality) in [(None, 0), (Some(0), 5), (Some(5), 2)] {
        qoe.add(&mut terms, before, quality);
    }
    terms.rebuffer_s = 2.0;
    assert!((terms.quality - (0.3 + 4.3 + 1.2)).abs() < 1e-12);
    assert!((terms.switches - (4.0 + 3.1)).abs() < 1e-12);
    assert!((qoe.total(&terms) - (5.8 - 4.3 * 2.0 - 7.1)).abs() < 1e-12);
    // Pensieve's logarithm: ln(4300 / 300) = 2.66 is what a second of rebuffering costs.
    let log = Qoe::new(Value::Log, &ladder);
    assert!((log.rebuffer_weight() - 2.6626).abs() < 1e-4);
}
