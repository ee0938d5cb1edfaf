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

/// RFC 9000 §11.1: a violation is told, and by its code.
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
