//! One path, both ends ours.

use super::world::*;
use crate::*;
use units::{Duration, Instant, PathId};

fn pair(up: u64, down: u64, link: Link, seed: u64) -> World<Own, Own> {
    World::new(Own::client(up, |_| {}), Own::server(down, |_| {}), vec![link], seed)
}

#[test]
fn handshake_takes_two_round_trips_to_be_confirmed() {
    let mut world = pair(0, 0, Link::new(100.0, 20), 1);
    world.run(Instant::from_millis(300), |world| {
        world.client.endpoint.is_connected() && world.client.has(&Event::Confirmed)
    });
    assert!(world.client.when(&Event::Connected).unwrap() < Instant::from_millis(45));
    assert!(world.client.when(&Event::Confirmed).unwrap() < Instant::from_millis(90));
    assert!(world.client.has(&Event::MultipathNegotiated));
}

#[test]
fn ten_megabytes_both_ways() {
    let mut world = pair(10_000_000, 10_000_000, Link::new(100.0, 20), 1);
    let done = world.transfer(10).as_secs_f64();
    assert!(done < 1.4, "{done} s for 10 MB at 100 Mbit/s");
}

#[test]
fn loss_reordering_duplication_and_corruption_lose_nothing() {
    for seed in 0..4 {
        let link =
            Link { loss: 20, reorder: 30, duplicate: 20, corrupt: 10, ..Link::new(50.0, 15) };
        let mut world = pair(2_000_000, 1_000_000, link, seed);
        world.transfer(60);
    }
}

#[test]
fn keys_can_be_updated_again_and_again() {
    let mut world = pair(20_000_000, 20_000_000, Link { loss: 5, ..Link::new(100.0, 10) }, 3);
    for round in 1..=10 {
        world.run(Instant::from_millis(round * 150), |_| false);
        let (client, server) = (&mut world.client, &mut world.server);
        let updater = if round % 2 == 0 { &mut client.endpoint } else { &mut server.endpoint };
        let _ = updater.update_keys(world.now);
    }
    world.transfer(60);
    let updates = world.client.endpoint.totals().key_updates;
    assert!(updates >= 5, "{updates}");
    assert!(world.server.endpoint.totals().key_updates.abs_diff(updates) <= 1);
}

#[test]
fn close_tells_the_peer_and_idle_ends_alone() {
    let mut world = pair(0, 0, Link::new(100.0, 20), 1);
    world.run(Instant::from_millis(300), |_| false);
    world.client.endpoint.close(world.now, 7, b"enough");
    world.run(Instant::from_millis(5000), |_| false);
    assert_eq!(world.server.closed(), Some(&Closed::PeerApplication(7, "enough".into())));
    assert!(world.client.endpoint.is_over() && world.server.endpoint.is_over());

    let mut world = pair(0, 0, Link::new(100.0, 20), 1);
    world.run(Instant::from_millis(40_000), |_| false);
    assert_eq!(world.client.closed(), Some(&Closed::IdleTimeout));
    assert_eq!(world.server.closed(), Some(&Closed::IdleTimeout));
    assert_eq!(world.client.endpoint.poll_timeout(), None);
}

#[test]
fn a_wrong_certificate_ends_the_handshake_at_both_ends() {
    let other = rcgen::generate_simple_self_signed(vec!["server.test".into()]).unwrap();
    let tls = std::sync::Arc::new(super::tls::trusting(other.cert.der().clone()));
    let Role::Client { server_name, .. } = super::tls::client_role() else { unreachable!() };
    let client = Own::new(Role::Client { tls, server_name }, 0, "minrtt", |_| {});
    let mut world = World::new(client, Own::server(0, |_| {}), vec![Link::new(10.0, 10)], 1);
    world.run(Instant::from_millis(3000), |_| false);
    let Some(Closed::Error(error)) = world.client.closed() else { panic!() };
    assert_eq!(error.code, Code::Crypto);
    assert!(
        matches!(world.server.closed(), Some(Closed::PeerTransport(code, _)) if *code == error.value)
    );
}

