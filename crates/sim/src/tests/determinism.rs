use super::world::*;
use congestion::Algorithm as Congestion;
use mptcp::Mode;

fn lossy(seed: u64) -> String {
    let paths = vec![with_loss(path("a", 20.0, 50.0), 0.01), path("b", 7.0, 130.0)];
    let mut config = config(paths, vec![connection(Mode::V096, Congestion::Bbr, seconds(10.0))]);
    config.seed = seed;
    let outcome = run_config(&config);
    format!("{:?}{:?}{:?}", outcome.samples, outcome.events, outcome.totals)
}

#[test]
fn the_same_seed_gives_the_same_record_and_another_seed_another_one() {
    assert_eq!(lossy(7), lossy(7));
    assert_ne!(lossy(7), lossy(8));
}

/// Paired runs: a path meets the same losses whether it is alone or the second of two.
#[test]
fn a_path_keeps_its_random_stream_in_any_company() {
    use link::stream_seed;
    let seeds = [
        stream_seed(1, "a", "down"),
        stream_seed(1, "a", "up"),
        stream_seed(1, "b", "down"),
        stream_seed(2, "a", "down"),
        stream_seed(1, "ad", "own"),
    ];
    let distinct: std::collections::BTreeSet<_> = seeds.into_iter().collect();
    assert_eq!(distinct.len(), seeds.len());
    assert_eq!(seeds[0], stream_seed(1, "a", "down"));
}
