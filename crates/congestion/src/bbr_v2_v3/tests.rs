use super::filters::{MaxBandwidth, MinRtt};
use super::full_pipe::FullPipe;
use super::signals::Bounds;
use super::upper_bound::Flight;
use super::{BbrV2V3, Mode, Probing};
use crate::bbr::gain::Gain;
use crate::tests::model::{Loss, Model, Path};
use crate::tests::{MSS, RTT, ack, config, with};
use crate::{AckSample, Algorithm, Controller, LossSample, Phase, RateSample};
use parameters::Given;
use units::{Bitrate, Duration, Instant};

const BOTH: [Algorithm; 2] = [Algorithm::Bbr2, Algorithm::Bbr3];

fn mbps(rate: u64) -> Bitrate {
    Bitrate::from_bps(rate * 1_000_000)
}

/// docs/model.md §4.5: fixed point of the threshold, and the vector of the lost packet.
#[test]
fn the_prefix_formula_meets_the_vector_of_the_reference_sheet() {
    let threshold = |share: f64| Gain::floor_of(share);
    assert_eq!(threshold(0.02), Gain::of_256ths(5));
    assert_eq!(threshold(0.08), Gain::of_256ths(20));
    assert_eq!(threshold(0.16), Gain::of_256ths(40));
    let flight = Flight { in_flight_packets: 100, lost_packets: 3 };
    assert!(flight.is_too_high(threshold(0.02)));
    assert_eq!(flight.where_too_high(1, threshold(0.02)), 99);
    assert!(!flight.is_too_high(threshold(0.08)));
}

/// Of 20 packets lost together after 80 others: budget ceil(80 * 20/256) = 7, and 7 / (1 - 20/256)
/// more packets reach it.
#[test]
fn a_burst_of_losses_is_cut_where_it_crossed_the_threshold() {
    let flight = Flight { in_flight_packets: 100, lost_packets: 20 };
    assert_eq!(flight.where_too_high(20, Gain::of_256ths(20)), 80 + 7);
}

#[test]
fn the_bandwidth_filter_holds_two_cycles() {
    let mut filter = MaxBandwidth::default();
    filter.update(mbps(50));
    filter.advance();
    filter.advance(); // a cycle without a sample does not count
    filter.update(mbps(20));
    assert_eq!(filter.get(), mbps(50));
    filter.advance();
    assert_eq!(filter.get(), mbps(20));
}

#[test]
fn the_minimum_rtt_is_ten_seconds_old_at_most_and_probed_after_five() {
    let window = Duration::from_secs(5);
    let mut filter = MinRtt::default();
    let long = Some(Duration::from_millis(80));
    assert!(!filter.update(Instant::ZERO, Some(RTT), false, window));
    assert!(!filter.update(Instant::from_millis(5_000), long, false, window));
    assert!(filter.update(Instant::from_millis(5_001), long, false, window));
    assert_eq!(filter.get(), Some(RTT));
    assert!(!filter.update(Instant::from_millis(9_000), long, false, window));
    assert!(filter.update(Instant::from_millis(10_002), long, true, window)); // held back
    assert_eq!(filter.get(), long); // of the 80 ms seen at 5 s
}

#[test]
fn a_full_pipe_is_three_rounds_without_a_quarter_more() {
    let mut rounds = FullPipe::default();
    let mut samples = FullPipe::default();
    for (rate, full) in [(10, false), (12, false), (12, false), (12, true)] {
        rounds.on_round(mbps(rate));
        samples.on_sample(mbps(rate), true);
        samples.on_sample(mbps(rate), false); // within a round
        assert_eq!((rounds.reached, samples.reached), (full, full));
    }
    samples.restart_from(mbps(12));
    samples.on_sample(mbps(12), true);
    assert!(samples.reached && !samples.now);
}

fn steady() -> Path {
    let (rate, loss) = (Bitrate::from_mbps(50.0), Loss::None);
    Path { rate, rtt: RTT, queue_packets: 263, loss, seed: 1 }
}

/// Stretches of PROBE_RTT: when, for how long, and the smallest window.
fn dips(controller: Box<dyn Controller>, until: Instant) -> Vec<(Instant, Duration, u64)> {
    let mut model = Model::new(controller, config(), steady());
    let mut dips = Vec::new();
    let mut dip: Option<(Instant, u64)> = None;
    while model.now < until {
        model.step();
        let window = model.controller.window_bytes();
        match (model.controller.phase() == Phase::ProbeRtt, dip) {
            (true, None) => dip = Some((model.now, window)),
            (true, Some((begin, least))) => dip = Some((begin, least.min(window))),
            (false, Some((begin, least))) => {
                dips.push((begin, model.now - begin, least / MSS));
                dip = None;
            }
            (false, None) => {}
        }
    }
    dips
}

