//! The end of a connection (RFC 9000 §10.2).

use super::forge::{CLOSE, Forger};
use super::*;
use crate::wire::{Kind, parse};

/// RFC 9000 §10.2.2.
#[test]
fn a_draining_end_is_silent() {
    let mut victim = Victim::server();
    victim.hears(&[Frame::Ping, CLOSE]);
    assert!(matches!(victim.own.closed(), Some(Closed::PeerTransport(0, _))));
    victim.hears(&[Frame::Ping]);
    let junk = vec![0x40; 1200];
    victim.own.endpoint.handle(victim.now, PathId(0), junk, None);
    let end = victim.now + units::Duration::from_secs(60);
    assert_eq!(victim.until(end).len(), 0);
    assert!(victim.own.endpoint.is_over());
}

/// RFC 9000 §10.2.3: Initial packets can be read by everybody.
#[test]
fn a_close_during_the_handshake_hides_what_the_application_says() {
    let mut client = Own::client(0, |_| {});
    let (_, first) = client.endpoint.poll_transmit(ms(0)).unwrap();
    client.endpoint.close(ms(1), 7, b"secret");
    let (_, mut last) = client.endpoint.poll_transmit(ms(1)).unwrap();
    assert!(last.len() >= 1200);
    let server = Forger::server(&first, wire::ConnectionId::default());
    let (_, _, frames) = server.open(&mut last);
    let close = Frame::ConnectionClose { error_code: 0x0c, frame_type: Some(0), reason: b"" };
    assert!(frames.contains(&close), "{frames:?}");
    assert!(client.endpoint.poll_transmit(ms(1)).is_none());
}

/// RFC 9000 §10.2.3.
#[test]
fn a_close_after_the_handshake_is_in_a_one_rtt_packet() {
    for mut victim in [Victim::client(), Victim::server()] {
        let log = victim.log();
        victim.own.endpoint.close(victim.now, 7, b"enough");
        let said = victim.says();
        assert_eq!(said.len(), 1);
        assert_eq!(parse(&said[0], LOCAL_CID_BYTES).unwrap().kind, Kind::Short);
        let closes = log.frames("connection_close");
        assert_eq!((closes.len(), &closes[0]["error_space"]), (1, &"application".into()));
        // While closing, the answers become rarer.
        let mut again = 0;
        for _ in 0..64 {
            victim.own.endpoint.handle(victim.now, PathId(0), vec![0x40; 40], None);
            again += victim.says().len();
        }
        assert!((1..=8).contains(&again), "{again}");
    }
}

/// RFC 9000 §11.1: an endpoint that detects an error signals it to its peer, with the code of that error.
#[test]
fn what_went_wrong_is_told() {
    let mut victim = Victim::server();
    let log = victim.log();
    victim.hears(&[Frame::RetireConnectionId { path: None, sequence: 99 }]);
    victim.says();
    let closes = log.frames("connection_close");
    assert_eq!(closes[0]["error_code"], Code::ProtocolViolation as u64);
    assert_eq!(closes[0]["error_space"], "transport");
}

/// RFC 9000 §10.3.2: whoever sees a connection ID does not know its token. (Those of further paths are
/// given with tokens, and used.)
#[test]
fn nobody_resets_a_connection_whose_ids_he_sees() {
    for (key, guess, ends) in [([0; 32], [0; 32], false), ([7; 32], [7; 32], true)] {
        let links = vec![Link::new(100.0, 50), Link::new(100.0, 5)];
        let client = Own::client(0, |config| config.reset_key = key);
        let mut world = World::new(client, Own::server(0, |_| {}), links, 1);
        world.run(ms(1000), |world| world.client.endpoint.add_path(world.now, PathId(1)).is_ok());
        let until = world.now + units::Duration::from_millis(500);
        world.run(until, |_| false);
        let server = &mut world.server.endpoint;
        let stream = server.open_stream(false).unwrap();
        server.write(stream, pattern(0, 9000)).unwrap();
        let sent = std::iter::from_fn(|| server.poll_transmit(until));
        let (net, seen) = sent.into_iter().find(|(net, _)| *net == PathId(1)).unwrap();
        let forged = stateless_reset(&guess, &seen, [0x5a; 24]).unwrap();
        server.handle(until, net, forged, None);
        assert_eq!(!server.is_connected(), ends, "{key:?}");
    }
}