#[test]
fn datagrams_resets_and_stops() {
    let mut world = pair(0, 0, Link::new(100.0, 5), 1);
    world.run(Instant::from_millis(100), |_| false);
    world.server.reads = false;
    let client = &mut world.client.endpoint;
    let longest = client.max_datagram_bytes();
    assert_eq!(client.send_datagram(&vec![1; longest]), Ok(true));
    assert!(client.send_datagram(&vec![1; longest + 1]).is_err());
    let given_up = client.open_stream(true).unwrap();
    let unwanted = client.open_stream(false).unwrap();
    client.write(given_up, &[0; 5000]).unwrap();
    client.write(unwanted, &[0; 5000]).unwrap();
    world.run(Instant::from_millis(200), |_| false);
    assert_eq!(world.server.endpoint.recv_datagram().map(|data| data.len()), Some(longest));
    world.client.endpoint.reset(given_up, 9).unwrap();
    world.server.endpoint.stop(unwanted, 8).unwrap();
    world.run(Instant::from_millis(300), |_| false);
    assert!(world.client.has(&Event::Stopped(unwanted, 8)));
    let server = &mut world.server.endpoint;
    assert_eq!(server.read(world.now, given_up, 1), Ok(Read::Reset(9)));
}

#[test]
fn many_streams_in_turn_make_room_for_more() {
    let mut world = pair(0, 0, Link { loss: 10, ..Link::new(100.0, 5) }, 1);
    world.run(Instant::from_millis(200), |_| false);
    let mut opened = 0;
    let mut until = world.now;
    while opened < 1000 {
        while let Ok(id) = world.client.endpoint.open_stream(false) {
            world.client.endpoint.write(id, b"").unwrap();
            world.client.endpoint.finish(id).unwrap();
            opened += 1;
        }
        until += Duration::from_millis(50);
        world.run(until, |_| false);
        assert!(until < Instant::from_millis(10_000), "stuck after {opened} streams");
    }
}

#[test]
fn the_same_seed_sends_the_same_datagrams_at_the_same_times() {
    let trace = || {
        let link = Link { loss: 10, reorder: 10, ..Link::new(50.0, 10) };
        let mut world = pair(1_000_000, 0, link, 5);
        world.transfer(20);
        (world.now, world.links[0][0].carried, world.links[1][0].carried)
    };
    assert_eq!(trace(), trace());
}

#[test]
fn version_negotiation_is_answered_and_believed_only_when_plausible() {
    let mut server = Own::server(0, |_| {});
    let mut strange = vec![0xc0, 0x1a, 0x2a, 0x3a, 0x4a, 8, 1, 2, 3, 4, 5, 6, 7, 8, 4, 9, 9, 9, 9];
    strange.resize(1200, 0);
    server.endpoint.handle(Instant::ZERO, PathId(0), strange.clone(), None);
    let (_, answer) = server.endpoint.poll_transmit(Instant::ZERO).unwrap();
    let header = wire::parse(&answer, 8).unwrap();
    assert_eq!(header.kind, wire::Kind::VersionNegotiation);
    assert_eq!(header.token, 1_u32.to_be_bytes());
    strange.truncate(1199);
    server.endpoint.handle(Instant::ZERO, PathId(0), strange, None);
    assert!(server.endpoint.poll_transmit(Instant::ZERO).is_none());

    let mut client = Own::client(0, |_| {});
    let (_, initial) = client.endpoint.poll_transmit(Instant::ZERO).unwrap();
    let header = wire::parse(&initial, 8).unwrap();
    let mut list = vec![0x80, 0, 0, 0, 0, 8];
    list.extend(header.scid.as_slice());
    list.push(8);
    list.extend(header.dcid.as_slice());
    let with_ours = [&list[..], &1_u32.to_be_bytes()].concat();
    client.endpoint.handle(Instant::ZERO, PathId(0), with_ours, None);
    assert!(!client.endpoint.is_over());
    list.extend(0x1a2a_3a4a_u32.to_be_bytes());
    client.endpoint.handle(Instant::ZERO, PathId(0), list, None);
    client.work(Instant::ZERO);
    assert_eq!(client.closed(), Some(&Closed::VersionMismatch));
}

/// A connection whose server's reset tokens are made with `key`.
fn world_with(key: [u8; 32]) -> World<Own, Own> {
    let server = Own::server(0, |config| config.reset_key = key);
    let mut world = World::new(Own::client(0, |_| {}), server, vec![Link::new(100.0, 5)], 1);
    world.run(Instant::from_millis(100), |_| false);
    world
}

