//! Limits of keys, peers that lie, ALPN, and windows as large as the path is long.

use super::tls;
use super::world::*;
use crate::wire::{AckFrame, Frame};
use crate::*;
use rand::SeedableRng;
use std::sync::Arc;
use units::{Duration, Instant, PathId};

fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

fn pair(up: u64, down: u64, link: Link) -> World<Own, Own> {
    World::new(Own::client(up, |_| {}), Own::server(down, |_| {}), vec![link], 1)
}

/// RFC 9001 §6.6: an update comes long before the limit of packets with one key.
#[test]
fn keys_are_updated_before_they_seal_too_much() {
    let mut world = pair(0, 20_000_000, Link::new(100.0, 10));
    world.run(ms(200), |_| false);
    // Half of the limit are several round trips: acknowledgements come in time.
    let mut until = world.now;
    for _ in 0..20 {
        world.server.endpoint.set_key_limits(4000, u64::MAX);
        until += Duration::from_millis(100);
        world.run(until, |_| false);
    }
    world.transfer(20);
    let updates = world.server.endpoint.totals().key_updates;
    assert!(updates >= 4, "{updates}");
    assert_eq!((world.client.closed(), world.server.closed()), (None, None));
}

#[test]
fn without_acknowledgements_the_limit_ends_the_connection() {
    let mut world = pair(0, 20_000_000, Link::new(100.0, 10));
    world.run(ms(300), |_| false);
    world.server.endpoint.set_key_limits(100, u64::MAX);
    world.run(ms(1000), |_| false);
    let Some(Closed::Error(error)) = world.server.closed() else { panic!() };
    assert_eq!(error.code, Code::AeadLimitReached);
    let told = Code::AeadLimitReached as u64;
    assert!(matches!(world.client.closed(), Some(Closed::PeerTransport(code, _)) if *code == told));
}

/// RFC 9001 §6.6: forged packets are counted, and end the connection when there are too many.
#[test]
fn too_many_forged_packets_end_the_connection() {
    let mut world = pair(0, 0, Link::new(100.0, 10));
    world.run(ms(200), |_| false);
    let stream = world.client.endpoint.open_stream(false).unwrap();
    world.client.endpoint.write(stream, &[0; 500]).unwrap();
    let (_, genuine) = world.client.endpoint.poll_transmit(world.now).unwrap();
    let server = &mut world.server.endpoint;
    server.set_key_limits(u64::MAX, 10);
    for forged in 0..11_u8 {
        assert!(server.is_connected(), "after {forged}");
        let mut datagram = genuine.clone();
        datagram[30] ^= forged + 1; // never the genuine one again
        server.handle(world.now, PathId(0), datagram, None);
    }
    assert!(!server.is_connected());
    world.server.work(world.now);
    let Some(Closed::Error(error)) = world.server.closed() else { panic!() };
    assert_eq!(error.code, Code::AeadLimitReached);
}

/// RFC 9000 §21.4: who acknowledges what was never sent makes the sender send faster.
#[test]
fn an_acknowledgement_of_what_was_never_sent_ends_the_connection() {
    for ranges in [vec![0..=1_000_000], vec![1_000_000..=1_000_000, 0..=1]] {
        let mut world = pair(0, 20_000_000, Link::new(100.0, 10));
        world.run(ms(200), |_| false);
        let ack = AckFrame { delay: 0, ranges, ecn: None };
        world.client.endpoint.inject(Frame::Ack { path: Some(0), ack });
        world.run(ms(1000), |_| false);
        let Some(Closed::Error(error)) = world.server.closed() else { panic!() };
        assert_eq!(error.code, Code::ProtocolViolation);
    }
}

/// RFC 9000 §21.4: among the first 64 numbers of a path is one that was never sent, and it is known
/// however long all others are settled.
#[test]
fn an_acknowledgement_of_a_skipped_number_is_a_lie() {
    for until in [300, 3000] {
        let mut world = pair(0, 20_000_000, Link::new(100.0, 10));
        world.run(ms(until), |_| false);
        assert!(world.server.endpoint.is_connected());
        let ack = AckFrame { delay: 0, ranges: vec![0..=63], ecn: None };
        world.client.endpoint.inject(Frame::Ack { path: Some(0), ack });
        world.run(ms(until + 700), |_| false);
        let Some(Closed::Error(error)) = world.server.closed() else { panic!("at {until}") };
        assert_eq!(error.code, Code::ProtocolViolation);
    }
}

