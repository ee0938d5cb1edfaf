mod catalogue;
mod frames;
mod isl;
mod serve;
mod shells;
mod visibility;

use crate::{Constellation, Place, Utc, built_in};

/// 2025-01-01T00:00:00Z.
const NEW_YEAR: i64 = 1_735_689_600;

fn new_year() -> Utc {
    Utc::from_unix_s(NEW_YEAR as f64)
}

fn shell(name: &str) -> Constellation {
    built_in(name, new_year()).unwrap()
}

fn place(lat_deg: f64, lon_deg: f64) -> Place {
    Place { lat_deg, lon_deg, height_m: 0.0 }
}
