//! The bodies of the fuzz targets with seeded inputs. `MPQUIC_FUZZ_TIMES` runs this many times as
//! many (`make fuzz`), `MPQUIC_FUZZ_FIRST` begins with that seed.

use super::fuzzing;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Runs `body` on inputs of up to `longest` bytes.
fn seeded(name: &str, usual: u64, longest: u32, body: Body) {
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
    seeded("two_ends", 400, 1200, fuzzing::two_ends);
}

/// The end of a stream may be acknowledged before its last bytes.
#[test]
fn an_end_alone_is_acknowledged_early() {
    let mut half = crate::streams::SendHalf::with_limit(100);
    half.write(&[1; 10]);
    assert_eq!(half.next_new(10, 100), Some((0..10, false)));
    half.finish();
    assert_eq!(half.next_new(10, 100), Some((10..10, true)));
    assert_eq!(half.on_acked(10..10, true), 0);
    assert!(!half.is_done());
    assert_eq!(half.on_acked(0..10, false), 10);
    assert!(half.is_done());
}

/// What a fuzz target does with bytes.
type Body = fn(&[u8]);

/// Inputs on which a fuzz target once failed; `cargo fuzz` starts from them. `two_ends/probed_often`:
/// each handshake probe queued again what all earlier probes had carried, so that an input of 26 bytes
/// took seconds.
#[test]
fn kept_inputs() {
    let bodies: [(&str, Body); 5] = [
        ("frame", fuzzing::frame),
        ("params", fuzzing::params),
        ("packet", fuzzing::packet),
        ("peer", fuzzing::peer),
        ("two_ends", fuzzing::two_ends),
    ];
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    let mut names = vec![];
    for folder in std::fs::read_dir(corpus).unwrap() {
        let folder = folder.unwrap();
        let target = folder.file_name().into_string().unwrap();
        let (_, body) = bodies.iter().find(|(name, _)| *name == target).expect("a folder a target");
        for input in std::fs::read_dir(folder.path()).unwrap() {
            let input = input.unwrap().path();
            body(&std::fs::read(&input).unwrap());
            names.push(input.file_name().unwrap().to_owned());
        }
    }
    assert!(names.iter().any(|name| name == "probed_often"));
}
