//! Forecasts that arrive and are corrected during a run, and those that are not certain.

use super::world::*;
use crate::connection::{Connection, Side};
use crate::exposure::Exposure;
use crate::{ConnectionConfig, Outcome, RunConfig, simulate};
use application::{Application, Streams};
use congestion::Algorithm as Congestion;
use forecast::{ForecastConfig, ForecastWindow, Probability, UpdateConfig};
use link::{PathConfig, PathForecast};
use mptcp::Mode;
use scheduler::{Algorithm as Scheduling, Choice};
use units::{Instant, PathId};

fn outage(start_s: f64, end_s: f64) -> ForecastWindow {
    ForecastWindow { start_s, end_s, probability: 1.0 }
}

fn says(outages: &[ForecastWindow]) -> ForecastConfig {
    ForecastConfig { outages: outages.to_vec(), ..ForecastConfig::default() }
}

/// ALCS over both transports for 10 s, with the `k` that keeps both paths in use.
fn both() -> [ConnectionConfig; 2] {
    let tcp = connection(Mode::V096, Congestion::Cubic, seconds(10.0));
    let quic = quic(Scheduling::Alcs, Congestion::Cubic, seconds(10.0));
    let alcs: Choice = serde_json::from_str(r#"{"name": "alcs", "k": "one"}"#).unwrap();
    [tcp, quic].map(|one| ConnectionConfig { scheduler: alcs.clone(), ..one })
}

fn paths(sat: PathConfig) -> Vec<PathConfig> {
    vec![sat, path("terr", 20.0, 40.0)]
}

fn sat() -> PathConfig {
    path("sat", 30.0, 60.0)
}

/// What the satellite path delivered from one moment to another.
fn delivered(outcome: &Outcome, from_s: f64, to_s: f64) -> u64 {
    let until = |time_s: f64| {
        let rows = outcome.samples.iter().filter(|row| row.path == Some(0));
        rows.filter(|row| row.time_s <= time_s + 1e-6).map(|row| row.delivered_bytes).max()
    };
    until(to_s).unwrap_or(0) - until(from_s).unwrap_or(0)
}

fn lost_in_outages(outcome: &Outcome) -> u64 {
    outcome.totals.links["sat.down"].dropped_outage
}

/// The outage comes at 6 s; at first it was foreseen for 4 s.
#[test]
fn a_correction_moves_the_rest_to_where_the_outage_is() {
    for one in both() {
        let run_with = |updates: Vec<UpdateConfig>| {
            let mut sat = with_gap(sat(), 6.0, 7.0);
            sat.forecast = PathForecast::Outages(vec![outage(4.0, 5.0)]);
            sat.forecast_updates = updates;
            run(paths(sat), vec![one.clone()])
        };
        let wrong = run_with(vec![]);
        assert_eq!(delivered(&wrong, 4.2, 4.9), 0, "{:?} rests for nothing", one.transport);
        assert!(lost_in_outages(&wrong) > 10, "{:?}: {}", one.transport, lost_in_outages(&wrong));
        let forecast = says(&[outage(6.0, 7.0)]);
        let right = run_with(vec![UpdateConfig { arrives_s: 2.0, forecast }]);
        assert!(delivered(&right, 4.2, 4.9) > 500_000, "{:?}", one.transport);
        assert_eq!(lost_in_outages(&right), 0, "{:?}", one.transport);
    }
}

#[test]
fn a_path_at_rest_wakes_when_its_outage_is_called_off() {
    for one in both() {
        let run_with = |updates: Vec<UpdateConfig>| {
            let mut sat = sat();
            sat.forecast = PathForecast::Outages(vec![outage(3.0, 8.0)]);
            sat.forecast_updates = updates;
            run(paths(sat), vec![one.clone()])
        };
        assert_eq!(delivered(&run_with(vec![]), 4.5, 7.9), 0, "{:?}", one.transport);
        let woken = run_with(vec![UpdateConfig { arrives_s: 4.0, forecast: says(&[]) }]);
        assert_eq!(delivered(&woken, 3.3, 3.9), 0, "{:?}", one.transport);
        assert!(delivered(&woken, 4.5, 7.9) > 2_000_000, "{:?}", one.transport);
    }
}

#[test]
fn an_outage_that_is_announced_during_the_run_is_avoided() {
    for one in both() {
        let mut sat = with_gap(sat(), 6.0, 7.0);
        let forecast = says(&[outage(6.0, 7.0)]);
        sat.forecast_updates = vec![UpdateConfig { arrives_s: 5.0, forecast }];
        let outcome = run(paths(sat), vec![one.clone()]);
        assert_eq!(lost_in_outages(&outcome), 0, "{:?}", one.transport);
    }
}

/// An update that was made before what is known already says nothing new.
#[test]
fn a_forecast_that_was_overtaken_changes_nothing() {
    for one in both() {
        let mut known = with_gap(sat(), 6.0, 7.0);
        known.forecast_updates =
            vec![UpdateConfig { arrives_s: 2.0, forecast: says(&[outage(6.0, 7.0)]) }];
        let mut overtaken = known.clone();
        let issued = ForecastConfig { issued_at_s: Some(1.0), ..says(&[outage(3.0, 5.0)]) };
        overtaken.forecast_updates.push(UpdateConfig { arrives_s: 2.5, forecast: issued });
        let [known, overtaken] = [known, overtaken].map(|sat| run(paths(sat), vec![one.clone()]));
        assert!(delivered(&overtaken, 3.2, 4.9) > 1_000_000, "{:?}", one.transport);
        assert_eq!(lost_in_outages(&overtaken), 0, "{:?}", one.transport);
        assert_eq!(delivered(&known, 0.0, 9.9), delivered(&overtaken, 0.0, 9.9));
    }
}

#[test]
fn an_outage_must_be_likely_enough() {
    for one in both() {
        let lost = |probability: f64, scheduler: &str| {
            let mut sat = with_gap(sat(), 4.0, 5.0);
            let gap = ForecastWindow { probability, ..outage(4.0, 5.0) };
            sat.forecast = PathForecast::Outages(vec![gap]);
            let scheduler = serde_json::from_str(scheduler).unwrap();
            let one = ConnectionConfig { scheduler, ..one.clone() };
            lost_in_outages(&run(paths(sat), vec![one]))
        };
        assert!(lost(0.4, r#"{"name": "alcs", "k": "one"}"#) > 10, "{:?}", one.transport);
        assert_eq!(lost(0.5, r#"{"name": "alcs", "k": "one"}"#), 0, "{:?}", one.transport);
        let bold = r#"{"name": "alcs", "k": "one", "outage_probability": 0.3}"#;
        assert_eq!(lost(0.4, bold), 0, "{:?}", one.transport);
    }
}

#[test]
fn updates_that_make_no_sense_are_refused() {
    let refused = |updates: &str| {
        let mut path = sat();
        path.forecast_updates = serde_json::from_str(updates).unwrap();
        let config: RunConfig = config(vec![path], vec![both()[0].clone()]);
        simulate(&config).unwrap_err().to_string()
    };
    assert_eq!(
        refused(r#"[{"arrives_s": 1, "forecast": {"issued_at_s": 2}}]"#),
        "forecast_updates of path 'sat': arrives_s is 1 s: it must not be before issued_at_s, 2 s"
    );
    assert!(refused(r#"[{"arrives_s": -1, "forecast": {}}]"#).contains("arrives_s is -1"));
}

/// Notes how many outages of the first path it sees.
#[derive(Debug, Default)]
struct Looking {
    seen: Option<usize>,
}

impl Application for Looking {
    fn poll_at(&self) -> Option<Instant> {
        Some(Instant::ZERO)
    }

    fn on_timer(&mut self, _now: Instant, streams: &mut dyn Streams) {
        let known = streams.forecast(PathId(0));
        self.seen = known.map(|known| known.outages(Probability::EVEN).len());
    }
}

/// The scheduler of the end that sends acts on a forecast; the applications of both see it.
#[test]
fn applications_at_both_ends_see_what_is_foreseen() {
    let config = connection(Mode::V096, Congestion::Cubic, seconds(10.0));
    let own = (&config.scheduler).into();
    let exposure = Exposure::new(vec![vec![]]);
    let mut one = Connection::new(&config, (vec![0], vec![false]), 1, own, exposure).unwrap();
    let look = |side: &mut Side| {
        let mut application = Looking::default();
        side.end.serve(Instant::ZERO, &mut application);
        application.seen
    };
    assert_eq!([&mut one.client, &mut one.server].map(look), [None, None]);
    let forecast = says(&[outage(6.0, 7.0)]).build(Instant::ZERO).unwrap();
    one.set_forecast(PathId(0), &forecast);
    assert_eq!([&mut one.client, &mut one.server].map(look), [Some(1), Some(1)]);
}

// ---- boundaries --------------------------------------------------------------------------------

fn boundary_at(at_s: f64) -> ForecastConfig {
    let one = format!(r#"{{"boundaries": [{{"at_s": {at_s}, "uncertainty_s": 0.3}}]}}"#);
    serde_json::from_str(&one).unwrap()
}

/// One path alone for 8 s, by each transport.
fn each_transport(congestion: &str) -> [ConnectionConfig; 3] {
    let tcp = connection(Mode::Tcp, Congestion::Cubic, seconds(8.0));
    let mptcp = connection(Mode::V096, Congestion::Cubic, seconds(8.0));
    let quic = quic(Scheduling::MinRtt, Congestion::Cubic, seconds(8.0));
    let congestion: congestion::Choice = serde_json::from_str(congestion).unwrap();
    [tcp, mptcp, quic].map(|one| ConnectionConfig { congestion: congestion.clone(), ..one })
}

const HEEDS: &str = r#"{"name": "boundary", "over": "cubic", "evidence": false}"#;

/// A tenth of a second without service at 5 s; known from the beginning, from 2 s on, or not.
fn with_boundary(one: &ConnectionConfig, known: Option<f64>) -> Outcome {
    let mut sat = with_gap(path("sat", 30.0, 60.0), 5.0, 5.1);
    match known {
        Some(0.0) => sat.forecast = PathForecast::Whole(Box::new(boundary_at(5.0))),
        Some(arrives_s) => {
            sat.forecast_updates = vec![UpdateConfig { arrives_s, forecast: boundary_at(5.0) }];
        }
        None => {}
    }
    run(vec![sat], vec![one.clone()])
}

/// The congestion window of the path at a sample.
fn window_at(outcome: &Outcome, time_s: f64) -> f64 {
    let at = |row: &&crate::SampleRow| row.path == Some(0) && (row.time_s - time_s).abs() < 1e-6;
    outcome.samples.iter().find(at).unwrap().cwnd_packets as f64
}

#[test]
fn a_boundary_reaches_the_congestion_control_under_every_transport() {
    for one in each_transport(HEEDS) {
        let kept = |known| {
            let outcome = with_boundary(&one, known);
            window_at(&outcome, 5.5) / window_at(&outcome, 4.9)
        };
        let (unknown, known, told) = (kept(None), kept(Some(0.0)), kept(Some(2.0)));
        assert!(unknown < 0.85, "{:?}: {unknown}", one.transport);
        assert!(known > 0.95 && told > 0.95, "{:?}: {known} {told}", one.transport);
    }
}

#[test]
fn a_control_that_knows_nothing_of_boundaries_ignores_them() {
    for one in each_transport(r#""cubic""#) {
        let samples = |known| format!("{:?}", with_boundary(&one, known).samples);
        assert_eq!(samples(Some(0.0)), samples(None), "{:?}", one.transport);
    }
}
