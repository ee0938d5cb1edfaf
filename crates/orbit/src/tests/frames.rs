use super::place;
use crate::{Place, Site, Utc, fibre_rtt_ms, gmst_rad};
use proptest::prelude::*;

#[test]
fn sidereal_time_is_that_of_the_book() {
    // Vallado 2013, example 3-5: 1992-08-20 12:14 UT1.
    let at = Utc::from_unix_s(714_312_840.0);
    assert!((gmst_rad(at).to_degrees() - 152.578_787_810).abs() < 1e-6);
}

#[test]
fn what_is_above_is_at_the_zenith() {
    let ground = Place { height_m: 120.0, ..place(41.88, -87.63) };
    let above = Place { height_m: 550_120.0, ..ground };
    let look = Site::new(&ground).unwrap().look(above.ecef_km());
    assert!((look.elevation_deg - 90.0).abs() < 1e-6, "{look:?}");
    assert!((look.range_km - 550.0).abs() < 1e-6);
    assert_eq!(look.azimuth_deg, 0.0);
}

#[test]
fn azimuth_goes_from_north_through_east() {
    let site = Site::new(&place(0.0, 0.0)).unwrap();
    for (target, azimuth_deg) in
        [((1.0, 0.0), 0.0), ((0.0, 1.0), 90.0), ((-1.0, 0.0), 180.0), ((0.0, -1.0), 270.0)]
    {
        let high = Place { height_m: 550e3, ..place(target.0, target.1) };
        let look = site.look(high.ecef_km());
        let off = (look.azimuth_deg - azimuth_deg + 180.0).rem_euclid(360.0) - 180.0;
        assert!(off.abs() < 1e-9, "{target:?}: {look:?}");
    }
}

#[test]
fn at_a_pole_north_follows_the_longitude() {
    let high = |lon| Place { height_m: 550e3, ..place(80.0, lon) }.ecef_km();
    let north_pole = Site::new(&place(90.0, 30.0)).unwrap();
    // North of the pole is the far side of its meridian, so its own meridian lies in the south.
    assert!((north_pole.look(high(30.0)).azimuth_deg - 180.0).abs() < 1e-9);
    assert!((north_pole.look(high(120.0)).azimuth_deg - 90.0).abs() < 1e-9);
    let south = |lon| Place { height_m: 550e3, ..place(-80.0, lon) }.ecef_km();
    let south_pole = Site::new(&place(-90.0, 30.0)).unwrap();
    let along = south_pole.look(south(30.0)).azimuth_deg;
    assert!(along.min(360.0 - along) < 1e-9, "{along}");
    assert!((south_pole.look(south(120.0)).azimuth_deg - 90.0).abs() < 1e-9);
}

#[test]
fn coordinates_that_are_none_are_refused() {
    let said = place(91.0, 0.0).check().unwrap_err().to_string();
    assert_eq!(said, "lat_deg = 91 is not between -90 and 90; correct it");
    assert!(place(0.0, f64::NAN).check().is_err());
    assert!(Place { height_m: 1e7, ..place(0.0, 0.0) }.check().is_err());
}

#[test]
fn chicago_to_tokyo_takes_99_ms_of_fibre() {
    let (chicago, tokyo) = (place(41.88, -87.63), place(35.68, 139.69));
    assert!((chicago.great_circle_km(&tokyo) - 10_139.0).abs() < 5.0);
    assert!((fibre_rtt_ms(&chicago, &tokyo, 1.0) - 99.3).abs() < 0.1);
    assert_eq!(fibre_rtt_ms(&chicago, &tokyo, 1.5), 1.5 * fibre_rtt_ms(&chicago, &tokyo, 1.0));
}

proptest! {
    #[test]
    fn coordinates_come_back(
        lat_deg in -90.0..=90.0_f64,
        lon_deg in -179.99..180.0_f64,
        height_m in prop_oneof![-400.0..9000.0_f64, 200e3..36e6_f64],
    ) {
        let there = Place { lat_deg, lon_deg, height_m };
        let back = Place::from_ecef_km(there.ecef_km());
        prop_assert!((back.lat_deg - lat_deg).abs() < 1e-9, "{back:?}");
        // Longitudes lie closer together towards the poles.
        let off_deg = (back.lon_deg - lon_deg).abs() * lat_deg.to_radians().cos();
        prop_assert!(off_deg < 1e-9, "{back:?}");
        prop_assert!((back.height_m - height_m).abs() < 1e-4, "{back:?}");
    }
}
