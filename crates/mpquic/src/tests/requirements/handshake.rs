//! The TLS handshake (RFC 9001).

use super::*;
use units::Duration;

/// Runs a handshake and says what both ended with.
fn ends(client: Own, server: Own) -> [Option<Closed>; 2] {
    let mut world = World::new(client, server, vec![Link::new(10.0, 10)], 1);
    world.run(ms(3000), |_| false);
    [world.client.closed().cloned(), world.server.closed().cloned()]
}

/// RFC 9001 §8.1: 0x0178 is no_application_protocol.
#[test]
fn a_client_does_not_do_without_its_protocol() {
    for protocols in [vec![], vec![b"other".to_vec()]] {
        let mut tls = super::super::tls::server();
        tls.alpn_protocols = protocols;
        let server = Own::new(Role::Server { tls: Arc::new(tls) }, 0, "minrtt", |_| {});
        let ends = ends(Own::client(0, |_| {}), server);
        let codes = ends.map(|end| match end {
            Some(Closed::Error(error)) => error.value,
            Some(Closed::PeerTransport(code, _)) => code,
            other => panic!("{other:?}"),
        });
        assert_eq!(codes, [0x178; 2]);
    }
}

/// RFC 9001 §6: a KeyUpdate of TLS is an unexpected_message; QUIC has its own.
#[test]
fn tls_must_not_update_the_keys() {
    let key_update = Frame::Crypto { offset: 0, data: &[24, 0, 0, 1, 0] };
    let mut victim = Victim::server();
    victim.hears(&[key_update]);
    let Some(Closed::Error(error)) = victim.own.closed() else { panic!() };
    assert_eq!(error.value, 0x010a);
}

/// RFC 9000 §7.5.
#[test]
fn crypto_data_may_wait_out_of_order_but_not_without_end() {
    let mut victim = Victim::server();
    for piece in 0..8 {
        victim.hears(&[Frame::Crypto { offset: 1 + piece * 512, data: &[0; 512] }]);
    }
    assert_eq!(victim.error(), None);
    let far = Frame::Crypto { offset: 100_000, data: &[0; 9] };
    assert_eq!(victim.hears(&[far]).error(), Some(Code::CryptoBufferExceeded));
}

/// RFC 9001 §5.7: a server has the keys of 1-RTT packets before it may read them.
#[test]
fn early_one_rtt_packets_wait_for_the_end_of_the_handshake() {
    let (mut client, mut server) = (Own::client(0, |_| {}), Own::server(0, |_| {}));
    let carry = |from: &mut Own, to: &mut Own| {
        while let Some((net, datagram)) = from.endpoint.poll_transmit(ms(0)) {
            to.endpoint.handle(ms(0), net, datagram, None);
        }
    };
    carry(&mut client, &mut server);
    carry(&mut server, &mut client);
    assert!(client.endpoint.is_connected());
    let stream = client.endpoint.open_stream(false).unwrap();
    client.endpoint.write(stream, &[1; 100]).unwrap();
    let next = || client.endpoint.poll_transmit(ms(0));
    let datagrams: Vec<_> = std::iter::from_fn(next).map(|(_, datagram)| datagram).collect();
    let is_short = |datagram: &&Vec<u8>| datagram[0] & 0x80 == 0;
    let early: Vec<_> = datagrams.iter().filter(is_short).collect();
    assert!(!early.is_empty() && early.len() < datagrams.len());
    for datagram in early {
        server.endpoint.handle(ms(0), PathId(0), datagram.clone(), None);
        server.reads = false;
        server.work(ms(0));
        assert!(!server.has(&Event::StreamOpened(stream)));
    }
    assert_eq!(server.closed(), None);
    for datagram in datagrams {
        server.endpoint.handle(ms(0), PathId(0), datagram, None);
    }
    server.work(ms(0));
    assert!(server.has(&Event::StreamOpened(stream)));
}

/// RFC 9000 §13.3, RFC 9001 §4.1.2: the client hears that the handshake is over, however often the
/// word is lost.
#[test]
fn handshake_done_is_sent_until_it_arrives() {
    let mut world =
        World::new(Own::client(0, |_| {}), Own::server(0, |_| {}), vec![Link::new(10.0, 10)], 1);
    assert!(world.run(ms(1000), |world| world.client.endpoint.is_connected()));
    world.links[1][0].loss = 1000;
    let until = world.now + Duration::from_secs(3);
    world.run(until, |_| false);
    assert!(world.server.has(&Event::Confirmed) && !world.client.has(&Event::Confirmed));
    // RFC 9000 §9: no other address before that.
    let added = world.client.endpoint.add_path(world.now, PathId(1));
    assert_eq!(added, Err(Error::NotOpen));
    world.links[1][0].loss = 0;
    let until = world.now + Duration::from_secs(10);
    assert!(world.run(until, |world| world.client.has(&Event::Confirmed)));
}

/// RFC 9002 §6.2.1: data of a client may be in flight before the server is known to be through.
#[test]
fn data_are_not_probed_before_the_handshake_is_confirmed() {
    let links = vec![Link::new(10.0, 10)];
    let mut world = World::new(Own::client(5000, |_| {}), Own::server(0, |_| {}), links, 1);
    assert!(world.run(ms(1000), |world| world.client.endpoint.is_connected()));
    world.links[1][0].loss = 1000;
    world.run(ms(5000), |_| false);
    let stats = world.client.endpoint.path_stats(PathId(0)).unwrap();
    assert!(stats.in_flight_bytes > 5000, "{stats:?}");
    assert_eq!(stats.probe_timeouts, 0);
    world.links[1][0].loss = 0;
    world.transfer(30);
}
