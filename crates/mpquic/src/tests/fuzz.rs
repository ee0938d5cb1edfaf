//! The bodies of the fuzz targets with seeded inputs: `MPQUIC_FUZZ_CASES` of each (in a hundred of
//! the default), so that `make fuzz` runs many.

use super::fuzzing;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Runs `body` on inputs of up to `longest` bytes, `usual` of them unless the environment says how
/// many times as many.
fn seeded(name: &str, usual: u64, longest: u32, body: fn(&[u8])) {
    let times = std::env::var("MPQUIC_FUZZ_TIMES").ok().and_then(|times| times.parse().ok());
    let first: u64 =
        std::env::var("MPQUIC_FUZZ_FIRST").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    for seed in first..first + usual * times.unwrap_or(1_u64) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let len = rng.next_u32() % longest;
        let mut bytes = vec![0; len as usize];
        rng.fill_bytes(&mut bytes);
        let result = std::panic::catch_unwind(|| body(&bytes));
        assert!(result.is_ok(), "{name} fails with seed {seed}");
    }
}

#[test]
fn frames_of_any_bytes() {
    seeded("frame", 20_000, 300, fuzzing::frame);
}

#[test]
fn parameters_of_any_bytes() {
    seeded("params", 20_000, 120, fuzzing::params);
}

#[test]
fn datagrams_of_a_stranger() {
    seeded("packet", 1000, 6000, fuzzing::packet);
}

#[test]
fn payloads_of_a_hostile_peer() {
    seeded("peer", 600, 6000, fuzzing::peer);
}

#[test]
fn two_ends_and_a_hostile_network() {
    seeded("two_ends", 600, 1200, fuzzing::two_ends);
}
