use super::{new_year, place, shell};
use crate::{Earth, GsoArc, Pass, Place, Site, View};
use proptest::prelude::*;

const DAY_S: f64 = 86_400.0;

#[test]
fn a_satellite_at_53_degrees_is_never_seen_from_a_pole() {
    for lat_deg in [90.0, -90.0] {
        let view = View::new(&place(lat_deg, 0.0), 25.0, 0.0).unwrap();
        let (from, to) = (new_year(), new_year().plus_s(DAY_S));
        assert_eq!(shell("starlink-53").passes(&view, from, to), []);
        assert!(!shell("starlink-97b").passes(&view, from, to).is_empty());
    }
}

#[test]
fn passes_of_a_day_are_of_the_length_that_the_height_allows() {
    let view = View::new(&place(41.88, -87.63), 25.0, 0.0).unwrap();
    let passes = shell("starlink-70").passes(&view, new_year(), new_year().plus_s(DAY_S));
    assert!(passes.len() > 500);
    for pass in &passes {
        // From mask to mask over the zenith: 2 × 8.8° of 95.9 min, the Earth turning along.
        assert!(pass.set.since_s(pass.rise) < 310.0, "{pass:?}");
        assert!(pass.rise <= pass.culmination && pass.culmination <= pass.set);
        assert!((25.0..=90.0).contains(&(pass.culmination_deg + 1e-3)));
    }
    assert!(passes.is_sorted_by_key(|pass| pass.rise));
}

#[test]
fn the_arc_over_the_equator_is_at_the_zenith() {
    let site = Site::new(&place(0.0, 100.0)).unwrap();
    let arc = GsoArc::seen_from(&site);
    let above = |lat, lon| Place { height_m: 550e3, ..place(lat, lon) }.ecef_km();
    assert!(arc.angle_deg(&site, above(0.0, 100.0)) < 0.2);
    assert!(arc.angle_deg(&site, above(0.0, 105.0)) < 0.2);
    // Straight to the north at this elevation, the arc is as far away as the zenith.
    let look = site.look(above(4.0, 100.0));
    let angle_deg = arc.angle_deg(&site, above(4.0, 100.0));
    assert!((angle_deg - (90.0 - look.elevation_deg)).abs() < 0.01, "{angle_deg} {look:?}");
    // From 85° the arc is below the horizon.
    let north = Site::new(&place(85.0, 0.0)).unwrap();
    assert_eq!(GsoArc::seen_from(&north).angle_deg(&north, above(80.0, 0.0)), 180.0);
}

#[test]
fn avoiding_the_arc_leaves_less() {
    let (from, to) = (new_year(), new_year().plus_s(6.0 * 3600.0));
    let total = |gso_deg| -> f64 {
        let view = View::new(&place(5.0, 30.0), 25.0, gso_deg).unwrap();
        let passes = shell("kuiper-33").passes(&view, from, to);
        passes.iter().map(|pass| pass.set.since_s(pass.rise)).sum()
    };
    let (all, kept) = (total(0.0), total(18.0));
    assert!(kept < 0.8 * all && kept > 0.1 * all, "{kept} of {all}");
}

#[test]
fn angles_that_make_no_sense_are_refused() {
    let said = View::new(&place(0.0, 0.0), 120.0, 0.0).unwrap_err().to_string();
    assert_eq!(said, "min_elevation_deg = 120 is not between 0 and 90; correct it");
    assert!(View::new(&place(0.0, 0.0), 25.0, -1.0).is_err());
}

proptest! {
    #![proptest_config(cases::at_least(64))]

    /// The search that skips ahead finds what looking every two seconds finds.
    #[test]
    fn passes_are_those_that_looking_all_the_time_finds(
        index in 0_usize..4408,
        lat in -90.0..=90.0_f64,
        lon in -180.0..180.0_f64,
        mask in 0.0..60.0_f64,
        gso in prop_oneof![Just(0.0), 5.0..30.0_f64],
    ) {
        let all = shell("starlink");
        let satellite = &all.satellites()[index];
        let view = View::new(&place(lat, lon), mask, gso).unwrap();
        let (from, to) = (new_year(), new_year().plus_s(20_000.0));
        let passes = view.passes((index, satellite), from, to);
        let near_edge = |pass: &Pass, t: f64| {
            (pass.rise.since_s(from) - t).abs() < 2.5 || (pass.set.since_s(from) - t).abs() < 2.5
        };
        for step in 0..10_000 {
            let t = f64::from(step) * 2.0;
            let at = from.plus_s(t);
            let position = satellite.ecef_km(&Earth::at(at)).unwrap();
            let seen = view.sees(position).is_some();
            let within = passes.iter().any(|pass| pass.rise <= at && at < pass.set);
            if seen != within {
                prop_assert!(passes.iter().any(|pass| near_edge(pass, t)), "{t}: {passes:?}");
            }
        }
        for pass in &passes {
            for (edge, inside) in [(pass.rise, 0.05), (pass.set, -0.05)] {
                if edge == from || edge == to { continue; }
                let sees = |secs: f64| {
                    let earth = Earth::at(edge.plus_s(secs));
                    view.sees(satellite.ecef_km(&earth).unwrap()).is_some()
                };
                prop_assert!(sees(inside) && !sees(-inside), "{pass:?}");
            }
        }
    }
}
