//! What the control does around boundaries, and that it does nothing without them.

mod evidence;

use super::*;
use crate::tests::model::{Loss, Model, Path};
use crate::tests::{MSS, config, with};
use crate::{Algorithm, Choice};
use parameters::{Given, Named};
use proptest::prelude::*;

fn seconds(s: u64) -> Instant {
    Instant::from_millis(1000 * s)
}

fn slot(at: Instant, uncertainty_ms: u64) -> Boundary {
    Boundary {
        at,
        uncertainty: Duration::from_millis(uncertainty_ms),
        kind: BoundaryKind::Slot,
        probability: Probability::CERTAIN,
    }
}

/// One that believes each hint, over `over`.
fn trusting(over: &str) -> Box<dyn Controller> {
    let given = [("evidence", Given::Flag(false)), ("over", Given::Text(over.into()))];
    with(Algorithm::Boundary, &given)
}

/// What such a one is made of.
fn choice() -> Choice {
    let parameters = [("evidence".to_owned(), Given::Flag(false))].into();
    Choice::try_from(Named::With { name: "boundary".into(), parameters }).unwrap()
}

fn path(loss: Loss) -> Path {
    let rate = Bitrate::from_mbps(40.0);
    Path { rate, rtt: Duration::from_millis(50), queue_packets: 200, loss, seed: 3 }
}

fn model(controller: Box<dyn Controller>, loss: Loss) -> Model {
    Model::new(controller, config(), path(loss))
}

fn run(model: &mut Model, until: Instant) {
    while model.now < until {
        model.step();
    }
}

fn wrapped(over: &str) -> Algorithm {
    if over == "cubic" { Algorithm::Cubic } else { Algorithm::Bbr3 }
}

/// Hints that must change nothing.
fn useless() -> Vec<Vec<Boundary>> {
    let at = seconds(12);
    let vague = slot(at, 1001);
    let unlikely = Boundary { probability: Probability::new(0.4).unwrap(), ..slot(at, 100) };
    let outage = Boundary { kind: BoundaryKind::Outage, ..slot(at, 100) };
    let unproven = (0..4).map(|n| slot(seconds(12 + 15 * n), 300)).collect();
    vec![vec![], vec![vague], vec![unlikely], vec![outage], unproven]
}

#[test]
fn without_a_hint_that_counts_it_is_exactly_what_it_wraps() {
    for over in ["bbr3", "cubic"] {
        for hints in useless() {
            let named = [("over", Given::Text(over.into()))];
            let mut ours = model(with(Algorithm::Boundary, &named), Loss::Random(1e-3));
            let mut plain = model(wrapped(over).build(config()), Loss::Random(1e-3));
            ours.controller.on_forecast(&hints);
            while plain.now < seconds(30) {
                ours.step();
                plain.step();
                let state = |one: &Model| {
                    let controller = &one.controller;
                    (one.now, controller.window_bytes(), controller.pacing_rate())
                };
                assert_eq!(state(&ours), state(&plain), "over {over}: {hints:?}");
            }
        }
    }
}

/// A forecast from long ago arrives: all of its boundaries are past.
#[test]
fn a_stale_forecast_changes_nothing() {
    let mut ours = model(trusting("bbr3"), Loss::None);
    let mut plain = model(Algorithm::Bbr3.build(config()), Loss::None);
    for one in [&mut ours, &mut plain] {
        run(one, seconds(10));
    }
    ours.controller.on_forecast(&[slot(seconds(3), 200), slot(seconds(9), 200)]);
    for one in [&mut ours, &mut plain] {
        run(one, seconds(20));
    }
    assert_eq!(ours.delivered_bytes, plain.delivered_bytes);
    assert_eq!(ours.controller.window_bytes(), plain.controller.window_bytes());
}

/// 100 ms without service at a boundary, in which CUBIC would lose 30 % of its window.
#[test]
fn losses_at_a_boundary_do_not_cut_the_window() {
    let gap = Loss::Outage(seconds(12), Instant::from_millis(12_100));
    let after_gap = |controller, hints: &[Boundary]| {
        let mut one = model(controller, gap);
        one.controller.on_forecast(hints);
        run(&mut one, seconds(12));
        let before = one.controller.window_bytes();
        run(&mut one, Instant::from_millis(12_400));
        assert!(one.lost_packets > 0);
        one.controller.window_bytes() as f64 / before as f64
    };
    let kept = after_gap(trusting("cubic"), &[slot(seconds(12), 300)]);
    let cut = after_gap(Algorithm::Cubic.build(config()), &[]);
    assert!(kept > 0.99, "{kept}");
    assert!(cut < 0.75, "{cut}");
}

/// The next satellite has a third of the rate; no loss says so, for the queue is deep.
#[test]
fn a_path_that_changed_is_modelled_anew_at_once() {
    let rate_after = |controller, hints: &[Boundary]| {
        let deep = Path { queue_packets: 2000, ..path(Loss::None) };
        let mut one = Model::new(controller, config(), deep);
        one.controller.on_forecast(hints);
        run(&mut one, seconds(12));
        one.change(Bitrate::from_mbps(13.0), Duration::from_millis(50));
        run(&mut one, Instant::from_millis(13_000));
        one.controller.pacing_rate().unwrap().as_bps() as f64 / 13e6
    };
    let told = rate_after(trusting("bbr3"), &[slot(seconds(12), 100)]);
    let alone = rate_after(Algorithm::Bbr3.build(config()), &[]);
    assert!(told < 1.7, "{told}");
    assert!(alone > 2.0, "{alone}");
}

