//! Paths with slots convince, others do not.

use crate::boundary::evidence::Evidence;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use units::{Duration, Instant};

const FIRST_EDGE_MS: u64 = 12_000;

/// RTTs each 50 ms by `rtt`, hints at 12, 27, 42, … s; when they convinced.
fn convinced(span_s: u64, mut rtt: impl FnMut(u64) -> f64) -> Option<Instant> {
    let mut evidence = Evidence::default();
    let mut edge = FIRST_EDGE_MS;
    for ms in (0..span_s * 1000).step_by(50) {
        let now = Instant::from_millis(ms);
        if ms >= edge {
            evidence.expect(Instant::from_millis(edge));
            edge += 15_000;
        }
        evidence.on_rtt(now, Some(Duration::from_secs_f64(rtt(ms) / 1e3)));
        if evidence.is_convincing() {
            return Some(now);
        }
    }
    None
}

/// A level of its own in each slot that begins `shift_ms` after an edge.
fn slots(random: &mut ChaCha8Rng, shift_ms: u64, noise_ms: f64) -> impl FnMut(u64) -> f64 + use<> {
    let levels: Vec<f64> = (0..100).map(|_| random.random_range(30.0..70.0)).collect();
    let mut noise = ChaCha8Rng::from_rng(random);
    move |ms| {
        let slot = (ms + 30_000 - FIRST_EDGE_MS - shift_ms) / 15_000;
        levels[slot as usize] + noise.random_range(0.0..noise_ms)
    }
}

#[test]
fn levels_that_change_at_the_edges_convince_within_minutes() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for noise_ms in [1.0, 10.0] {
        for _ in 0..30 {
            let at = convinced(300, slots(&mut random, 0, noise_ms));
            let at = at.expect("five minutes are enough").as_secs_f64();
            assert!(at > 4.0 * 15.0, "four slots are too few for p < 0.001: {at}");
        }
    }
}

#[test]
fn levels_that_change_elsewhere_do_not() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    for shift_ms in [3_000, 5_000, 8_000, 12_000] {
        for _ in 0..30 {
            assert_eq!(convinced(600, slots(&mut random, shift_ms, 2.0)), None, "{shift_ms}");
        }
    }
}

#[test]
fn a_path_without_any_change_does_not() {
    assert_eq!(convinced(600, |_| 40.0), None);
}

/// White noise, random walks, jumps at random moments, and queues of a five-second cycle.
#[test]
fn of_a_thousand_made_up_paths_fewer_than_ten_convince() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut wrong = 0;
    for run in 0..1000 {
        let mut noise = ChaCha8Rng::seed_from_u64(random.next_u64());
        let (mut level, phase) = (50.0_f64, random.random_range(0..5_000));
        let convinced = convinced(300, |ms| {
            match run % 4 {
                1 => level = (level + noise.random_range(-1.0..1.0)).max(10.0),
                2 if noise.random_bool(0.005) => level = noise.random_range(30.0..70.0),
                3 => level = if (ms + phase) % 5_200 < 300 { 40.0 } else { 60.0 },
                _ => {}
            }
            level + noise.random_range(0.0..20.0)
        });
        wrong += u32::from(convinced.is_some());
    }
    assert!(wrong < 10, "{wrong} of 1000");
}

/// Whatever comes later, what is known at a moment is known from before it: the same beginning
/// convinces at the same moment.
#[test]
fn nothing_looks_ahead() {
    let path = || slots(&mut ChaCha8Rng::seed_from_u64(4), 0, 1.0);
    let at = convinced(300, path()).unwrap();
    let end_s = at.as_secs_f64() as u64 + 1;
    assert_eq!(convinced(end_s, path()), Some(at));
}

#[test]
fn a_forecast_that_goes_wrong_is_believed_no_longer() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let (mut right, mut wrong) = (slots(&mut random, 0, 1.0), slots(&mut random, 6_000, 1.0));
    let mut evidence = Evidence::default();
    let (mut edge, mut believed_s) = (FIRST_EDGE_MS, Vec::new());
    for ms in (0..900_000).step_by(50) {
        let now = Instant::from_millis(ms);
        if ms >= edge {
            evidence.expect(now);
            edge += 15_000;
        }
        let rtt = if ms < 300_000 { right(ms) } else { wrong(ms) };
        evidence.on_rtt(now, Some(Duration::from_secs_f64(rtt / 1e3)));
        if evidence.is_convincing() {
            believed_s.push(ms / 1000);
        }
    }
    assert!(believed_s.contains(&299) && !believed_s.contains(&700));
}