#[test]
fn a_stateless_reset_ends_the_connection() {
    let key = [9; 32];
    let mut world = world_with(key);
    // The server has forgotten everything but its key.
    let stream = world.client.endpoint.open_stream(false).unwrap();
    world.client.endpoint.write(stream, &[0; 100]).unwrap();
    let (_, datagram) = world.client.endpoint.poll_transmit(world.now).unwrap();
    let reset = stateless_reset(&key, &datagram, [0x5a; 24]).unwrap();
    assert!(reset.len() < datagram.len());
    assert_eq!(stateless_reset(&key, &[0x40; 21], [0; 24]), None);
    // RFC 9000 §10.3: whatever the packet begins with, and also what cannot be read at all.
    for first in [0x40, 0xc0, 0xe0] {
        let mut client = world_with(key).client;
        let mut reset = reset.clone();
        reset[0] = first;
        client.endpoint.handle(world.now, PathId(0), reset, None);
        client.work(world.now);
        assert_eq!(client.closed(), Some(&Closed::StatelessReset), "{first:x}");
    }
    let mut wrong = reset.clone();
    *wrong.last_mut().unwrap() ^= 1;
    world.client.endpoint.handle(world.now, PathId(0), wrong, None);
    assert!(world.client.endpoint.is_connected());
    world.client.endpoint.handle(world.now, PathId(0), reset, None);
    world.client.work(world.now);
    assert_eq!(world.client.closed(), Some(&Closed::StatelessReset));
}

#[test]
fn a_stream_that_is_reset_before_any_data_is_read_as_reset() {
    let mut world = pair(0, 0, Link::new(100.0, 5), 1);
    world.run(Instant::from_millis(100), |_| false);
    world.client.reads = false;
    world.server.reads = false;
    let stream = world.client.endpoint.open_stream(true).unwrap();
    world.client.endpoint.write(stream, b"?").unwrap();
    world.run(Instant::from_millis(200), |_| false);
    world.server.endpoint.reset(stream, 7).unwrap();
    world.run(Instant::from_millis(300), |_| false);
    assert_eq!(world.client.endpoint.read(world.now, stream, 1), Ok(Read::Reset(7)));
    // The other way everything before the reset was read.
    assert_eq!(world.server.endpoint.read(world.now, stream, 9), Ok(Read::Data(b"?".to_vec())));
    world.client.endpoint.reset(stream, 8).unwrap();
    world.run(Instant::from_millis(400), |_| false);
    assert_eq!(world.server.endpoint.read(world.now, stream, 9), Ok(Read::Reset(8)));
}

#[test]
fn a_listener_is_told_of_every_connection_id() {
    let links = vec![Link::new(100.0, 5), Link::new(100.0, 5)];
    let mut world = World::new(Own::client(0, |_| {}), Own::server(0, |_| {}), links, 2);
    world.server.reads = false;
    let mut known = std::collections::BTreeSet::new();
    let take = |known: &mut std::collections::BTreeSet<_>, server: &mut Endpoint| {
        for (cid, came) in server.take_cid_changes() {
            assert!(if came { known.insert(cid) } else { known.remove(&cid) }, "{cid:?}");
        }
    };
    for (until, paths) in [(100, 1), (400, 2), (4000, 1)] {
        match paths {
            2 => world.client.endpoint.add_path(world.now, PathId(1)).unwrap(),
            _ if until > 100 => world.client.endpoint.abandon_path(world.now, PathId(1)).unwrap(),
            _ => {}
        }
        world.run(Instant::from_millis(until), |_| false);
        take(&mut known, &mut world.server.endpoint);
        let stream = world.client.endpoint.open_stream(false).unwrap();
        world.client.endpoint.write(stream, &[0; 9]).unwrap();
        let (_, datagram) = world.client.endpoint.poll_transmit(world.now).unwrap();
        let header = crate::wire::parse(&datagram, crate::LOCAL_CID_BYTES).unwrap();
        assert!(known.contains(&header.dcid), "{paths} paths");
        assert!(world.server.endpoint.has_path(PathId(0)));
        assert_eq!(world.server.endpoint.has_path(PathId(1)), paths == 2);
    }
    assert_eq!(world.server.endpoint.take_cid_changes(), []);
}

#[test]
fn pacing_in_steps_keeps_the_rate() {
    let finished = |grain| {
        let change =
            |config: &mut crate::Config| config.pacing_grain = Duration::from_micros(grain);
        let server = Own::server(20_000_000, change);
        let mut world = World::new(Own::client(0, |_| {}), server, vec![Link::new(500.0, 10)], 1);
        world.transfer(60).as_secs_f64()
    };
    let (fine, coarse) = (finished(0), finished(1000));
    assert!((coarse / fine - 1.0).abs() < 0.1, "{fine} s, {coarse} s");
}
