//! Paths that go dark at random, at least one alive at any time: the application waits for a bounded
//! time, and everything arrives.

use super::world::*;
use proptest::prelude::*;
use units::{Duration, Instant, PathId};

/// Each path's rate in Mbit/s and one-way delay in ms.
const PATHS: [(f64, u64); 4] = [(12.0, 20), (5.0, 30), (8.0, 60), (4.0, 10)];
const BYTES: u64 = 6_000_000;

/// A stretch of time in which all paths but one may be dark.
#[derive(Clone, Debug)]
struct Stretch {
    length_ms: u64,
    alive: usize,
    /// Bits of the others that are dark.
    dark: u8,
}

fn stretch() -> impl Strategy<Value = Stretch> {
    (20_u64..3000, 0_usize..4, any::<u8>()).prop_map(|(length_ms, alive, dark)| Stretch {
        length_ms,
        alive,
        dark,
    })
}

/// What the links of `paths` do from `from_ms` on; a path that is alive in two stretches one after
/// the other, or in one and then with the next one for `overlap_ms`, is alive all the time.
fn links(paths: usize, from_ms: u64, stretches: &[Stretch], overlap_ms: u64) -> Vec<Link> {
    let mut links: Vec<Link> =
        PATHS[..paths].iter().map(|(mbps, delay_ms)| Link::new(*mbps, *delay_ms)).collect();
    let mut at = from_ms;
    for stretch in stretches {
        let end = at + stretch.length_ms;
        for (index, link) in links.iter_mut().enumerate() {
            if index != stretch.alive % paths && stretch.dark >> index & 1 == 1 {
                // The one that was alive before stays for a while: nobody can know at once.
                let start = Instant::from_millis(at + overlap_ms);
                link.down.push((start, Instant::from_millis(end.max(at + overlap_ms))));
            }
        }
        at = end;
    }
    links
}

/// The longest stall of a download, all paths open, in ms.
fn longest_stall(links: Vec<Link>, seed: u64) -> u64 {
    let paths = links.len() as u8;
    let mut world = World::new(Own::client(0, |_| {}), Own::server(BYTES, |_| {}), links, seed);
    let mut next = 1;
    let opened = world.run(Instant::from_millis(900), |world| {
        if next < paths && world.client.endpoint.add_path(world.now, PathId(next)).is_ok() {
            next += 1;
        }
        next == paths
    });
    assert!(opened);
    world.transfer(120);
    assert!(world.client.closed().is_none() && world.server.closed().is_none());
    world.client.bulk.longest_stall.as_millis()
}

/// What an application may wait at most. A path that goes dark is suspected after its probe timer:
/// the RTT and four times its variation, with up to two more RTTs of queue (60 to 350 ms here), 25
/// ms. Its flight is retransmitted on a path that works; if none does, the failed ones are probed
/// at once, and then at their own probe timers (at most twice in the time to failure, max(3 PTO,
/// 500 ms)): an RTT. What is retransmitted is a window and its queue, on the slowest path (4
/// Mbit/s) up to 800 ms. A stretch may end in the middle of this, and it begins anew: not more than
/// once, as the new path was alive before.
const BOUND: Duration = Duration::from_millis(2500);

proptest! {
    #![proptest_config(cases::at_least(24))]

    #[test]
    fn while_a_path_is_alive_the_application_waits_a_bounded_time(
        paths in 2_usize..=4,
        stretches in proptest::collection::vec(stretch(), 1..8),
        seed in any::<u64>(),
    ) {
        let stall = longest_stall(links(paths, 300, &stretches, 0), seed);
        eprintln!("stall {stall}");
        prop_assert!(stall <= BOUND.as_millis(), "{stall} ms");
    }
}

/// Paths opened together begin in the order of their delays, not of their IDs.
#[test]
fn paths_opened_together_all_come_up() {
    let mut world =
        World::new(Own::client(0, |_| {}), Own::server(BYTES, |_| {}), links(4, 0, &[], 0), 1);
    let mut next = 1;
    world.run(Instant::from_millis(900), |world| {
        if next < 4 && world.client.endpoint.add_path(world.now, PathId(next)).is_ok() {
            next += 1;
        }
        next == 4
    });
    world.transfer(20);
    for net in 0..4 {
        let stats = world.server.endpoint.path_stats(PathId(net)).expect("it was opened");
        assert!(stats.delivered_bytes > 300_000, "{net}: {stats:?}");
    }
}
