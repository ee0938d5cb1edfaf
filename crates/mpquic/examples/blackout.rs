//! How long a reader waits when a path goes dark: `cargo run --release --example blackout [SEEDS]`.
//!
//! A client downloads 40 MB over two paths (50 Mbit/s and 40 ms; 20 Mbit/s and 60 ms; queues of one
//! bandwidth-delay product), in virtual time. In a blackout everything on a path is lost, both ways.
//! The stall is the longest time without a new byte in order at the application. Ours and noq-proto,
//! each with itself as the peer; one line of JSON for each set. It reports and never judges.

#![allow(clippy::print_stdout)]

#[allow(dead_code)]
#[path = "../src/tests/noq.rs"]
mod noq;
#[allow(dead_code)]
#[path = "../src/tests/tls.rs"]
mod tls;
#[allow(dead_code)]
#[path = "../src/tests/world.rs"]
mod world;

use mpquic::*;
use noq::Noq;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use units::{Bitrate, Duration, Instant, PathId};
use world::{Bulk, Host, Link, Own, World};

const BYTES: u64 = 40_000_000;
/// A transfer that is not through by then has stalled until then.
const LIMIT: Duration = Duration::from_secs(40);

/// When which path is dark.
type Outages = [Vec<(Instant, Instant)>; 2];

struct Set {
    name: &'static str,
    /// Stalls count from here on.
    from_ms: u64,
    outages: fn(&mut ChaCha8Rng) -> Outages,
}

fn span(start_ms: u64, length_ms: u64) -> (Instant, Instant) {
    (Instant::from_millis(start_ms), Instant::from_millis(start_ms + length_ms))
}

/// Five blackouts of a second each, a second apart.
fn five(start_ms: u64) -> Vec<(Instant, Instant)> {
    (0..5).map(|turn| span(start_ms + turn * 2000, 1000)).collect()
}

/// The first path dark for a second, then the second one, and so on.
fn in_turn(rng: &mut ChaCha8Rng, gap_ms: u64) -> Outages {
    let start = rng.random_range(1000..2000);
    let of = |path: u64| {
        let turns = (0..4).map(move |turn| start + (2 * turn + path) * (1000 + gap_ms));
        turns.map(|at| span(at, 1000)).collect()
    };
    [of(0), of(1)]
}

const SETS: [Set; 10] = [
    Set {
        name: "A dark for 5 s",
        from_ms: 1000,
        outages: |rng| [vec![span(rng.random_range(1000..4500), 5000)], Vec::new()],
    },
    Set {
        name: "B dark for 5 s",
        from_ms: 1000,
        outages: |rng| [Vec::new(), vec![span(rng.random_range(1000..4500), 5000)]],
    },
    Set {
        name: "A dark for 5 s from slow start on",
        from_ms: 0,
        outages: |rng| [vec![span(rng.random_range(300..1000), 5000)], Vec::new()],
    },
    Set {
        name: "B dark for 5 s from slow start on",
        from_ms: 0,
        outages: |rng| [Vec::new(), vec![span(rng.random_range(300..1000), 5000)]],
    },
    Set {
        name: "A dark for 5 s, 150 to 300 ms after it began",
        from_ms: 0,
        outages: |rng| [vec![span(rng.random_range(150..300), 5000)], Vec::new()],
    },
    Set {
        name: "B dark for 5 s, 0 to 300 ms after it was opened",
        from_ms: 0,
        outages: |rng| [Vec::new(), vec![span(100 + rng.random_range(0..300), 5000)]],
    },
    Set {
        name: "A dark five times for 1 s",
        from_ms: 1000,
        outages: |rng| [five(rng.random_range(1000..2000)), Vec::new()],
    },
    Set {
        name: "B dark five times for 1 s",
        from_ms: 1000,
        outages: |rng| [Vec::new(), five(rng.random_range(1000..2000))],
    },
    Set {
        name: "A and B dark for 1 s in turn, 500 ms between",
        from_ms: 1000,
        outages: |rng| in_turn(rng, 500),
    },
    Set {
        name: "A and B dark for 1 s in turn, without a pause",
        from_ms: 1000,
        outages: |rng| in_turn(rng, 0),
    },
];

fn links(outages: Outages) -> Vec<Link> {
    let [first, second] = outages;
    let link = |mbps, delay_ms, down| {
        let queue_bytes = Bitrate::from_mbps(mbps).bytes_in(Duration::from_millis(2 * delay_ms));
        Link { queue_bytes, down, ..Link::new(mbps, delay_ms) }
    };
    vec![link(50.0, 20, first), link(20.0, 30, second)]
}

/// The longest stall of a download in milliseconds. `open` opens the second path.
fn stall<C: Host, S: Host>(
    mut world: World<C, S>,
    from_ms: u64,
    mut open: impl FnMut(&mut C, Instant) -> bool,
    bulk: impl Fn(&mut C) -> &mut Bulk,
) -> f64 {
    let limit = Instant::ZERO + LIMIT;
    world.run(limit, |world| open(&mut world.client, world.now));
    let from = Instant::from_millis(from_ms).max(world.now);
    world.run(from, |_| false);
    let counted = bulk(&mut world.client);
    (counted.longest_stall, counted.last_at) = (Duration::ZERO, from);
    world.run(limit, |world| world.client.bulk().ended);
    let now = world.now;
    let counted = bulk(&mut world.client);
    let last = if counted.ended { Duration::ZERO } else { now - counted.last_at };
    counted.longest_stall.max(last).as_secs_f64() * 1e3
}

fn ours(links: Vec<Link>, from_ms: u64, seed: u64) -> f64 {
    let world = World::new(Own::client(0, |_| {}), Own::server(BYTES, |_| {}), links, seed);
    let open = |client: &mut Own, now| client.endpoint.add_path(now, PathId(1)).is_ok();
    stall(world, from_ms, open, |client| &mut client.bulk)
}

fn noqs(links: Vec<Link>, from_ms: u64, seed: u64) -> f64 {
    let world = World::new(Noq::client(0, 2), Noq::server(BYTES, 2), links, seed);
    let open = |client: &mut Noq, now| client.connected && client.open_path(now, 1);
    stall(world, from_ms, open, |client| &mut client.bulk)
}

fn main() {
    let seeds = std::env::args().nth(1).and_then(|seeds| seeds.parse().ok()).unwrap_or(100);
    let only: Option<usize> = std::env::args().nth(2).and_then(|index| index.parse().ok());
    for (index, set) in SETS.iter().enumerate() {
        if only.is_some_and(|only| only != index) {
            continue;
        }
        for (stack, run) in [("ours", ours as fn(_, _, _) -> _), ("noq", noqs)] {
            let one = |seed| {
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                run(links((set.outages)(&mut rng)), set.from_ms, seed)
            };
            let mut stalls: Vec<(f64, u64)> = (0..seeds).map(|seed| (one(seed), seed)).collect();
            stalls.sort_by(|a, b| a.0.total_cmp(&b.0));
            // Nearest rank.
            let rank = |percent: usize| {
                let place = (stalls.len() * percent).div_ceil(100).max(1) - 1;
                stalls.get(place).map_or(0.0, |(stall, _)| stall.round())
            };
            let worst = stalls.last().map_or(0, |(_, seed)| *seed);
            println!(
                "{}",
                serde_json::json!({
                    "set": set.name, "stack": stack, "seeds": seeds, "p50_ms": rank(50),
                    "p90_ms": rank(90), "p99_ms": rank(99), "max_ms": rank(100), "worst_seed": worst,
                })
            );
        }
    }
}
