//! Data that leaves twice: within its budget, and where that arrives sooner.

use super::world::*;
use crate::*;
use units::{Duration, Instant, PathId};

const MEGABYTE: u64 = 1_000_000;

fn small(config: &mut Config) {
    config.stream_window_bytes = 130_000;
    config.receive_window_bytes = 130_000;
    config.max_receive_window_bytes = 2 * MEGABYTE;
    config.send_buffer_bytes = MEGABYTE;
}

/// A server sends over two unequal paths with little memory: when it is through, and both ends.
fn download(scheduler: &str, bytes: u64, memory: fn(&mut Config)) -> (f64, World<Own, Own>) {
    let links = vec![Link::new(40.0, 10), Link::new(5.0, 60)];
    let client = Own::new(super::tls::client_role(), 0, scheduler, memory);
    let server = Own::new(super::tls::server_role(), bytes, scheduler, memory);
    let mut world = World::new(client, server, links, 1);
    let soon = Instant::from_millis(500);
    assert!(world.run(soon, |world| world.client.endpoint.add_path(world.now, PathId(1)).is_ok()));
    let end = world.transfer(60);
    (end.as_secs_f64(), world)
}

/// Bytes that a server sent on all paths, and sent on another path than that which carried them.
fn sent(world: &World<Own, Own>) -> (u64, u64) {
    let paths = [0, 1].map(|net| world.server.endpoint.path_stats(PathId(net)).unwrap());
    let sum = |pick: fn(&PathStats) -> u64| paths.iter().map(pick).sum();
    (sum(|path| path.sent_bytes), sum(|path| path.reinjected_bytes))
}

/// While the window was closed, the rule for the tail used to copy again and again.
#[test]
fn copies_at_the_tail_keep_to_a_tenth_whatever_the_window() {
    let (_, world) = download("minrtt", 20 * MEGABYTE, small);
    let (all, copies) = sent(&world);
    assert!(copies <= all / 10 + (300 << 10), "{copies} of {all}");
}

#[test]
fn with_little_memory_order_is_worth_more_than_room() {
    let (in_order, world) = download("weave", 20 * MEGABYTE, small);
    let (at_once, _) = download("minrtt", 20 * MEGABYTE, small);
    let both = 20.0 * 8.0 / 45.0;
    assert!(in_order < 1.15 * both && in_order < at_once, "{in_order} {at_once} {both}");
    let (all, copies) = sent(&world);
    assert!(copies <= all / 10 + (1 << 20), "{copies} of {all}");
    let slow = world.client.endpoint.path_stats(PathId(1)).unwrap();
    assert!(slow.unique_bytes > MEGABYTE, "{slow:?}");
}

/// Where no timer reinjects the flight of a path that falls silent, rescue brings it.
#[test]
fn what_a_silent_path_holds_is_copied() {
    let dark = (Instant::from_millis(1500), Instant::from_millis(3500));
    let links = vec![Link::new(20.0, 20), Link { down: vec![dark], ..Link::new(20.0, 25) }];
    let patient = |config: &mut Config| config.reinjection.on_failure = false;
    let client = Own::new(super::tls::client_role(), 0, "weave", |_| {});
    let server = Own::new(super::tls::server_role(), 10 * MEGABYTE, "weave", patient);
    let mut world = World::new(client, server, links, 1);
    let soon = Instant::from_millis(500);
    world.run(soon, |world| world.client.endpoint.add_path(world.now, PathId(1)).is_ok());
    world.run(Instant::from_millis(1450), |_| false);
    let (_, before) = sent(&world);
    world.run(Instant::from_millis(1900), |_| false);
    let (_, after) = sent(&world);
    assert!(after > before + 100_000, "{before} {after}"); // 20 Mbit/s for 50 ms
    world.transfer(60);
    let longest = world.client.endpoint.in_order_waits().longest().unwrap();
    assert!(longest < Duration::from_millis(600), "{longest:?}"); // of 2 s
}
