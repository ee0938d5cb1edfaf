//! Our endpoint and noq-proto, one path and two.

use super::noq::Noq;
use super::world::*;
use crate::*;
use units::{Duration, Instant, PathId};

const MEGABYTE: u64 = 1_000_000;

fn one_path() -> Vec<Link> {
    vec![Link::new(100.0, 20)]
}

fn two_paths() -> Vec<Link> {
    vec![Link::new(100.0, 20), Link::new(50.0, 40)]
}

#[test]
fn our_client_and_noq_exchange_ten_megabytes() {
    let client = Own::client(10 * MEGABYTE, |config| config.max_paths = 1);
    let mut world = World::new(client, Noq::server(10 * MEGABYTE, 1), one_path(), 1);
    let seconds = world.transfer(20).as_secs_f64();
    assert!(seconds < 2.0, "{seconds}");
}

#[test]
fn our_server_and_noq_exchange_ten_megabytes() {
    let server = Own::server(10 * MEGABYTE, |config| config.max_paths = 1);
    let mut world = World::new(Noq::client(10 * MEGABYTE, 1), server, one_path(), 1);
    let seconds = world.transfer(20).as_secs_f64();
    assert!(seconds < 2.0, "{seconds}");
}

#[test]
fn a_peer_without_multipath_leaves_one_path_and_says_so() {
    let client = Own::client(MEGABYTE, |_| {});
    let mut world = World::new(client, Noq::server(0, 1), two_paths(), 1);
    world.transfer(20);
    assert!(
        world.client.has(&Event::NoMultipath) && !world.client.has(&Event::MultipathNegotiated)
    );
    let now = world.now;
    assert_eq!(world.client.endpoint.add_path(now, PathId(1)), Err(Error::NoMultipath));
}

#[test]
fn loss_reordering_and_duplication_against_noq() {
    for seed in 0..3 {
        let link = Link { loss: 15, reorder: 20, duplicate: 10, corrupt: 5, ..Link::new(50.0, 15) };
        let client = Own::client(2 * MEGABYTE, |config| config.max_paths = 1);
        World::new(client, Noq::server(2 * MEGABYTE, 1), vec![link.clone()], seed).transfer(60);
        let server = Own::server(2 * MEGABYTE, |config| config.max_paths = 1);
        World::new(Noq::client(2 * MEGABYTE, 1), server, vec![link], seed).transfer(60);
    }
}

#[test]
fn retry_of_noq_is_accepted() {
    let mut server = Noq::server(0, 1);
    server.retries = true;
    let mut world = World::new(Own::client(MEGABYTE, |_| {}), server, one_path(), 1);
    world.transfer(10);
}

#[test]
fn key_updates_both_ways_against_noq() {
    let client = Own::client(40 * MEGABYTE, |_| {});
    let mut world = World::new(client, Noq::server(40 * MEGABYTE, 1), one_path(), 1);
    for round in 1..=6 {
        // noq takes up to three of its probe timeouts to forget the old keys.
        world.run(Instant::from_millis(round * 500), |_| false);
        if round % 2 == 0 {
            world.server.connection().force_key_update();
        } else {
            world.client.endpoint.update_keys(world.now).unwrap();
        }
    }
    world.transfer(20);
    // noq updates once more by itself.
    assert!(world.client.endpoint.totals().key_updates >= 6);
    assert_eq!(world.server.lost, None);
}

fn until_confirmed<S: Host>(world: &mut World<Own, S>) {
    assert!(world.run(Instant::from_millis(2000), |world| world.client.has(&Event::Confirmed)));
}

fn add_path<S: Host>(world: &mut World<Own, S>, net: u8) {
    let until = world.now + Duration::from_secs(2);
    let added =
        world.run(until, |world| world.client.endpoint.add_path(world.now, PathId(net)).is_ok());
    assert!(added, "no path could be added");
}

#[test]
fn two_paths_with_noq_as_server() {
    let client = Own::client(20 * MEGABYTE, |_| {});
    let mut world = World::new(client, Noq::server(20 * MEGABYTE, 4), two_paths(), 1);
    until_confirmed(&mut world);
    add_path(&mut world, 1);
    let seconds = world.transfer(20).as_secs_f64();
    assert!(world.client.has(&Event::PathEstablished(PathId(1))));
    assert!(seconds < 3.0, "{seconds} s for 20 MB each way");
    let second = world.client.endpoint.path_stats(PathId(1)).unwrap();
    assert!(second.delivered_bytes > MEGABYTE, "{second:?}");
}

#[test]
fn two_paths_with_noq_as_client() {
    let server = Own::server(20 * MEGABYTE, |_| {});
    let mut world = World::new(Noq::client(20 * MEGABYTE, 4), server, two_paths(), 1);
    world.run(Instant::from_millis(200), |_| false);
    assert!(world.run(Instant::from_millis(1000), |world| world.client.open_path(world.now, 1)));
    let seconds = world.transfer(20).as_secs_f64();
    assert!(world.server.has(&Event::PathEstablished(PathId(1))));
    assert!(seconds < 3.0, "{seconds} s for 20 MB each way");
}

#[test]
fn paths_are_added_and_abandoned_while_noq_receives() {
    let client = Own::client(40 * MEGABYTE, |_| {});
    let mut world = World::new(client, Noq::server(0, 4), two_paths(), 1);
    until_confirmed(&mut world);
    for round in 1..=3 {
        add_path(&mut world, 1);
        world.run(Instant::from_millis(round * 700), |_| false);
        world.client.endpoint.abandon_path(world.now, PathId(1)).unwrap();
        world.run(Instant::from_millis(round * 700 + 100), |_| false);
    }
    world.transfer(30);
    assert_eq!(world.server.lost, None);
    assert_eq!(world.server.abandoned, 3);
}

#[test]
fn noq_abandons_a_path_of_ours() {
    let server = Own::server(20 * MEGABYTE, |_| {});
    let mut world = World::new(Noq::client(0, 4), server, two_paths(), 1);
    world.run(Instant::from_millis(200), |_| false);
    assert!(world.run(Instant::from_millis(1000), |world| world.client.open_path(world.now, 1)));
    world.run(Instant::from_millis(800), |_| false);
    assert!(world.client.close_path(world.now, 0));
    world.transfer(30);
    assert!(
        world.server.events.iter().any(|(_, e)| matches!(e, Event::PathAbandoned(PathId(0), _)))
    );
}

#[test]
fn a_path_blacked_out_for_five_seconds_hardly_stalls_noq_as_receiver() {
    let client = Own::client(60 * MEGABYTE, |_| {});
    let mut links = two_paths();
    links[1].down = vec![(Instant::from_millis(1500), Instant::from_millis(6500))];
    let mut world = World::new(client, Noq::server(0, 4), links, 1);
    until_confirmed(&mut world);
    add_path(&mut world, 1);
    world.transfer(60);
    assert!(world.client.has(&Event::PathFailed(PathId(1))));
    let stall = world.server.bulk.longest_stall;
    eprintln!("noq receives: stall {stall:?}");
    assert!(stall < Duration::from_millis(1000), "{stall:?}");
}
