//! How fast both ends of a connection run in virtual time, and what an idle one costs:
//! `cargo run --release --example loopback [ROUNDS] [ours|noq] [MEGABYTES]`.
//!
//! Ours and noq-proto in turn, one path and two; both ends, TLS and the network on one core. The median
//! of the rounds, by processor time: other work on the machine then disturbs little. It reports and
//! never judges.

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
use rustix::time::{ClockId, clock_gettime};
use units::{Instant, PathId};
use world::{Host, Link, Own, World};

const IDLE: usize = 1000;

/// Processor time of this process.
fn clock_s() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

fn links() -> Vec<Link> {
    vec![Link::new(1000.0, 2), Link::new(1000.0, 3)]
}

/// One transfer: datagrams per second, Mbit/s, both of processor time.
fn measure<C: Host, S: Host>(world: &mut World<C, S>, bytes: u64) -> (f64, f64) {
    let (start, before) = (clock_s(), world.count);
    world.transfer(600);
    let seconds = clock_s() - start;
    ((world.count - before) as f64 / seconds, bytes as f64 * 8e-6 / seconds)
}

fn ours(paths: u8, bytes: u64) -> (f64, f64) {
    let mut world = World::new(Own::client(0, |_| {}), Own::server(bytes, |_| {}), links(), 1);
    if paths == 2 {
        let soon = Instant::from_millis(500);
        world.run(soon, |world| world.client.endpoint.add_path(world.now, PathId(1)).is_ok());
    }
    measure(&mut world, bytes)
}

fn noq(paths: u8, bytes: u64) -> (f64, f64) {
    let mut world = World::new(Noq::client(0, 2), Noq::server(bytes, 2), links(), 1);
    if paths == 2 {
        let soon = Instant::from_millis(500);
        world.run(soon, |world| world.client.connected && world.client.open_path(world.now, 1));
    }
    measure(&mut world, bytes)
}

/// The median and the best, by Mbit/s.
fn summary(mut of: Vec<(f64, f64)>) -> [(f64, f64); 2] {
    of.sort_by(|a, b| a.1.total_cmp(&b.1));
    [of[of.len() / 2], of[of.len() - 1]]
}

/// Resident memory of this process, where the system reports it.
fn resident_bytes() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split(' ').nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

/// Bytes of memory per end of a connection that is established and idle, two paths open.
fn idle_bytes() -> Option<u64> {
    let idle = || {
        let mut world = World::new(Own::client(0, |_| {}), Own::server(0, |_| {}), links(), 1);
        let mut added = false;
        world.run(Instant::from_millis(2000), |world| {
            added = added || world.client.endpoint.add_path(world.now, PathId(1)).is_ok();
            false
        });
        (world.client.endpoint, world.server.endpoint)
    };
    let _warm: Vec<_> = (0..10).map(|_| idle()).collect();
    let before = resident_bytes()?;
    let all: Vec<_> = (0..IDLE).map(|_| idle()).collect();
    Some(resident_bytes()?.saturating_sub(before) / (2 * all.len() as u64))
}

fn main() {
    let mut args = std::env::args().skip(1);
    let rounds: usize = args.next().and_then(|arg| arg.parse().ok()).unwrap_or(5);
    let only = args.next();
    let bytes = args.next().and_then(|arg| arg.parse().ok()).unwrap_or(200_u64) * 1_000_000;
    let wanted = |name: &str| only.as_deref().is_none_or(|only| only == name);
    if only.is_none() {
        println!("idle: {} bytes per end of a connection", idle_bytes().unwrap_or(0));
    }
    for paths in [1, 2] {
        let mut results = [Vec::new(), Vec::new()];
        for _ in 0..rounds {
            if wanted("ours") {
                results[0].push(ours(paths, bytes));
            }
            if wanted("noq") {
                results[1].push(noq(paths, bytes));
            }
        }
        for (name, results) in ["ours", "noq"].into_iter().zip(results) {
            if !results.is_empty() {
                let [(rate, mbps), (_, best)] = summary(results);
                println!(
                    "{name:<5} {paths} path(s): {rate:>7.0} datagrams/s, {mbps:>6.0} Mbit/s, best {best:.0}"
                );
            }
        }
    }
}
