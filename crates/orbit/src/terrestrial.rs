//! What the same distance takes through glass fibre, and what a path through space takes.

use crate::place::Place;

/// Speed of light in vacuum (SI).
pub const LIGHT_KM_PER_S: f64 = 299_792.458;
/// Group index of single-mode fibre at 1550 nm (Corning SMF-28 Ultra: 1.4682).
pub const FIBRE_INDEX: f64 = 1.468;

/// Round-trip time over a path of this many kilometres in vacuum.
pub fn vacuum_rtt_ms(one_way_km: f64) -> f64 {
    2.0 * one_way_km / LIGHT_KM_PER_S * 1e3
}

/// Round-trip time through fibre along the great circle; `stretch` is how much longer the cable is
/// (1: as the crow flies; real routes 1.5 to 2).
pub fn fibre_rtt_ms(a: &Place, b: &Place, stretch: f64) -> f64 {
    vacuum_rtt_ms(a.great_circle_km(b) * FIBRE_INDEX * stretch)
}
