//! A client's packets that come another way: its NAT, or an attacker (RFC 9000 §9.3, §21.12).

use super::world::*;
use crate::*;
use std::collections::{BTreeMap, VecDeque};
use units::{Duration, Instant, PathId};

/// The attacker's address.
const FORGED: PathId = PathId(9);

fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

/// Which of the client's datagrams the attacker copies.
#[derive(Clone, Copy, PartialEq)]
pub enum Copies {
    None,
    /// Those of the beginning: his copies are first, as the client's next ones are not.
    FirstOfEach,
    /// All from this moment on, and his copies come first.
    Before(Instant),
    /// All from the first one on, and the server has answered his copy before the client's packet comes.
    Faster,
    /// All; his copies come second.
    After,
}

/// A server whose client is behind a NAT that gives its first path other addresses at times, while
/// somebody sends copies from his own.
pub struct Behind {
    pub own: Own,
    /// From then on the client's path 0 comes from there.
    addresses: Vec<(Instant, PathId)>,
    copies: Copies,
    /// Something came from there.
    came: [bool; 10],
    copied_bytes: u64,
    forged_bytes: u64,
    lost: u64,
    /// What the server has answered already.
    answers: VecDeque<(PathId, Vec<u8>)>,
    /// Where datagrams went, and when the last one did.
    reached: BTreeMap<PathId, Instant>,
}

impl Behind {
    pub fn new(bytes: u64, addresses: &[(u64, u8)], copies: Copies) -> Self {
        let addresses = addresses.iter().map(|(at, net)| (ms(*at), PathId(*net))).collect();
        let own = Own::server(bytes, |_| {});
        Self {
            own,
            addresses,
            copies,
            came: [false; 10],
            copied_bytes: 0,
            forged_bytes: 0,
            lost: 0,
            answers: VecDeque::new(),
            reached: BTreeMap::new(),
        }
    }

    fn address(&self, now: Instant) -> PathId {
        let current = self.addresses.iter().rev().find(|(at, _)| *at <= now);
        current.map_or(PathId(0), |(_, net)| *net)
    }

    fn moves(&self) -> Vec<(u8, u8)> {
        let moves = self.own.events.iter().filter_map(|(_, event)| match event {
            Event::PathMoved(from, to) => Some((from.0, to.0)),
            _ => None,
        });
        moves.collect()
    }
}

impl Host for Behind {
    fn handle(&mut self, now: Instant, net: PathId, datagram: Vec<u8>) {
        let net = if net.0 == 0 { self.address(now) } else { net };
        let is_first = !std::mem::replace(&mut self.came[net.index()], true);
        let before = match self.copies {
            Copies::FirstOfEach => is_first,
            Copies::Before(from) => from <= now,
            Copies::Faster => true,
            Copies::None | Copies::After => false,
        };
        if before {
            self.copied_bytes += datagram.len() as u64;
            self.own.handle(now, FORGED, datagram.clone());
        }
        if self.copies == Copies::Faster {
            self.answers.extend(std::iter::from_fn(|| self.own.transmit(now)));
        }
        self.own.handle(now, net, datagram.clone());
        if self.copies == Copies::After {
            self.copied_bytes += datagram.len() as u64;
            self.own.handle(now, FORGED, datagram);
        }
    }

    fn transmit(&mut self, now: Instant) -> Option<(PathId, Vec<u8>)> {
        loop {
            let ready = self.answers.pop_front();
            let (net, datagram) = ready.or_else(|| self.own.transmit(now))?;
            self.reached.insert(net, now);
            if net == self.address(now) {
                return Some((PathId(0), datagram));
            }
            if net == FORGED {
                self.forged_bytes += datagram.len() as u64;
            } else if net.0 == 1 {
                return Some((net, datagram));
            } else {
                self.lost += 1; // an address that the NAT forgot
            }
        }
    }

    fn timeout(&self) -> Option<Instant> {
        self.own.timeout()
    }

    fn on_timeout(&mut self, now: Instant) {
        self.own.on_timeout(now);
    }

    fn work(&mut self, now: Instant) {
        self.own.work(now);
    }

    fn bulk(&self) -> &Bulk {
        &self.own.bulk
    }
}

pub fn world(up: u64, server: Behind) -> World<Own, Behind> {
    let links = vec![Link::new(20.0, 20), Link::new(20.0, 30)];
    World::new(Own::client(up, |_| {}), server, links, 1)
}

