//! LeoCC by hand-made vectors of its filter, and what it does at a boundary.

use super::kalman::Kalman;
use crate::tests::config;
use crate::tests::model::{Loss, Model, Path};
use crate::{Algorithm, Phase};
use forecast::{Boundary, BoundaryKind, Probability};
use units::{Bitrate, Duration, Instant};

/// By the arithmetic of leocc.c: gains of 224, 162, 153, 153 in 256ths, each division rounded down.
#[test]
fn the_kalman_filter_rounds_as_the_kernel_code_does() {
    let mut filter = Kalman::default();
    let estimates = [10_000, 10_000, 10_000, 20_000].map(|measured| {
        filter.update(measured);
        filter.get()
    });
    assert_eq!(estimates, [8_750, 9_541, 9_815, 15_902]);
}

fn cruising() -> Model {
    let rate = Bitrate::from_mbps(40.0);
    let rtt = Duration::from_millis(50);
    let path = Path { rate, rtt, queue_packets: 300, loss: Loss::None, seed: 1 };
    let mut model = Model::new(Algorithm::LeoCc.build(config()), config(), path);
    model.controller.on_forecast(&[Boundary {
        at: Instant::from_millis(12_000),
        uncertainty: Duration::ZERO,
        kind: BoundaryKind::Slot,
        probability: Probability::CERTAIN,
    }]);
    model
}

/// Phases and their beginnings up to a moment, in ms.
fn phases(model: &mut Model, until_ms: u64) -> Vec<(u64, Phase)> {
    let mut seen = Vec::new();
    while model.now < Instant::from_millis(until_ms) {
        model.step();
        let phase = model.controller.phase();
        if seen.last().is_none_or(|(_, last)| *last != phase) {
            seen.push((model.now.as_nanos() / 1_000_000, phase));
        }
    }
    seen
}

#[test]
fn a_boundary_empties_the_pipe_and_starts_anew() {
    let mut model = cruising();
    phases(&mut model, 11_000);
    let seen = phases(&mut model, 14_000);
    let order: Vec<Phase> = seen.iter().map(|(_, phase)| *phase).collect();
    let expected = [Phase::ProbeBw, Phase::ProbeRtt, Phase::Startup, Phase::Drain, Phase::ProbeBw];
    assert_eq!(order, expected);
    assert!((11_900..11_960).contains(&seen[1].0), "100 ms ahead: {seen:?}");
    assert!(seen[2].0 - seen[1].0 >= 200, "emptied for 200 ms at least: {seen:?}");
}

/// The minimum RTT becomes what is seen, although it is larger than before.
#[test]
fn a_longer_path_is_seen_at_the_boundary() {
    let mut model = cruising();
    phases(&mut model, 11_000);
    model.change(Bitrate::from_mbps(40.0), Duration::from_millis(100));
    phases(&mut model, 14_000);
    let before = model.delivered_bytes;
    phases(&mut model, 18_000);
    let share = (model.delivered_bytes - before) as f64 / (4.0 * 40e6 / 8.0);
    assert!(share > 0.9, "{share}");
}

#[test]
fn without_a_forecast_nothing_starts_anew() {
    let mut model = cruising();
    model.controller.on_forecast(&[]);
    phases(&mut model, 3_000);
    let order: Vec<Phase> = phases(&mut model, 18_000).iter().map(|(_, phase)| *phase).collect();
    assert!(!order.contains(&Phase::Startup) && !order.contains(&Phase::ProbeRtt), "{order:?}");
}
