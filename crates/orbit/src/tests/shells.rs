use super::{new_year, shell};
use crate::vector::norm;
use crate::{SHELLS, built_in, shell_names};
use std::collections::BTreeSet;

#[test]
fn every_name_makes_all_satellites_of_its_filing() {
    let sizes = [
        ("starlink", 4408),
        ("kuiper", 3236),
        ("oneweb", 588),
        ("oneweb-720", 720),
        ("starlink-53", 1584),
        ("starlink-53.2", 1584),
        ("starlink-70", 720),
        ("starlink-97", 348),
        ("starlink-97b", 172),
        ("kuiper-51.9", 1156),
        ("kuiper-42", 1296),
        ("kuiper-33", 784),
        ("oneweb-588", 588),
    ];
    assert_eq!(shell_names(), sizes.map(|(name, _)| name));
    for (name, size) in sizes {
        let made = shell(name);
        assert_eq!(made.satellites().len(), size, "{name}");
        let names: BTreeSet<_> = made.satellites().iter().map(|s| s.name()).collect();
        assert_eq!(names.len(), size, "{name}: names must differ");
    }
}

#[test]
fn orbits_have_the_altitude_of_their_filing() {
    for row in SHELLS {
        let made = shell(row.name);
        for secs in [0.0, 86_400.0, 30.0 * 86_400.0] {
            let at = new_year().plus_s(secs);
            let radii = made.satellites().iter().map(|s| norm(s.state(at).unwrap().position_km));
            let mean_km = radii.sum::<f64>() / made.satellites().len() as f64;
            let altitude_km = mean_km - 6378.135;
            // J2 shifts the mean radius of a near-circular orbit by a few km.
            assert!((altitude_km - row.altitude_km).abs() < 8.0, "{}: {altitude_km}", row.name);
        }
    }
}

#[test]
fn planes_close_the_circle() {
    // Half a slot from plane to plane, also from the last to the first: no seam, no collision.
    for row in SHELLS.iter().filter(|row| row.spread_deg == 360.0) {
        assert_eq!(row.planes % 2, 0, "{}", row.name);
        assert_eq!(row.phasing * 2, row.planes, "{}", row.name);
    }
}

#[test]
fn an_unknown_name_is_answered_with_the_known_ones() {
    let said = built_in("starlonk", new_year()).unwrap_err().to_string();
    assert!(said.starts_with("no built-in constellation is called `starlonk`; known are starlink"));
}

#[test]
fn built_in_elements_do_not_age() {
    let years = new_year().plus_s(10.0 * 365.25 * 86_400.0);
    assert!(shell("oneweb").ages_days(years).iter().all(|age| *age == 0.0));
}