#[test]
fn a_path_follows_its_client_to_another_address() {
    let addresses = [(700, 5), (1800, 6), (4000, 5)];
    let mut world = world(3_000_000, Behind::new(12_000_000, &addresses, Copies::None));
    world.transfer(20);
    assert_eq!(world.server.moves(), [(0, 5), (5, 6), (6, 5)]);
    assert!(world.server.lost > 0, "the old address was dead");
    // While it only reads it has nothing to send but the sign of life after a second.
    let stall = world.client.bulk.longest_stall;
    assert!(stall < Duration::from_millis(1500), "{stall:?}");
    assert!(world.server.own.endpoint.path_stats(PathId(0)).is_none());
    assert!(world.server.own.endpoint.path_stats(PathId(5)).is_some());
}

/// The second path's data does not wait for the first one's new address.
#[test]
fn with_two_paths_one_follows_and_the_other_stays() {
    let mut world = world(0, Behind::new(12_000_000, &[(1500, 5)], Copies::None));
    world.run(ms(400), |world| world.client.endpoint.add_path(world.now, PathId(1)).is_ok());
    world.transfer(20);
    assert_eq!(world.server.moves(), [(0, 5)]);
    let stall = world.client.bulk.longest_stall;
    assert!(stall < Duration::from_millis(400), "{stall:?}");
}

/// Copies from a forged address take nothing over, whether they come before or after what they copy,
/// during the handshake or later; what the forged address gets is bounded.
#[test]
fn copies_from_another_address_move_no_path() {
    for copies in [Copies::FirstOfEach, Copies::Before(ms(800)), Copies::After] {
        let mut world = world(2_000_000, Behind::new(4_000_000, &[], copies));
        // (a forged first Initial costs the client its probe timeout)
        world.run(ms(3000), |world| world.client.endpoint.add_path(world.now, PathId(1)).is_ok());
        world.transfer(20);
        assert_eq!(world.server.moves(), []);
        let Behind { copied_bytes, forged_bytes, .. } = world.server;
        assert!(forged_bytes <= 3 * copied_bytes, "{forged_bytes} for {copied_bytes}");
        let server = &world.server.own.endpoint;
        for net in [0, 1] {
            assert!(server.path_stats(PathId(net)).unwrap().delivered_bytes > 300_000, "{net}");
        }
        assert!(server.path_stats(FORGED).is_none());
    }
}

/// Copies of all packets reach the server first, and what the server sends to where they come from is
/// lost: the client's handshake ends all the same, and its paths carry data.
#[test]
fn a_handshake_survives_an_attacker_who_is_always_faster() {
    let mut world = world(500_000, Behind::new(1_000_000, &[], Copies::Faster));
    assert!(world.run(ms(8000), |world| world.client.has(&Event::Confirmed)), "no handshake");
    world.run(ms(12_000), |world| world.client.endpoint.add_path(world.now, PathId(1)).is_ok());
    world.transfer(40);
    let Behind { copied_bytes, forged_bytes, .. } = world.server;
    assert!(forged_bytes <= 3 * copied_bytes, "{forged_bytes} for {copied_bytes}");
}

/// RFC 9000 §9.3.3: the address that a path has left is asked whether the peer is still there.
#[test]
fn the_old_address_is_challenged_after_a_move() {
    let mut world = world(0, Behind::new(3_000_000, &[(600, 5)], Copies::None));
    world.transfer(20);
    assert_eq!(world.server.moves(), [(0, 5)]);
    let moved = world.server.own.when(&Event::PathMoved(PathId(0), PathId(5))).unwrap();
    assert!(world.server.reached[&PathId(0)] > moved, "nothing was sent there");
}

/// A client that gets another address while copies of all its packets come first from elsewhere.
#[test]
fn the_client_is_found_although_an_attacker_is_faster() {
    let mut world = world(1_000_000, Behind::new(3_000_000, &[(600, 5)], Copies::After));
    world.transfer(30);
    assert_eq!(world.server.moves(), [(0, 5)]);
}

/// Packets of one path on another path's way change neither.
#[test]
fn the_way_of_another_path_is_not_taken() {
    let mut world = world(1_000_000, Behind::new(3_000_000, &[], Copies::None));
    world.run(ms(400), |world| world.client.endpoint.add_path(world.now, PathId(1)).is_ok());
    world.run(ms(700), |_| false);
    world.server.addresses = vec![(ms(700), PathId(1))];
    world.run(ms(800), |_| false);
    world.server.addresses.clear();
    world.transfer(30);
    assert_eq!(world.server.moves(), []);
}

#[test]
fn a_net_that_no_scheduler_can_name_is_refused() {
    let mut client = Own::client(0, |_| {});
    let (_, first) = client.endpoint.poll_transmit(ms(0)).unwrap();
    let mut server = Own::server(0, |_| {});
    server.endpoint.handle(ms(0), PathId(64), first.clone(), None);
    assert!(server.endpoint.poll_transmit(ms(0)).is_none());
    server.endpoint.handle(ms(0), PathId(63), first, None);
    assert!(server.endpoint.poll_transmit(ms(0)).is_some());
}
