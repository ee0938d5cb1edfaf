//! How fast both ends of a connection run in virtual time: `cargo run --release --example loopback`.
//! Ours and noq-proto in the same run, one path and two; both ends, TLS and the network on one core.
//! It reports and never judges: a busy machine changes the numbers by a factor.

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
use std::time::Instant as Clock;
use units::{Instant, PathId};
use world::{Host, Link, Own, World};

const BYTES: u64 = 200_000_000;

fn links() -> Vec<Link> {
    vec![Link::new(1000.0, 2), Link::new(1000.0, 3)]
}

fn report<C: Host, S: Host>(name: &str, paths: u8, world: &mut World<C, S>) {
    let clock = Clock::now();
    let before = world.count;
    let finished = world.transfer(600);
    let seconds = clock.elapsed().as_secs_f64();
    let datagrams = world.count - before;
    println!(
        "{name:<5} {paths} path(s): {:>7.0} datagrams/s, {:>6.0} Mbit/s of wall clock; {:.0} Mbit/s of virtual time",
        datagrams as f64 / seconds,
        BYTES as f64 * 8e-6 / seconds,
        BYTES as f64 * 8e-6 / finished.as_secs_f64(),
    );
}

fn main() {
    for paths in [1, 2] {
        let mut world = World::new(Own::client(0, |_| {}), Own::server(BYTES, |_| {}), links(), 1);
        if paths == 2 {
            let soon = Instant::from_millis(500);
            world.run(soon, |world| world.client.endpoint.add_path(world.now, PathId(1)).is_ok());
        }
        report("ours", paths, &mut world);

        let mut world = World::new(Noq::client(0, 2), Noq::server(BYTES, 2), links(), 1);
        if paths == 2 {
            world.run(Instant::from_millis(500), |world| {
                world.client.connected && world.client.open_path(world.now, 1)
            });
        }
        report("noq", paths, &mut world);
    }
}
