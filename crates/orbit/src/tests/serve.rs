use super::{NEW_YEAR, new_year, place, shell};
use crate::{
    Earth, Format, OrbitError, Outage, Policy, Reason, Schedule, ServeConfig, ViaConfig, View,
    parse, serve, way,
};
use proptest::prelude::*;

fn config() -> ServeConfig {
    ServeConfig {
        start_unix_s: NEW_YEAR as f64,
        duration_s: 600.0,
        acceleration: 1.0,
        terminal: place(41.88, -87.63),
        min_elevation_deg: 25.0,
        gso_avoidance_deg: 0.0,
        via: gateway(42.5, -88.5),
        policy: Policy::HighestElevation,
        slot_s: Some(15.0),
        slot_offset_s: 12.0,
        gap_s: 0.0,
        step_s: 1.0,
        extra_rtt_ms: 0.0,
        seed: 0,
        stale_days: 14.0,
        max_age_days: 60.0,
    }
}

fn gateway(lat_deg: f64, lon_deg: f64) -> ViaConfig {
    ViaConfig::Gateway { gateways: vec![place(lat_deg, lon_deg)], min_elevation_deg: 25.0 }
}

fn isl_to_tokyo() -> ViaConfig {
    ViaConfig::Isl {
        to: place(35.68, 139.69),
        min_elevation_deg: 25.0,
        max_range_km: 5000.0,
        atmosphere_km: 80.0,
    }
}

fn run(config: &ServeConfig) -> Schedule {
    serve(&shell("starlink-53"), config).unwrap()
}

fn median(values: &[f64]) -> f64 {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| !v.is_nan()).collect();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

#[test]
fn slots_begin_where_they_should() {
    let schedule = run(&config());
    assert_eq!(schedule.serving_times_s[..4], [0.0, 12.0, 27.0, 42.0]);
    assert_eq!(schedule.serving_times_s.len(), 41);
    assert_eq!(schedule.times_s.len(), 600);
    let late = run(&ServeConfig { start_unix_s: NEW_YEAR as f64 + 12.5, ..config() });
    assert_eq!(late.serving_times_s[..3], [0.0, 14.5, 29.5]);
    // A start on an edge is one edge, not two.
    let on_edge = run(&ServeConfig { start_unix_s: NEW_YEAR as f64 + 12.0, ..config() });
    assert_eq!(on_edge.serving_times_s[..2], [0.0, 15.0]);
}

#[test]
fn the_way_begins_with_who_serves_and_ends_in_view_of_the_far_end() {
    let all = shell("starlink-53");
    let bent = config();
    let first = run(&bent).serving[0].unwrap();
    assert_eq!(way(&all, &bent, first, 0.0).unwrap(), [first]);
    let isl = ServeConfig { via: isl_to_tokyo(), policy: Policy::ShortestPath, ..config() };
    let first = run(&isl).serving[0].unwrap();
    let found = way(&all, &isl, first, 0.0).unwrap();
    assert_eq!(found[0], first);
    let tokyo = View::new(&place(35.68, 139.69), 25.0, 0.0).unwrap();
    let last = &all.satellites()[found[found.len() - 1]];
    assert!(tokyo.sees(last.ecef_km(&Earth::at(new_year())).unwrap()).is_some());
    assert_eq!(way(&all, &isl, usize::MAX, 0.0).unwrap(), Vec::<usize>::new());
}

#[test]
fn the_highest_that_lasts_serves() {
    let all = shell("starlink-53");
    let config = config();
    let schedule = run(&config);
    let terminal = View::new(&config.terminal, 25.0, 0.0).unwrap();
    let hub = View::new(&place(42.5, -88.5), 25.0, 0.0).unwrap();
    for (slot, time_s) in schedule.serving_times_s.iter().enumerate().skip(1) {
        let position = |index: usize, t: f64| {
            all.satellites()[index].ecef_km(&Earth::at(new_year().plus_s(t))).unwrap()
        };
        let lasts = |index: &usize| {
            [*time_s, time_s + 15.0].into_iter().all(|t| {
                let at = position(*index, t);
                terminal.sees(at).is_some() && hub.sees(at).is_some()
            })
        };
        let height = |index: &usize| terminal.site.look(position(*index, *time_s)).elevation_deg;
        let lasting = (0..all.satellites().len()).filter(lasts);
        let best = lasting.max_by(|a, b| height(a).total_cmp(&height(b)));
        assert_eq!(schedule.serving[slot], best, "slot at {time_s} s");
    }
    assert_eq!(schedule.outages, []);
    assert!(schedule.rtt_ms.iter().all(|rtt| (7.0..14.0).contains(rtt)));
}

