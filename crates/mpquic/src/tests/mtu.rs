//! How long the datagrams of a path may be, on paths that drop longer ones.

use super::rebind::{Behind, Copies};
use super::world::{Link, Own, World};
use crate::*;
use proptest::prelude::*;
use units::{Duration, Instant, PathId};

const MOST: usize = 1452;

/// A client that sends `bytes`, over paths with these MTUs.
fn world(bytes: u64, mtus: &[usize]) -> World<Own, Own> {
    let searches = |config: &mut Config| config.most_datagram_bytes = MOST;
    // A queue that never is full: what is lost was too long.
    let link = Link { queue_bytes: 1 << 30, ..Link::new(50.0, 10) };
    let links = mtus.iter().map(|mtu| Link { mtu: *mtu, ..link.clone() });
    World::new(Own::client(bytes, searches), Own::server(0, searches), links.collect(), 7)
}

fn found(world: &World<Own, Own>, net: u8) -> usize {
    world.client.endpoint.path_datagram_bytes(PathId(net)).unwrap()
}

#[test]
fn an_ordinary_path_is_used_in_full() {
    let mut world = world(3_000_000, &[1500]);
    world.transfer(20);
    assert_eq!(found(&world, 0), MOST);
    let stats = world.client.endpoint.path_stats(PathId(0)).unwrap();
    let mean = stats.sent_bytes / stats.sent_packets;
    assert!(mean > 1400, "{mean}");
}

#[test]
fn a_narrow_path_costs_probes_and_no_congestion() {
    let mut world = world(3_000_000, &[1300]);
    world.transfer(20);
    assert!((1281..=1300).contains(&found(&world, 0)), "{}", found(&world, 0));
    let stats = world.client.endpoint.path_stats(PathId(0)).unwrap();
    assert_eq!(stats.lost_packets, 0, "{stats:?}");
}

#[test]
fn without_a_search_nothing_is_longer() {
    let mut world = world(500_000, &[1200]);
    world.client = Own::client(500_000, |_| ());
    world.transfer(20);
    assert_eq!(found(&world, 0), 1200);
    let stats = world.client.endpoint.path_stats(PathId(0)).unwrap();
    assert_eq!(stats.lost_packets, 0, "{stats:?}");
}

/// A path that becomes narrower loses all that is long; what is left of the transfer comes all the same.
#[test]
fn a_black_hole_is_left() {
    let mut world = world(6_000_000, &[1500]);
    let half = Instant::ZERO + Duration::from_secs(20);
    assert!(world.run(half, |world| world.server.bulk.received > 2_000_000));
    assert_eq!(found(&world, 0), MOST);
    world.links[0][0].mtu = 1250;
    world.transfer(60);
    assert!(found(&world, 0) <= 1250, "{}", found(&world, 0));
}

/// The client's NAT gives it another address, and the way there is narrower.
#[test]
fn a_path_that_moved_is_searched_anew() {
    let moves_at = Instant::from_millis(400);
    let World { client, links, .. } = world(0, &[1500]);
    let mut server = Behind::new(0, &[(400, 1)], Copies::None);
    server.own = Own::server(6_000_000, |config| config.most_datagram_bytes = MOST);
    let [links, _] = links;
    let mut world = World::new(client, server, links, 7);
    world.run(moves_at, |_| false);
    let of = |world: &World<Own, Behind>, net| world.server.own.endpoint.path_datagram_bytes(net);
    assert_eq!(of(&world, PathId(0)), Some(MOST));
    world.links[1][0].mtu = 1300;
    world.transfer(60);
    let found = of(&world, PathId(1)).unwrap();
    assert!((1281..=1300).contains(&found), "{found}");
}

proptest! {
    #![proptest_config(cases::at_least(12))]

    /// Whatever a path passes, and whatever it loses beside, everything comes.
    #[test]
    fn every_path_brings_everything(
        mtu in 1200..1600_usize,
        later in 1200..1600_usize,
        loss in 0..30_u32,
        turn in 0..1_500_000_u64,
    ) {
        let mut world = world(1_500_000, &[mtu]);
        world.links[0][0].loss = loss;
        let until = Instant::ZERO + Duration::from_secs(60);
        prop_assert!(world.run(until, |world| world.server.bulk.received >= turn));
        world.links[0][0].mtu = later;
        world.transfer(120);
    }
}
