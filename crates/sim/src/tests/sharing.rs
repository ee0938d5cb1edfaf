use super::world::*;
use crate::simulate;
use congestion::Algorithm as Congestion;
use mptcp::Mode;

#[test]
fn two_equal_flows_share_a_link_fairly() {
    let one = connection(Mode::Tcp, Congestion::Cubic, seconds(120.0));
    let outcome = run(vec![path("a", 40.0, 40.0)], vec![one.clone(), one]);
    let rates: Vec<f64> = (0..2).map(|flow| goodput_between(&outcome, flow, 20.0, 120.0)).collect();
    let jain = (rates[0] + rates[1]).powi(2) / (2.0 * (rates[0].powi(2) + rates[1].powi(2)));
    assert!(jain > 0.9, "{rates:?}");
    assert!(rates[0] + rates[1] > 0.9 * 40.0 * 1448.0 / 1500.0, "{rates:?}");
}

#[test]
fn a_later_flow_starts_later_and_slows_the_first() {
    let first = connection(Mode::Tcp, Congestion::Cubic, seconds(40.0));
    let mut second = first.clone();
    second.start_s = 20.0;
    bulk(&mut second).duration_s = Some(20.0);
    let outcome = run(vec![path("a", 40.0, 40.0)], vec![first, second]);
    let alone = goodput_between(&outcome, 0, 10.0, 20.0);
    let beside = goodput_between(&outcome, 0, 25.0, 40.0);
    assert!(beside < 0.8 * alone, "{beside} {alone}");
    let early = outcome.samples.iter().any(|row| row.connection == 1 && row.time_s <= 20.0);
    assert!(!early);
}

/// Two subflows over one path share its links: they fill it as one does, and the record sums them up.
#[test]
fn subflows_over_one_path_share_its_links() {
    let outcome = |subflows| {
        let mut one = connection(Mode::V096, Congestion::Cubic, seconds(10.0));
        one.subflows_per_path = subflows;
        run(vec![path("a", 20.0, 40.0), path("b", 10.0, 80.0)], vec![one])
    };
    let (alone, together) = (outcome(1), outcome(3));
    assert!(goodput(&together) > 0.9 * goodput(&alone));
    assert!(goodput(&together) < 30.0);
    let paths = &together.totals.connections[0].paths;
    assert_eq!(paths.keys().collect::<Vec<_>>(), ["a", "b"]);
    // What waits for a hole at the end has come, too.
    let come = paths["a"].unique_bytes + paths["b"].unique_bytes;
    assert!(come >= together.totals.connections[0].delivered_bytes);
    assert_eq!(times(&together, "established", 0).len(), 3);
}

#[test]
fn too_many_subflows_are_refused() {
    let mut one = connection(Mode::V096, Congestion::Cubic, seconds(1.0));
    one.subflows_per_path = 65;
    let refused = simulate(&config(vec![path("a", 20.0, 40.0)], vec![one])).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the run has 65 subflows of a connection: at most 64 are possible"
    );
}