/// RFC 9000 §21.4: a receiver that acknowledges each packet before it comes, to get more of them.
#[test]
fn a_receiver_that_acknowledges_ahead_is_found_within_64_packets() {
    let mut sent = crate::space::SentPackets::default();
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
    let ahead = (0..100).find(|_| {
        let number = sent.begin(&mut rng);
        sent.push(super::losses::packet(ms(0)));
        // All up to the next one, the moment that this one left.
        sent.has_unsent(&(0..=number))
    });
    assert!(ahead.is_some_and(|packets| packets < 64), "{ahead:?}");
}

/// RFC 9001 §8.1: no protocol in common ends the handshake with no_application_protocol (120).
#[test]
fn a_client_without_alpn_or_with_another_is_turned_away() {
    for protocols in [vec![], vec![b"other".to_vec()]] {
        let mut tls = tls::client();
        tls.alpn_protocols = protocols;
        let Role::Client { server_name, .. } = tls::client_role() else { unreachable!() };
        let role = Role::Client { tls: Arc::new(tls), server_name };
        let client = Own::new(role, 0, "minrtt", |_| {});
        let mut world = World::new(client, Own::server(0, |_| {}), vec![Link::new(10.0, 10)], 1);
        world.run(ms(3000), |_| false);
        let Some(Closed::Error(error)) = world.server.closed() else { panic!() };
        assert_eq!((error.code, error.value), (Code::Crypto, 0x100 + 120));
        let told = world.client.closed();
        assert!(matches!(told, Some(Closed::PeerTransport(code, _)) if *code == 0x100 + 120));
    }
}

/// 1 Gbit/s over 600 ms is 75 MB in flight: the windows must not be what limits it.
#[test]
fn windows_of_450_megabytes_fill_a_long_fat_path() {
    let large = |config: &mut Config| {
        config.max_receive_window_bytes = 450_000_000;
        config.receive_window_bytes = 450_000_000;
        config.stream_window_bytes = 450_000_000;
        config.send_buffer_bytes = 450_000_000;
        config.congestion = congestion::Algorithm::Bbr.into();
    };
    let bytes = 400_000_000;
    let link = Link { queue_bytes: 80_000_000, ..Link::new(1000.0, 300) };
    let mut world = World::new(Own::client(0, large), Own::server(bytes, large), vec![link], 1);
    let mut most = 0;
    let done = world.run(ms(30_000), |world| {
        let stats = world.server.endpoint.path_stats(PathId(0)).unwrap_or_default();
        most = most.max(stats.in_flight_bytes);
        world.client.bulk.ended
    });
    let seconds = world.now.as_secs_f64();
    eprintln!("400 MB over 1 Gbit/s and 600 ms: {seconds:.1} s, {} MB in flight", most / 1_000_000);
    assert!(done && world.server.endpoint.totals().window_stalls == 0);
    assert!(most > 75_000_000 && seconds < 15.0, "{seconds} s, {most} bytes");
}

#[test]
fn streams_that_nobody_wants_make_room_for_others() {
    let few = |config: &mut Config| {
        config.max_streams = 4;
        config.receive_window_bytes = 40_000;
        config.max_receive_window_bytes = 40_000;
    };
    let mut world =
        World::new(Own::client(0, |_| {}), Own::server(0, few), vec![Link::new(100.0, 5)], 1);
    world.server.reads = false;
    world.run(ms(100), |_| false);
    for round in 1..=20 {
        let id = world.client.endpoint.open_stream(false).unwrap();
        world.client.endpoint.write(id, &[1; 10_000]).unwrap();
        world.run(ms(100 + round * 100 - 50), |_| false);
        world.server.endpoint.stop(id, 3).unwrap();
        world.run(ms(100 + round * 100), |_| false);
        assert!(world.client.has(&Event::Stopped(id, 3)), "round {round}");
    }
}
