//! Challenges, and a path that moves to another address (RFC 9000 §8.2, §9).

use super::super::rebind::{self, Behind, Copies};
use super::*;
use units::Duration;

/// RFC 9000 §8.2.2, §19.17: the same data, in a datagram of full size, at once and once.
#[test]
fn a_challenge_is_answered_at_once_in_full_size_and_once() {
    let mut victim = Victim::server();
    victim.says();
    let log = victim.log();
    victim.hears(&[Frame::PathChallenge { data: *b"question" }]);
    let said = victim.says();
    assert_eq!((said.len(), said[0].len()), (1, 1200));
    let end = victim.now + Duration::from_secs(3); // nobody acknowledges it
    victim.until(end);
    let answers = log.frames("path_response");
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0]["data"], "7175657374696f6e");
}

/// RFC 9000 §8.2.1: nobody can guess them.
#[test]
fn challenges_differ_and_fill_their_datagrams() {
    let links = vec![Link::new(10.0, 10), Link { loss: 1000, ..Link::new(10.0, 10) }];
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..2 {
        let client = Own::client(0, |_| {});
        let mut world = World::new(client, Own::server(0, |_| {}), links.clone(), seed);
        world.run(ms(500), |_| false);
        let log = Log::of(&mut world.client.endpoint, world.now);
        world.client.endpoint.add_path(world.now, PathId(1)).unwrap();
        let (net, datagram) = world.client.endpoint.poll_transmit(world.now).unwrap();
        assert_eq!((net, datagram.len()), (PathId(1), 1200));
        world.client.endpoint.abandon_path(world.now, PathId(1)).unwrap();
        world.client.endpoint.add_path(world.now, PathId(1)).unwrap();
        world.client.endpoint.poll_transmit(world.now).unwrap();
        let data = log.frames("path_challenge");
        assert_eq!(data.len(), 2);
        assert_ne!(data[0]["data"], data[1]["data"]);
        seen.insert(data[0]["data"].to_string());
    }
    assert_eq!(seen.len(), 1, "they follow from the endpoint's seed alone");
}

/// A response that answers nothing changes nothing.
#[test]
fn a_response_that_nobody_asked_for_is_ignored() {
    let mut victim = Victim::server();
    victim.hears(&[Frame::PathResponse { data: [0; 8] }]);
    assert_eq!(victim.error(), None);
    let other = victim.now;
    victim.number += 1;
    let place = (0, victim.number);
    // From another address: it is challenged, and only its own answer moves the path.
    victim.own.endpoint.handle_payload(other, PathId(5), place, &[1; 400]);
    victim.hears(&[Frame::PathResponse { data: [0; 8] }]);
    assert!(!victim.own.events.iter().any(|(_, event)| matches!(event, Event::PathMoved(..))));
}

/// RFC 9000 §8.2.1, §8.2.3: what may leave to an address that little came from fills no datagram; once the
/// peer has answered there, a full one asks whether such pass.
#[test]
fn an_address_that_was_asked_in_a_small_datagram_is_asked_in_a_full_one() {
    let mut victim = Victim::server();
    victim.says();
    let log = victim.log();
    victim.hears_from(PathId(5), &[Frame::Ping]);
    let small = victim.says_to(PathId(5));
    assert!(small.len() == 1 && small[0].len() < 100, "three times 31 bytes");
    let asked = log.frames("path_challenge");
    victim.hears_from(PathId(5), &[Frame::PathResponse { data: data_of(&asked[0]) }]);
    assert!(victim.own.has(&Event::PathMoved(PathId(0), PathId(5))));
    assert!(victim.says_to(PathId(5)).iter().any(|datagram| datagram.len() == 1200));
    let asked = log.frames("path_challenge");
    assert_eq!(asked.len(), 3, "the small one, the full one, and one to the former address");
    let answers = asked[1..].iter().map(|asked| Frame::PathResponse { data: data_of(asked) });
    victim.hears_from(PathId(5), &answers.collect::<Vec<_>>());
    let end = victim.now + Duration::from_secs(10);
    victim.until(end);
    assert_eq!(log.frames("path_challenge").len(), 3, "it is proven");
}

/// RFC 9000 §8.2.2: the peer learns from the answer whether that address works.
#[test]
fn a_challenge_from_another_address_is_answered_there() {
    let mut victim = Victim::server();
    victim.says();
    victim.hears_from(PathId(5), &[Frame::PathChallenge { data: *b"question" }]);
    let log = victim.log();
    assert_eq!(victim.says_to(PathId(5)).len(), 1);
    let answers = log.frames("path_response");
    assert_eq!((answers.len(), &answers[0]["data"]), (1, &"7175657374696f6e".into()));
    assert_eq!(log.frames("path_challenge").len(), 1, "in the same datagram");
}

fn data_of(challenge: &serde_json::Value) -> [u8; 8] {
    let hex = challenge["data"].as_str().unwrap();
    u64::from_str_radix(hex, 16).unwrap().to_be_bytes()
}

/// RFC 9000 §9.4: nothing is known of the way to another address.
#[test]
fn a_path_that_moved_begins_anew() {
    let mut world = rebind::world(0, Behind::new(12_000_000, &[(1500, 5)], Copies::None));
    world.run(ms(1500), |_| false);
    let old = world.server.own.endpoint.path_stats(PathId(0)).unwrap();
    let moved = Event::PathMoved(PathId(0), PathId(5));
    assert!(world.run(ms(5000), |world| world.server.own.has(&moved)));
    let new = world.server.own.endpoint.path_stats(PathId(5)).unwrap();
    assert!(old.cwnd_bytes > 30_000 && old.srtt < Duration::from_millis(200), "{old:?}");
    assert_eq!((new.cwnd_bytes, new.srtt), (12_000, Duration::from_millis(333)));
}
