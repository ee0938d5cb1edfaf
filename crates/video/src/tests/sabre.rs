//! The adaptive player and its algorithms against Sabre (UMass-LIDS/sabre 09b03bb): the same film over the
//! same fluid network. The expected numbers are what Sabre printed.

use super::fluid::{Network, Period, play};
use crate::{Film, Ladder, Qoe, Value};
use serde_json::Value as Json;
use units::Instant;

/// What Sabre prints of a session.
#[derive(Debug)]
struct Printed {
    mean_kbps: f64,
    change_kbps: f64,
    rebuffer_s: f64,
    underflows: u64,
}

fn film(ladder: Ladder) -> Film {
    let qoe = Qoe::new(Value::Linear, &ladder);
    Film { ladder, qoe, most_buffer_s: 25.0, forecast: None, gives_up: true }
}

fn session(film: Film, abr: &str, periods: &[Period]) -> Printed {
    let mut network = Network::new(periods.to_vec());
    let session = play(film, abr, &mut network).closed(Instant::ZERO);
    let end_s = session.rows().last().expect("an end").at.as_secs_f64();
    let terms = session.terms();
    let startup_s = session.startup().expect("a start").as_secs_f64();
    let stall_s = terms.rebuffer_s;
    // Sabre divides by all time, what no chunk covers included.
    let media_s = end_s - startup_s - stall_s;
    let mean_mbps = session.mean_mbps().expect("chunks") * media_s / end_s;
    Printed {
        mean_kbps: mean_mbps * 1e3,
        change_kbps: terms.switches * 1e3,
        rebuffer_s: stall_s,
        underflows: session.underflows(),
    }
}

fn agree(found: &Printed, wanted: [f64; 4], what: &str) {
    let [mean_kbps, change_kbps, rebuffer_s, underflows] = wanted;
    assert!((found.mean_kbps / mean_kbps - 1.0).abs() < 1e-3, "{what}: {found:?}");
    assert!((found.change_kbps / change_kbps - 1.0).abs() < 1e-3, "{what}: {found:?}");
    assert!((found.rebuffer_s - rebuffer_s).abs() < 1e-3, "{what}: {found:?}");
    // Sabre counts an underflow of 0 ms where its buffer in milliseconds is off by a rounding error.
    if rebuffer_s > 0.0 || found.rebuffer_s > 0.0 {
        assert_eq!(found.underflows as f64, underflows, "{what}: {found:?}");
    }
}

/// A film of 60 chunks over a network that comes and goes.
fn ours() -> (Ladder, Vec<Period>) {
    let kbps = [300_u64, 750, 1200, 2400, 4500];
    let size = |chunk: u64, quality: usize| {
        kbps[quality] * 4000 * (90 + (7 * chunk + 3 * quality as u64) % 21) / 100 / 8
    };
    let sizes = |chunk| (0..kbps.len()).map(|quality| size(chunk, quality)).collect();
    let mbps = kbps.iter().map(|one| *one as f64 / 1e3).collect();
    let ladder = Ladder::new(4.0, mbps, (0..60).map(sizes).collect()).expect("a ladder");
    let periods = [
        (7000.0, 5000.0, 60.0),
        (9000.0, 1600.0, 40.0),
        (3000.0, 150.0, 90.0),
        (11000.0, 3100.0, 30.0),
        (6000.0, 900.0, 70.0),
        (2000.0, 0.0, 50.0),
        (13000.0, 2500.0, 45.0),
        (5000.0, 400.0, 80.0),
    ];
    let period = |(ms, kbps, latency_ms)| Period { ms, kbps, latency_ms };
    (ladder, periods.map(period).to_vec())
}