#[test]
fn a_path_that_did_not_change_keeps_its_model() {
    let mut one = model(trusting("bbr3"), Loss::None);
    one.controller.on_forecast(&[slot(seconds(12), 200)]);
    run(&mut one, seconds(12));
    let before = one.controller.pacing_rate().unwrap().as_bps() as f64;
    let delivered = one.delivered_bytes;
    run(&mut one, seconds(15));
    let after = one.controller.pacing_rate().unwrap().as_bps() as f64;
    let share = (one.delivered_bytes - delivered) as f64 / (3.0 * 40e6 / 8.0);
    assert!((after / before - 1.0).abs() < 0.3, "{before} {after}");
    assert!(share > 0.95, "{share}");
}

/// A boundary until 12.02 s. What left before it tells of the path before it, however long the round trip has
/// become; if it has become shorter, nothing is waited for.
#[test]
fn the_first_answer_to_what_left_after_the_boundary_ends_the_shield() {
    let shielded_after = |srtt_ms: u64, answers: &[(u64, u64)]| {
        let mut one = BoundaryAware::new(config(), choice().values());
        one.on_forecast(&[slot(seconds(12), 20)]);
        let mut shielded = vec![];
        for (ms, rtt_ms) in [(12_000, srtt_ms)].iter().chain(answers) {
            let srtt = Duration::from_millis(srtt_ms);
            let rtt = Some(Duration::from_millis(*rtt_ms));
            let ack = AckSample { rtt, srtt, ..crate::tests::ack(1) };
            one.on_acked(Instant::from_millis(*ms), &ack);
            shielded.push(one.is_shielded());
        }
        shielded
    };
    let longer = [(12_080, 80), (12_319, 300), (12_321, 300)];
    assert_eq!(shielded_after(50, &longer), [true, true, true, false]);
    assert_eq!(shielded_after(300, &[(12_040, 50), (12_072, 50)]), [true, true, false]);
    assert_eq!(
        shielded_after(50, &[(13_019, 4000), (13_021, 4000)]),
        [true, true, false],
        "a bound"
    );
}

/// The next satellite is slower and further away: what was under way before says that nothing has changed.
#[test]
fn a_longer_round_trip_hides_no_change() {
    let mut one =
        Model::new(trusting("bbr3"), config(), Path { queue_packets: 2000, ..path(Loss::None) });
    one.controller.on_forecast(&[slot(seconds(12), 20)]);
    run(&mut one, seconds(12));
    one.change(Bitrate::from_mbps(13.0), Duration::from_millis(200));
    run(&mut one, Instant::from_millis(13_500));
    let rate = one.controller.pacing_rate().unwrap().as_bps() as f64 / 13e6;
    assert!(rate < 1.7, "{rate}");
}

/// The gap follows the boundary's latest moment: its losses are reported with the first answer to what left
/// after it, two round trips later.
#[test]
fn losses_of_a_gap_after_the_boundary_do_not_cut_the_window() {
    let mut one = model(trusting("cubic"), Loss::Outage(seconds(12), Instant::from_millis(12_100)));
    one.controller.on_forecast(&[slot(seconds(12), 0)]);
    run(&mut one, seconds(12));
    let before = one.controller.window_bytes();
    run(&mut one, Instant::from_millis(12_190));
    assert!(one.lost_packets > 0);
    let kept = one.controller.window_bytes() as f64 / before as f64;
    assert!(kept > 0.99, "{kept}");
}

/// The sender takes back an episode that the inner control was never told of.
#[test]
fn a_hidden_episode_undoes_no_other() {
    let mut one = trusting("cubic");
    one.on_forecast(&[slot(seconds(12), 500)]);
    let loss = crate::LossSample {
        lost_bytes: MSS,
        in_flight_bytes: 9 * MSS,
        tx_in_flight_bytes: 10 * MSS,
        lost_since_sent_bytes: MSS,
        delivered_bytes: 0,
        new_episode: true,
    };
    one.on_lost(seconds(5), &loss);
    one.on_recovered(seconds(6));
    let cut = one.window_bytes();
    assert!(cut < 10 * MSS);
    one.on_lost(seconds(12), &loss);
    assert_eq!(one.window_bytes(), cut, "shielded");
    one.on_spurious(seconds(12));
    assert_eq!(one.window_bytes(), cut, "there was nothing to undo");
}

proptest! {
    /// However often and wherever boundaries are foreseen: no shield is longer than twice the largest
    /// uncertainty and a second, and after each there is none for ten seconds.
    #[test]
    fn what_a_forecast_can_do_is_bounded(
        times in proptest::collection::vec((0..60_000_u64, 0..2_000_u64), 0..200),
    ) {
        let mut one = BoundaryAware::new(config(), choice().values());
        let mut hints: Vec<Boundary> =
            times.iter().map(|(ms, u)| slot(Instant::from_millis(*ms), *u)).collect();
        hints.sort_by_key(|hint| hint.at);
        one.on_forecast(&hints);
        let (mut since, mut ended) = (None, None);
        for ms in (0..60_000).step_by(20) {
            let now = Instant::from_millis(ms);
            one.on_acked(now, &crate::tests::ack(1));
            match (one.is_shielded(), since) {
                (true, None) => {
                    let pause = ended.map_or(Duration::MAX, |end| now - end);
                    prop_assert!(pause >= PAUSE - Duration::from_millis(20), "{pause:?}");
                    since = Some(now);
                }
                (true, Some(begin)) => prop_assert!(now - begin <= Duration::from_secs(3)),
                (false, Some(_)) => (since, ended) = (None, Some(now)),
                (false, None) => {}
            }
        }
    }
}
