use super::model::{Loss, Model, Path};
use super::{RTT, config, without_hystart};
use crate::{Algorithm, Controller};
use std::fmt::Write;
use units::{Bitrate, Duration, Instant};

/// 50 Mbit/s of payload, 60 ms: BDP 262.6 packets of 1,428 B; the queue holds one BDP more.
fn steady() -> Path {
    Path { rate: Bitrate::from_mbps(50.0), rtt: RTT, queue_packets: 263, loss: Loss::None, seed: 1 }
}

/// One line per 60 ms: window, in flight and queue in packets, pacing in Mbit/s, losses so far.
fn table(controller: Box<dyn Controller>, rounds: u64) -> String {
    let config = config();
    let mut model = Model::new(controller, config, steady());
    let mut text = String::from("round  window  flight  queue  pacing   lost\n");
    for round in 1..=rounds {
        while model.now < Instant::from_millis(60 * round) {
            model.step();
        }
        let pacing = model.controller.pacing_rate().map_or(0, |rate| rate.as_bps() / 1_000_000);
        let flight = model.in_flight_bytes / config.mss_bytes;
        let (window, queue) = (model.window_packets(), model.queued_packets());
        let lost = model.lost_packets;
        writeln!(text, "{round:5}  {window:6}  {flight:6}  {queue:5}  {pacing:6}  {lost:5}")
            .expect("a String takes everything");
    }
    text
}

#[test]
fn newreno_on_a_steady_path() {
    insta::assert_snapshot!(table(Algorithm::NewReno.build(config()), 100));
}

#[test]
fn cubic_on_a_steady_path() {
    insta::assert_snapshot!(table(Algorithm::Cubic.build(config()), 150));
}

#[test]
fn cubic_with_classic_slow_start_on_a_steady_path() {
    insta::assert_snapshot!(table(without_hystart(Algorithm::Cubic), 150));
}

#[test]
fn bbr_on_a_steady_path() {
    insta::assert_snapshot!(table(Algorithm::Bbr.build(config()), 200));
}

/// Share of the path that carries payload after the first second.
fn utilisation(algorithm: Algorithm, span: Duration) -> f64 {
    let mut model = Model::new(algorithm.build(config()), config(), steady());
    let warm = Instant::from_millis(1000);
    while model.now < warm {
        model.step();
    }
    let (begin, before) = (model.now, model.delivered_bytes);
    while model.now < warm + span {
        model.step();
    }
    let possible = steady().rate.bytes_in(model.now - begin);
    (model.delivered_bytes - before) as f64 / possible as f64
}

/// wVegas empties its queue again and again (see its file).
#[test]
fn every_algorithm_fills_a_steady_path() {
    for algorithm in Algorithm::ALL {
        let share = utilisation(algorithm, Duration::from_secs(40));
        let least = if algorithm == Algorithm::WVegas { 0.8 } else { 0.9 };
        assert!(share > least, "{algorithm} uses {share}");
    }
}

/// What is used between the fourth and the sixth second, after nothing passed during the third.
/// NewReno and its kin climb from half a BDP by one packet per round: 0.62; wVegas from less, as
/// its slow start ends early: 0.28. The others are back at once.
#[test]
fn every_algorithm_comes_back_after_an_outage() {
    use Algorithm::{Balia, Lia, NewReno, Olia, WVegas};
    for algorithm in Algorithm::ALL {
        let outage = Loss::Outage(Instant::from_millis(2_000), Instant::from_millis(3_000));
        let path = Path { loss: outage, ..steady() };
        let mut model = Model::new(algorithm.build(config()), config(), path);
        while model.now < Instant::from_millis(4_000) {
            model.step();
        }
        let (begin, before) = (model.now, model.delivered_bytes);
        while model.now < Instant::from_millis(6_000) {
            model.step();
        }
        let possible = path.rate.bytes_in(model.now - begin);
        let share = (model.delivered_bytes - before) as f64 / possible as f64;
        let least = match algorithm {
            NewReno | Lia | Olia | Balia => 0.6,
            WVegas => 0.25,
            _ => 0.9,
        };
        assert!(share > least, "{algorithm} uses {share}");
    }
}