/// Name, and what Sabre prints: mean rate, changes, rebuffering, underflows.
type Wanted = (&'static str, [f64; 4]);

#[test]
fn sessions_are_sabres_where_the_network_breaks_off() {
    let wanted: [Wanted; 5] = [
        ("\"bola\"", [1842.880687, 74400.0, 0.0, 0.0]),
        (r#"{"name": "bola", "steady": true}"#, [1243.569895, 17100.0, 0.0, 0.0]),
        ("\"throughput\"", [1338.460770, 15900.0, 0.0, 0.0]),
        ("\"dynamic\"", [1909.639836, 70500.0, 4.168, 2.0]),
        ("\"dynamic-dash\"", [2047.040291, 51300.0, 3.002065, 1.0]),
    ];
    for (abr, printed) in wanted {
        let (ladder, periods) = ours();
        agree(&session(film(ladder), abr, &periods), printed, abr);
    }
}

/// A chunk that BOLA-E gives up leaves it at the very buffer at which two qualities score the same, and
/// rounding decides: it is compared where it gives up none.
#[test]
fn sessions_are_sabres_where_the_network_varies() {
    let wanted: [Wanted; 2] = [
        ("\"bola-e\"", [2281.700122, 40500.0, 0.071097, 1.0]),
        ("\"dynamic-dash\"", [2268.499635, 49200.0, 0.147226, 1.0]),
    ];
    for (abr, printed) in wanted {
        let (ladder, mut periods) = ours();
        periods.retain(|period| period.kbps > 150.0);
        agree(&session(film(ladder), abr, &periods), printed, abr);
    }
}

/// Reads a file of Sabre; `None` where its folder was not given.
fn sabres(file: &str) -> Option<Json> {
    let folder = std::env::var("SKYWEAVE_SABRE").ok()?;
    let text = std::fs::read_to_string(format!("{folder}/example/mmsys18/{file}"));
    Some(serde_json::from_str(&text.expect("the folder is a checkout of Sabre")).expect("JSON"))
}

fn numbers(json: &Json) -> Vec<f64> {
    let all = json.as_array().expect("a list");
    all.iter().map(|one| one.as_f64().expect("a number")).collect()
}

/// The published session of Sabre: Big Buck Bunny over a drive with 3G in Norway, `-b 25`.
#[test]
fn sessions_are_sabres_on_its_own_film_and_network() {
    let network = sabres("3Glogs/report.2010-09-13_1003CEST.json");
    let (Some(network), Some(movie)) = (network, sabres("bbb.json")) else {
        eprintln!("skipped: SKYWEAVE_SABRE does not name a checkout of UMass-LIDS/sabre");
        return;
    };
    let field = |period: &Json, name: &str| period[name].as_f64().expect("a number");
    let period = |one: &Json| Period {
        ms: field(one, "duration_ms"),
        kbps: field(one, "bandwidth_kbps"),
        latency_ms: field(one, "latency_ms"),
    };
    let periods: Vec<Period> = network.as_array().expect("a list").iter().map(period).collect();
    let mbps = numbers(&movie["bitrates_kbps"]).iter().map(|kbps| kbps / 1e3).collect();
    let sizes = movie["segment_sizes_bits"].as_array().expect("a list").iter();
    let bytes = |bits: &Json| numbers(bits).iter().map(|one| (one / 8.0) as u64).collect();
    let ladder = Ladder::new(3.0, mbps, sizes.map(bytes).collect()).expect("a ladder");
    let wanted: [Wanted; 5] = [
        ("\"bola\"", [1359.337404, 67371.0, 0.0, 0.0]),
        ("\"bola-e\"", [1362.775067, 49207.0, 0.0, 0.0]),
        ("\"throughput\"", [1034.485745, 8041.0, 0.0, 0.0]),
        ("\"dynamic\"", [1355.056635, 59191.0, 0.0, 1.0]),
        ("\"dynamic-dash\"", [1364.983202, 42697.0, 0.0, 0.0]),
    ];
    for (abr, printed) in wanted {
        agree(&session(film(ladder.clone()), abr, &periods), printed, abr);
    }
}
