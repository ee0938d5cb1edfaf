use super::curve::{Epoch, cbrt};
use units::Instant;

/// `algorithms.md` §4.2: W_max = 200, w = 140.
#[test]
fn the_curve_meets_the_vector_of_the_reference_sheet() {
    let epoch = Epoch::begin(Instant::ZERO, 140.0, Some(200.0));
    let near = |value: f64, wanted: f64, tolerance: f64| (value - wanted).abs() < tolerance;
    assert!(near(epoch.k(), 5.31329, 5e-6), "K = {}", epoch.k());
    for (t, packets) in [(0.0, 140.0), (1.0, 167.901), (2.0, 185.451), (6.0, 200.130)] {
        assert!(near(epoch.at(t), packets, 5e-4), "W({t}) = {}", epoch.at(t));
    }
}

#[test]
fn cube_roots_are_exact_to_the_last_bits() {
    assert_eq!(cbrt(0.0), 0.0);
    assert_eq!(cbrt(-8.0), 0.0);
    for root in [1e-3, 0.5, 1.0, 3.0, 5.31329, 77.0, 1e6, 1e80] {
        let error = cbrt(root * root * root) / root - 1.0;
        assert!(error.abs() < 1e-15, "{root}: {error}");
    }
}