#[test]
fn handovers_are_the_changes_of_the_serving_satellite() {
    for policy in [Policy::HighestElevation, Policy::Random, Policy::ShortestPath] {
        let schedule = run(&ServeConfig { policy, ..config() });
        let changes = schedule.serving.windows(2).zip(&schedule.serving_times_s[1..]);
        let changes = changes.filter(|(pair, _)| pair[0] != pair[1]);
        let changes: Vec<_> =
            changes.map(|(pair, time_s)| (*time_s, pair[0].unwrap(), pair[1].unwrap())).collect();
        let handovers: Vec<_> =
            schedule.handovers.iter().map(|h| (h.time_s, h.before, h.after)).collect();
        assert_eq!(handovers, changes);
        assert!(!handovers.is_empty());
    }
}

#[test]
fn policies_do_what_they_are_named_after() {
    let rtt = |policy| median(&run(&ServeConfig { policy, ..config() }).rtt_ms);
    assert!(rtt(Policy::ShortestPath) <= rtt(Policy::HighestElevation));
    assert!(rtt(Policy::ShortestPath) < rtt(Policy::Random));
    let changes = |policy, slot_s| run(&ServeConfig { policy, slot_s, ..config() }).handovers.len();
    let longest = changes(Policy::LongestVisibility, None);
    // Passes last up to four and a half minutes.
    assert!((2..=4).contains(&longest), "{longest}");
    assert!(longest < changes(Policy::Random, Some(15.0)));
}

#[test]
fn a_seed_decides_the_random_choice() {
    let pick = |seed| run(&ServeConfig { policy: Policy::Random, seed, ..config() });
    assert_eq!(pick(7), pick(7));
    assert_ne!(pick(7).serving, pick(8).serving);
}

#[test]
fn without_slots_a_satellite_is_kept_until_it_is_lost() {
    let schedule = run(&ServeConfig { slot_s: None, ..config() });
    let view = View::new(&config().terminal, 25.0, 0.0).unwrap();
    let all = shell("starlink-53");
    for handover in &schedule.handovers {
        let at = new_year().plus_s(handover.time_s);
        let position = all.satellites()[handover.before].ecef_km(&Earth::at(at)).unwrap();
        let hub = View::new(&place(42.5, -88.5), 25.0, 0.0).unwrap();
        assert!(view.sees(position).is_none() || hub.sees(position).is_none());
    }
    assert_eq!(schedule.outages, []);
}

#[test]
fn a_gap_follows_each_handover() {
    let schedule = run(&ServeConfig { gap_s: 0.5, ..config() });
    let wanted = schedule.handovers.iter().map(|h| Outage {
        start_s: h.time_s,
        end_s: h.time_s + 0.5,
        reason: Reason::Handover,
    });
    assert_eq!(schedule.outages, wanted.collect::<Vec<_>>());
    assert!(schedule.rtt_ms.iter().all(|rtt| rtt.is_finite()));
}

#[test]
fn a_pole_has_no_service_from_53_degrees() {
    let schedule = run(&ServeConfig { terminal: place(90.0, 0.0), ..config() });
    let whole = Outage { start_s: 0.0, end_s: 600.0, reason: Reason::NoSatellite };
    assert_eq!(schedule.outages, [whole]);
    assert!(schedule.rtt_ms.iter().all(|rtt| rtt.is_nan()));
    assert!(schedule.serving.iter().all(Option::is_none));
}

