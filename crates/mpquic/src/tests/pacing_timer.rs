//! Which pacers wake a sender.

use super::tls;
use super::world::*;
use crate::*;
use std::collections::BTreeSet;
use units::{Duration, Instant, PathId};

const MEGABYTE: u64 = 1_000_000;

/// A server sends over paths of these rates in Mbit/s, 10 ms long, and pacers wake it in this way.
fn over(rates: &[f64], timer: PacingTimer, bytes: u64) -> World<Own, Own> {
    let change = |config: &mut Config| {
        config.congestion = congestion::Algorithm::Bbr.into();
        config.pacing_timer = timer;
        config.ack_path = AckPath::Fastest;
        config.reinjection = Reinjection { on_failure: true, at_tail: false };
    };
    let client = Own::new(tls::client_role(), 0, "roundrobin", change);
    let server = Own::new(tls::server_role(), bytes, "roundrobin", change);
    let links = rates.iter().map(|mbps| Link::new(*mbps, 10)).collect();
    let mut world = World::new(client, server, links, 1);
    for net in 1..rates.len() {
        let is_added = world.run(Instant::from_millis(3000), |world| {
            world.client.endpoint.add_path(world.now, PathId(net as u8)).is_ok()
        });
        assert!(is_added);
    }
    world
}

#[test]
fn paths_hold_each_other_back_if_one_pacer_alone_is_heeded() {
    let seconds = |timer| over(&[8.0; 4], timer, 20 * MEGABYTE).transfer(120).as_secs_f64();
    let (every, last) = (seconds(PacingTimer::Every), seconds(PacingTimer::Last));
    eprintln!("20 MB over 4 times 8 Mbit/s: {every:.2} s, {last:.2} s");
    assert!(last > 1.2 * every, "{last} s against {every} s");
}

#[test]
fn one_path_sends_at_a_time_if_its_pacer_alone_is_heeded() {
    let mut world = over(&[8.0; 4], PacingTimer::Last, 20 * MEGABYTE);
    world.run(Instant::from_millis(3000), |world| world.client.bulk.received > MEGABYTE);
    let (mut now, end) = (world.now, world.now + Duration::from_millis(8));
    let server = &mut world.server.endpoint;
    let mut wakes = 0;
    while let Some(due) = server.poll_timeout().filter(|due| *due < end) {
        now = now.max(due);
        server.on_timeout(now);
        let mut nets = BTreeSet::new();
        while let Some((net, datagram)) = server.poll_transmit(now) {
            if datagram.len() > 1000 {
                nets.insert(net);
            }
        }
        assert!(nets.len() <= 1, "{nets:?} at once");
        wakes += nets.len();
    }
    assert!(wakes > 0, "nothing left");
}
