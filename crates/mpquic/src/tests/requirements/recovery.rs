//! RTT, losses and probes (RFC 9002), where the steps of `losses` do not show them.

use super::super::losses::{ack, packet, path, send};
use super::*;
use units::Duration;

/// RFC 9002 §5.1: padding counts as in flight and elicits nothing.
#[test]
fn an_acknowledgement_of_what_elicits_none_is_no_sample() {
    let mut path = path();
    for eliciting in [false, true] {
        let number = path.space.sent.next();
        path.space.sent.push(crate::space::SentPacket { eliciting, ..packet(ms(0)) });
        ack(&mut path, ms(70), &[number], Duration::ZERO);
        assert_eq!(path.rtt.has_sample(), eliciting);
    }
}

/// RFC 9002 §5.1: a packet below the largest one says nothing of the RTT.
#[test]
fn only_the_largest_number_is_a_sample() {
    let mut path = path();
    let (first, second) = (send(&mut path, ms(0)), send(&mut path, ms(10)));
    ack(&mut path, ms(60), &[second], Duration::ZERO);
    ack(&mut path, ms(500), &[second, first], Duration::ZERO);
    assert_eq!(path.rtt.latest(), Duration::from_millis(50));
}

/// RFC 9002 §6.1.2, §6.2.1: kGranularity is 1 ms.
#[test]
fn timers_wait_for_a_millisecond_at_least() {
    let mut path = path();
    let fast = Duration::from_micros(50);
    for round in 0..200 {
        let number = send(&mut path, ms(round));
        ack(&mut path, ms(round) + fast, &[number], Duration::ZERO);
    }
    assert_eq!(path.rtt.loss_delay(), Duration::from_millis(1));
    assert!(path.rtt.pto() >= Duration::from_millis(1));
}

/// RFC 9002 §6.2, §6.2.4, §7.5: probes leave although the window is full, count as in flight, and make
/// nothing lost.
#[test]
fn a_probe_leaves_although_the_window_is_full_and_loses_nothing() {
    let (client, server) = (Own::client(0, |_| {}), Own::server(5_000_000, |_| {}));
    let mut world = World::new(client, server, vec![Link::new(10.0, 20)], 1);
    world.run(ms(500), |_| false);
    world.links[0][0].loss = 1000; // no acknowledgement any more
    let stats = |world: &World<Own, Own>| world.server.endpoint.path_stats(PathId(0)).unwrap();
    let probed = |world: &mut World<Own, Own>| stats(world).probe_timeouts > 0;
    let mut before = stats(&world);
    let until = ms(5000);
    assert!(world.run(until, |world| {
        let probed = probed(world);
        before = if probed { before } else { stats(world) };
        probed
    }));
    let after = stats(&world);
    assert!(before.in_flight_bytes + 1200 > before.cwnd_bytes, "{before:?}");
    assert!((1..=2).contains(&(after.sent_packets - before.sent_packets)), "{after:?}");
    assert!(after.in_flight_bytes > before.in_flight_bytes);
    assert_eq!((after.lost_packets, after.cwnd_bytes), (before.lost_packets, before.cwnd_bytes));
}

/// RFC 9002 §6.4: packets of the handshake are forgotten with its keys.
#[test]
fn packets_of_the_handshake_do_not_stay_in_flight() {
    let link = Link { loss: 200, ..Link::new(10.0, 20) };
    for seed in 0..10 {
        let (client, server) = (Own::client(0, |_| {}), Own::server(0, |_| {}));
        let mut world = World::new(client, server, vec![link.clone()], seed);
        world.run(ms(8000), |world| world.client.has(&Event::Confirmed));
        world.links[0][0].loss = 0;
        world.links[1][0].loss = 0;
        let until = world.now + Duration::from_secs(3);
        world.run(until, |_| false);
        for host in [&world.client, &world.server] {
            let stats = host.endpoint.path_stats(PathId(0)).unwrap();
            assert_eq!(stats.in_flight_bytes, 0, "seed {seed}: {stats:?}");
        }
    }
}

/// RFC 9002 §7.6.2: packets that elicit nothing may go unacknowledged.
#[test]
fn the_ends_of_persistent_congestion_elicit() {
    for eliciting in [false, true] {
        let mut path = path();
        let first: Vec<u64> = (0..10).map(|_| send(&mut path, ms(0))).collect();
        ack(&mut path, ms(100), &first.into_iter().rev().collect::<Vec<_>>(), Duration::ZERO);
        for at in [ms(200), ms(5000)] {
            path.space.sent.push(crate::space::SentPacket { eliciting, ..packet(at) });
            path.in_flight += 1200;
        }
        let newest = send(&mut path, ms(6000));
        assert_eq!(ack(&mut path, ms(6100), &[newest], Duration::ZERO).len(), 2);
        assert_eq!(path.cc.window_bytes() <= 2 * 1200, eliciting, "{}", path.cc.window_bytes());
    }
}

/// RFC 9002 §5.3: the peer's max_ack_delay is 25 ms, whatever it says in an ACK.
#[test]
fn no_more_delay_is_believed_than_was_told() {
    let srtt = |delay_micros: u64| {
        let mut victim = Victim::client();
        let stream = victim.own.endpoint.open_stream(true).unwrap();
        victim.own.endpoint.write(stream, &[0; 100]).unwrap();
        let log = victim.log();
        victim.says();
        let packets = log.0.lock().unwrap().clone();
        let number = packets.last().unwrap()["data"]["header"]["packet_number"].as_u64().unwrap();
        victim.now += Duration::from_millis(60);
        let ack =
            wire::AckFrame { delay: delay_micros >> 3, ranges: vec![number..=number], ecn: None };
        victim.hears(&[Frame::Ack { path: Some(0), ack }]);
        victim.own.endpoint.path_stats(PathId(0)).unwrap().srtt
    };
    assert!(srtt(25_000) < srtt(10_000) && srtt(10_000) < srtt(0));
    assert_eq!(srtt(1_000_000_000), srtt(25_000));
}