#[test]
fn what_is_missing_is_named() {
    let ocean = run(&ServeConfig { via: gateway(-30.0, 80.0), ..config() });
    assert_eq!(ocean.outages[0].reason, Reason::NoGateway);
    assert_eq!((ocean.outages.len(), ocean.outages[0].end_s), (1, 600.0));
    let mut via = isl_to_tokyo();
    if let ViaConfig::Isl { max_range_km, .. } = &mut via {
        *max_range_km = 100.0;
    }
    let cut = run(&ServeConfig { via, duration_s: 60.0, ..config() });
    assert_eq!(cut.outages[0].reason, Reason::NoRoute);
    // Shell 97b alone leaves Chicago without any satellite for hours.
    let sparse = ServeConfig { duration_s: 7200.0, via: gateway(41.88, -87.63), ..config() };
    let sparse = serve(&shell("starlink-97b"), &sparse).unwrap();
    assert!(sparse.outages.len() > 2);
    assert!(sparse.outages.iter().all(|outage| outage.reason == Reason::NoSatellite));
    assert!(sparse.outages.is_sorted_by(|a, b| a.end_s < b.start_s));
}

#[test]
fn links_between_satellites_beat_fibre_to_tokyo() {
    let config = ServeConfig {
        via: isl_to_tokyo(),
        policy: Policy::ShortestPath,
        duration_s: 1800.0,
        step_s: 15.0,
        ..config()
    };
    let schedule = serve(&shell("starlink"), &config).unwrap();
    assert_eq!(schedule.outages, []);
    let rtt_ms = median(&schedule.rtt_ms);
    // S4-INTRO (ALCS, introduction): 80 ± 8 ms, and 20 ± 8 ms below the 99.3 ms of fibre.
    assert!((72.0..=88.0).contains(&rtt_ms), "{rtt_ms}");
    assert!((12.0..=28.0).contains(&(99.3 - rtt_ms)), "{rtt_ms}");
}

#[test]
fn extra_time_is_added_to_each_value() {
    let plain = run(&config());
    let more = run(&ServeConfig { extra_rtt_ms: 20.0, ..config() });
    let off = plain.rtt_ms.iter().zip(&more.rtt_ms).map(|(a, b)| b - a - 20.0);
    assert!(off.into_iter().all(|off| off.abs() < 1e-9));
}

#[test]
fn old_elements_are_counted_and_refused() {
    let made = shell("starlink-97b");
    let elements: Vec<_> = made.satellites().iter().map(|s| s.elements()).collect();
    let text = serde_json::to_string(&elements).unwrap();
    let real = parse(&text, "made.json", Format::Json).unwrap();
    let after = |days: f64| ServeConfig {
        start_unix_s: NEW_YEAR as f64 + days * 86_400.0,
        duration_s: 60.0,
        ..config()
    };
    assert_eq!(serve(&real, &after(13.0)).unwrap().stale, 0);
    assert_eq!(serve(&real, &after(15.0)).unwrap().stale, 172);
    let refused = serve(&real, &after(700.0)).unwrap_err();
    assert!(matches!(refused, OrbitError::TooOld { limit_days: 60.0, .. }), "{refused}");
    assert!(refused.to_string().contains("700.0 days"), "{refused}");
    let allowed = ServeConfig { max_age_days: 1000.0, ..after(700.0) };
    assert_eq!(serve(&real, &allowed).unwrap().stale, 172);
    assert_eq!(serve(&made, &after(700.0)).unwrap().stale, 0);
}