/// docs/model.md §7: every five seconds (ten by the draft), half a BDP (131 of 262.6 packets) for
/// at least 200 ms; some of the time goes by until that little is in flight.
#[test]
fn probe_rtt_halves_the_flight_every_five_seconds() {
    let draft = with(Algorithm::Bbr3, &[("constants", Given::Text("draft".into()))]);
    let cases = [
        (Algorithm::Bbr2.build(config()), 5_000),
        (Algorithm::Bbr3.build(config()), 5_000),
        (draft, 10_000),
    ];
    for (controller, window_ms) in cases {
        let dips = dips(controller, Instant::from_millis(4 * window_ms + 3_000));
        assert!(dips.len() >= 3, "{dips:?}");
        for (_, span, packets) in &dips {
            assert!((200..=420).contains(&span.as_millis()), "{dips:?}");
            assert!((120..=136).contains(packets), "{dips:?}");
        }
        for pair in dips.windows(2) {
            let apart = (pair[1].0 - pair[0].0).as_millis();
            assert!((window_ms..window_ms + 700).contains(&apart), "{dips:?}");
        }
    }
}

#[test]
fn the_interval_and_the_window_of_probe_rtt_can_be_set() {
    let parameters =
        [("probe_rtt_win_ms", Given::Number(2000.0)), ("probe_rtt_cwnd_gain", Given::Number(0.0))];
    let dips = dips(with(Algorithm::Bbr2, &parameters), Instant::from_millis(9_000));
    assert!(dips.len() >= 3, "{dips:?}");
    assert!(dips.iter().all(|(_, _, packets)| *packets == 4), "{dips:?}");
}

/// The phases in their order, once the pipe was full.
#[test]
fn the_cycle_goes_down_cruise_refill_up() {
    for algorithm in BOTH {
        let mut model = Model::new(algorithm.build(config()), config(), steady());
        let mut phases = vec![model.controller.phase()];
        while model.now < Instant::from_millis(5_000) {
            model.step();
            let phase = model.controller.phase();
            if phases.last() != Some(&phase) {
                phases.push(phase);
            }
        }
        let wanted = [
            Phase::Startup,
            Phase::Drain,
            Phase::ProbeBwDown,
            Phase::ProbeBwCruise,
            Phase::ProbeBwRefill,
            Phase::ProbeBwUp,
            Phase::ProbeBwDown,
        ];
        assert_eq!(phases[..7], wanted, "{algorithm}");
    }
}

/// A queue of a tenth of the BDP: loss ends the probes, and the bound is what fits.
#[test]
fn in_a_shallow_queue_the_upper_bound_holds_the_flight() {
    let path = Path { queue_packets: 26, ..steady() };
    for algorithm in BOTH {
        let mut model = Model::new(algorithm.build(config()), config(), path);
        while model.now < Instant::from_millis(4_000) {
            model.step();
        }
        let (before, lost) = (model.delivered_bytes, model.lost_packets);
        while model.now < Instant::from_millis(24_000) {
            model.step();
        }
        let delivered = (model.delivered_bytes - before) / MSS;
        let share = (model.lost_packets - lost) as f64 / delivered as f64;
        assert!(share < 0.02, "{algorithm} loses {share}");
        assert!(delivered > 80 * 20 * 4376 / 100, "{algorithm}: {delivered}"); // 80 % of 50 Mbit/s
    }
}

fn given_rate(now: &mut Instant, bbr: &mut BbrV2V3, rate: RateSample, packets: u64) {
    *now += RTT;
    let prior = bbr.delivered_bytes;
    let sample = AckSample {
        delivered_bytes: prior + packets * MSS,
        prior_delivered_bytes: prior,
        rate: Some(rate),
        ..ack(packets)
    };
    bbr.on_acked(*now, &sample);
}

fn rate() -> RateSample {
    RateSample {
        rate: mbps(50),
        delivered_bytes: 263 * MSS,
        interval: RTT,
        app_limited: false,
        tx_in_flight_bytes: 263 * MSS,
        lost_bytes: 0,
    }
}

/// A BBR that has filled the pipe of the steady path and cruises, and the time.
fn cruising(algorithm: Algorithm) -> (BbrV2V3, Instant) {
    let values = algorithm.info().resolve(&Default::default()).expect("defaults");
    let mut bbr = match algorithm {
        Algorithm::Bbr2 => BbrV2V3::v2(config(), &values),
        _ => BbrV2V3::v3(config(), &values),
    };
    let mut now = Instant::ZERO;
    while bbr.mode != Mode::ProbeBw(Probing::Cruise) {
        given_rate(&mut now, &mut bbr, rate(), 263);
    }
    (bbr, now)
}