#[test]
fn what_has_decayed_is_left_out_and_counted() {
    let made = shell("starlink-97b");
    let mut elements: Vec<_> = made.satellites().iter().map(|s| s.elements().clone()).collect();
    // At 170 km with much drag: falls within days.
    (elements[0].mean_motion, elements[0].drag_term) = (16.4, 0.01);
    let falls = |elements: &[_]| {
        let text = serde_json::to_string(elements).unwrap();
        let late = ServeConfig { start_unix_s: NEW_YEAR as f64 + 20.0 * 86_400.0, ..config() };
        serve(&parse(&text, "made.json", Format::Json).unwrap(), &late)
    };
    assert_eq!(falls(&elements).unwrap().decayed, 1);
    assert_eq!(falls(&elements[..1]).unwrap_err(), OrbitError::AllDecayed);
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let refuse = |config: ServeConfig| serve(&shell("oneweb"), &config).unwrap_err().to_string();
    let none = ViaConfig::Gateway { gateways: vec![], min_elevation_deg: 25.0 };
    assert_eq!(
        refuse(ServeConfig { via: none, ..config() }),
        "there is no gateway; give at least one place"
    );
    assert!(refuse(ServeConfig { duration_s: 0.0, ..config() }).starts_with("duration_s = 0"));
    assert!(refuse(ServeConfig { step_s: f64::NAN, ..config() }).starts_with("step_s = NaN"));
    assert!(refuse(ServeConfig { slot_s: Some(0.0), ..config() }).starts_with("slot_s = 0"));
    let long = ServeConfig { duration_s: 86_400.0, acceleration: 1e4, ..config() };
    assert!(refuse(long).starts_with("duration_s x acceleration"));
    let fine = ServeConfig { step_s: 0.001, duration_s: 86_400.0, ..config() };
    assert!(refuse(fine).contains("steps are too many"));
    assert!(refuse(ServeConfig { terminal: place(0.0, 999.0), ..config() }).starts_with("lon_deg"));
}

proptest! {
    #![proptest_config(cases::at_least(12))]

    /// Faster satellites with slots and steps shortened alike give the same run, only sooner.
    #[test]
    fn acceleration_is_a_change_of_the_clock(factor in prop::sample::select(vec![2.0, 4.0, 5.0, 8.0, 10.0, 20.0, 25.0_f64]), lat in -50.0..50.0_f64) {
        let slow = ServeConfig {
            slot_offset_s: 0.0,
            terminal: place(lat, 10.0),
            via: gateway(lat + 1.0, 12.0),
            ..config()
        };
        let fast = ServeConfig {
            duration_s: 600.0 / factor,
            acceleration: factor,
            slot_s: Some(15.0 / factor),
            step_s: 1.0 / factor,
            ..slow.clone()
        };
        let (slow, fast) = (run(&slow), run(&fast));
        prop_assert_eq!(&slow.serving, &fast.serving);
        for (a, b) in slow.rtt_ms.iter().zip(&fast.rtt_ms) {
            prop_assert!((a - b).abs() < 1e-3 || (a.is_nan() && b.is_nan()), "{} {}", a, b);
        }
    }

    /// Whatever is asked, the series and the windows agree.
    #[test]
    fn outages_are_where_the_series_has_no_value(
        lat in -80.0..80.0_f64,
        lon in -180.0..180.0_f64,
        slotted: bool,
        gap_s in prop_oneof![Just(0.0), 0.1..20.0_f64],
        random: bool,
    ) {
        let policy = if random { Policy::Random } else { Policy::LongestVisibility };
        let config = ServeConfig {
            terminal: place(lat, lon),
            via: gateway(lat, lon + 8.0),
            slot_s: slotted.then_some(15.0),
            duration_s: 1200.0,
            gap_s,
            policy,
            ..config()
        };
        let schedule = serve(&shell("starlink-70"), &config).unwrap();
        prop_assert!(schedule.outages.is_sorted_by(|a, b| a.end_s <= b.start_s));
        for outage in &schedule.outages {
            prop_assert!(outage.start_s < outage.end_s && outage.end_s <= 1200.0);
        }
        for (time_s, rtt_ms) in schedule.times_s.iter().zip(&schedule.rtt_ms) {
            let out = schedule.outages.iter().find(|o| o.start_s <= *time_s && *time_s < o.end_s);
            let dark = out.is_some_and(|outage| outage.reason != Reason::Handover);
            prop_assert_eq!(rtt_ms.is_nan(), dark, "at {} s", time_s);
        }
    }
}