fn lose(bbr: &mut BbrV2V3, now: Instant, packets: u64, new_episode: bool) {
    let loss = LossSample {
        lost_bytes: packets * MSS,
        in_flight_bytes: 200 * MSS,
        tx_in_flight_bytes: 263 * MSS,
        lost_since_sent_bytes: packets * MSS,
        delivered_bytes: bbr.delivered_bytes,
        new_episode,
    };
    bbr.on_lost(now, &loss);
}

#[test]
fn a_round_with_loss_cuts_the_lower_bounds_once_and_a_spurious_one_gives_them_back() {
    for algorithm in BOTH {
        let (mut bbr, mut now) = cruising(algorithm);
        let window = bbr.window_bytes();
        let slow = RateSample { rate: mbps(10), delivered_bytes: 50 * MSS, ..rate() };
        lose(&mut bbr, now, 1, true);
        assert_eq!(bbr.window_bytes(), window); // the window is cut by the bounds, later
        given_rate(&mut now, &mut bbr, slow, 50);
        assert_eq!(bbr.bounds.bandwidth_lo, mbps(50)); // the round of the loss delivered that much
        lose(&mut bbr, now, 1, false);
        given_rate(&mut now, &mut bbr, slow, 50);
        let left = Gain::of_256ths(256 - 76); // 0.3 is 76/256
        assert_eq!(bbr.bounds.bandwidth_lo, left.of(mbps(50)), "{algorithm}");
        assert!(bbr.bounds.in_flight_lo < window);
        assert!(bbr.window_bytes() <= bbr.bounds.in_flight_lo);
        bbr.on_spurious(now);
        assert_eq!(bbr.bounds, Bounds::NONE);
        assert_eq!(bbr.window_bytes(), window);
    }
}

#[test]
fn too_much_loss_in_a_probe_sets_the_upper_bound_and_ends_it() {
    for algorithm in BOTH {
        let (mut bbr, mut now) = cruising(algorithm);
        while bbr.mode != Mode::ProbeBw(Probing::Up) {
            given_rate(&mut now, &mut bbr, rate(), 263);
        }
        lose(&mut bbr, now, 5, true); // 263 * 5/256 = 5: not too much
        assert_eq!(bbr.mode, Mode::ProbeBw(Probing::Up));
        lose(&mut bbr, now, 6, false);
        assert_eq!(bbr.mode, Mode::ProbeBw(Probing::Down));
        // 257 before them; ceil(257 * 5/256) = 6 may go, 6 * 256/251 = 6 more packets.
        assert_eq!(bbr.bounds.in_flight_hi, 263 * MSS);
        let headroom = 263 * MSS - Gain::of_256ths(38).of_bytes(263 * MSS); // 0.15 is 38/256
        assert_eq!(bbr.in_flight_with_headroom(), headroom);
    }
}

#[test]
fn a_timeout_leaves_one_packet_and_bounds_the_flight_by_the_window_of_before() {
    for algorithm in BOTH {
        let (mut bbr, now) = cruising(algorithm);
        let before = bbr.window_bytes();
        bbr.on_timeout(now, 263 * MSS, false);
        bbr.on_timeout(now + RTT, MSS, true);
        assert_eq!((bbr.window_bytes(), bbr.bounds.in_flight_lo), (MSS, before));
        bbr.on_recovered(now + RTT);
        assert_eq!(bbr.window_bytes(), before);
    }
}

#[test]
fn random_loss_below_the_threshold_costs_little_and_above_it_much() {
    let share = |algorithm, loss| {
        let path = Path { loss: Loss::Random(loss), ..steady() };
        let mut model = Model::new(with(algorithm, &[]), config(), path);
        while model.now < Instant::from_millis(30_000) {
            model.step();
        }
        model.delivered_bytes as f64 / path.rate.bytes_in(model.now - Instant::ZERO) as f64
    };
    for algorithm in BOTH {
        let (little, much) = (share(algorithm, 0.002), share(algorithm, 0.05));
        assert!(little > 0.85 && much < little, "{algorithm}: {little}, {much}");
    }
}

#[test]
fn the_seed_draws_the_wait_for_the_next_probe() {
    let first_probe = |seed| {
        let config = crate::Config { seed, ..config() };
        let mut model = Model::new(Algorithm::Bbr3.build(config), config, steady());
        while model.controller.phase() != Phase::ProbeBwUp {
            model.step();
        }
        model.now
    };
    assert_ne!(first_probe(1), first_probe(2));
    assert_eq!(first_probe(1), first_probe(1));
}
