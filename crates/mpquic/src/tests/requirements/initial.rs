//! First packets: their size, whom they are for, and what a server or client does not listen to.

use super::forge::{CLOSE, Forger};
use super::*;
use crate::wire::{ConnectionId, parse};

/// A client, its first datagram, a server that got it, and what that one answered.
fn begun() -> (Own, Vec<u8>, Own, Vec<Vec<u8>>) {
    let (mut client, mut server) = (Own::client(0, |_| {}), Own::server(0, |_| {}));
    let (_, first) = client.endpoint.poll_transmit(ms(0)).unwrap();
    while let Some((_, more)) = client.endpoint.poll_transmit(ms(0)) {
        server.endpoint.handle(ms(10), PathId(0), more, None);
    }
    server.endpoint.handle(ms(10), PathId(0), first.clone(), None);
    let next = || server.endpoint.poll_transmit(ms(10));
    let answers = std::iter::from_fn(next).map(|(_, datagram)| datagram).collect();
    (client, first, server, answers)
}

fn cid(of: &[u8]) -> ConnectionId {
    parse(of, LOCAL_CID_BYTES).unwrap().scid
}

fn handle(own: &mut Own, datagram: &[u8]) {
    own.endpoint.handle(ms(20), PathId(0), datagram.to_vec(), None);
    own.work(ms(20));
}

/// RFC 9000 §7.2, §8.1, §14.1: also when nobody answers.
#[test]
fn a_client_sends_full_datagrams_to_one_random_id() {
    let mut ids = Vec::new();
    let mut client = Own::client(0, |_| {});
    let mut now = ms(0);
    for _ in 0..4 {
        while let Some((_, datagram)) = client.endpoint.poll_transmit(now) {
            let header = parse(&datagram, LOCAL_CID_BYTES).unwrap();
            assert!(datagram.len() >= 1200 && header.dcid.as_slice().len() >= 8);
            ids.push((header.dcid, header.scid));
        }
        now = client.endpoint.poll_timeout().unwrap();
        client.endpoint.on_timeout(now);
    }
    assert!(ids.len() >= 4 && ids.iter().all(|id| *id == ids[0]), "{ids:?}");
}

/// RFC 9001 §8.4: a hello of the compatibility mode would have a session ID.
#[test]
fn a_hello_has_no_session_id() {
    let (_, mut first, ..) = begun();
    let forger = Forger::server(&first.clone(), ConnectionId::default());
    let (_, number, frames) = forger.open(&mut first);
    let hello = frames.iter().find_map(|frame| match frame {
        Frame::Crypto { offset: 0, data } => Some(*data),
        _ => None,
    });
    let hello = hello.unwrap();
    // RFC 8446 §4.1.2: type, length, version and random come before it.
    assert_eq!((number, hello[0], hello[1 + 3 + 2 + 32]), (0, 1, 0));
}

/// RFC 9000 §5.2.2, §7.2, §14.1.
#[test]
fn a_server_without_a_connection_listens_to_full_initials_only() {
    let (_, first, _, answers) = begun();
    let mut short_id = Forger::client(&first);
    short_id.dcid = ConnectionId::new(&[1; 7]).unwrap();
    let mut small = Forger::client(&first);
    small.datagram_bytes = 1199;
    let strange = [
        small.initial(0, &[CLOSE]),
        short_id.initial(0, &[CLOSE]),
        answers[0].clone(),
        vec![0x40; 1200],
        vec![0xe0, 0, 0, 0, 1, 8, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0x44, 0x00],
    ];
    for datagram in strange {
        let mut server = Own::server(0, |_| {});
        handle(&mut server, &datagram);
        assert!(server.endpoint.poll_transmit(ms(20)).is_none() && server.closed().is_none());
        handle(&mut server, &first);
        assert!(server.endpoint.poll_transmit(ms(20)).is_some(), "it still serves");
    }
}

/// RFC 9000 §14: too small is no error, even of a connection.
#[test]
fn a_small_initial_changes_nothing() {
    let (_, first, mut server, _) = begun();
    let mut small = Forger::client(&first);
    small.datagram_bytes = 1199;
    handle(&mut server, &small.initial(9, &[CLOSE]));
    assert_eq!(server.closed(), None);
    handle(&mut server, &Forger::client(&first).initial(9, &[CLOSE]));
    assert!(server.closed().is_some());
}

/// RFC 9000 §13.2.1, §14.1.
#[test]
fn a_server_answers_at_once_and_in_full_datagrams() {
    let (_, first, _, mut answers) = begun();
    assert!(answers[0].len() >= 1200);
    let (header, _, frames) = Forger::client(&first).open(&mut answers[0]);
    assert!(frames.iter().any(|frame| matches!(frame, Frame::Ack { path: None, .. })));
    assert!(header.token.is_empty());
}

/// RFC 9000 §12.2: what cannot be read takes nothing else with it.
#[test]
fn packets_of_a_datagram_are_read_one_by_one() {
    let (_, first, ..) = begun();
    let dcid = parse(&first, LOCAL_CID_BYTES).unwrap().dcid;
    let mut junk = vec![0xc0, 0, 0, 0, 1, 8];
    junk.extend(dcid.as_slice());
    junk.extend([0, 0, 0x40, 30]);
    junk.resize(junk.len() + 30, 0x77);
    let mut server = Own::server(0, |_| {});
    handle(&mut server, &[&junk[..], &first].concat());
    assert!(server.endpoint.poll_transmit(ms(20)).is_some());
    assert_eq!(server.endpoint.totals().dropped_packets, 1);
}

/// RFC 9000 §7.2: after the first packet of the server its ID is known.
#[test]
fn a_packet_with_another_source_id_is_dropped() {
    let (mut client, first, server, answers) = begun();
    handle(&mut client, &answers[0]);
    let stranger = Forger::server(&first, ConnectionId::new(&[5; 8]).unwrap());
    handle(&mut client, &stranger.initial(9, &[CLOSE]));
    assert_eq!(client.closed(), None);
    let genuine = Forger::server(&first, cid(&answers[0]));
    handle(&mut client, &genuine.initial(9, &[CLOSE]));
    assert!(client.closed().is_some());
    // And a server knows its client's.
    let mut server = server;
    let mut other = Forger::client(&first);
    other.scid = ConnectionId::new(&[5; 8]).unwrap();
    handle(&mut server, &other.initial(9, &[CLOSE]));
    assert_eq!(server.closed(), None);
    handle(&mut server, &Forger::client(&first).initial(9, &[CLOSE]));
    assert!(server.closed().is_some());
}

/// RFC 9000 §17.2.2.
#[test]
fn a_server_has_no_token_to_show() {
    let (mut client, first, _, answers) = begun();
    handle(&mut client, &answers[0]);
    let mut forger = Forger::server(&first, cid(&answers[0]));
    forger.token = vec![1, 2, 3];
    handle(&mut client, &forger.initial(9, &[CLOSE]));
    assert_eq!(client.closed(), None);
}

/// RFC 9000 §17.2.
#[test]
fn reserved_bits_of_a_long_header_end_the_connection() {
    for bits in [0x04, 0x08, 0x0c] {
        let (_, first, mut server, _) = begun();
        let mut forger = Forger::client(&first);
        forger.bits = bits;
        handle(&mut server, &forger.initial(9, &[Frame::Ping]));
        let closed = server.closed();
        assert!(
            matches!(closed, Some(Closed::Error(error)) if error.code == Code::ProtocolViolation),
            "{closed:?}"
        );
    }
}

/// RFC 9000 §17.2, §17.3.1: the fixed bit, and IDs of more than 20 bytes.
#[test]
fn headers_of_another_protocol_are_not_read() {
    let long = |first: u8, dcid_len: u8| {
        let mut out = vec![first, 0, 0, 0, 1, dcid_len];
        out.resize(100, 0);
        out
    };
    assert!(parse(&long(0xc0, 20), 8).is_ok());
    assert!(parse(&long(0xc0, 21), 8).is_err());
    assert!(parse(&long(0x80, 20), 8).is_err());
    let mut scid = long(0xc0, 1);
    scid[7] = 21;
    assert!(parse(&scid, 8).is_err());
    assert!(parse(&[0x40; 30], 8).is_ok());
    assert!(parse(&[0x00; 30], 8).is_err());
}

/// RFC 9001 §4.9.1: Initial keys go when the first Handshake packet leaves, or comes.
#[test]
fn initial_packets_are_not_read_after_handshake_packets() {
    let (mut client, first, mut server, answers) = begun();
    answers.iter().for_each(|answer| handle(&mut client, answer));
    let second: Vec<_> = std::iter::from_fn(|| client.endpoint.poll_transmit(ms(20))).collect();
    assert!(client.endpoint.is_connected() && !second.is_empty());
    handle(&mut client, &Forger::server(&first, cid(&answers[0])).initial(9, &[CLOSE]));
    assert_eq!(client.closed(), None);
    second.iter().for_each(|(_, datagram)| handle(&mut server, datagram));
    assert!(server.endpoint.is_connected());
    handle(&mut server, &Forger::client(&first).initial(9, &[CLOSE]));
    assert_eq!(server.closed(), None);
    assert!(client.endpoint.poll_transmit(ms(20)).is_none());
}

/// RFC 9001 §4.1.3: when the keys of the next level are there, nothing new may come at the old one.
#[test]
fn data_of_a_level_that_is_over_end_the_connection() {
    let (mut client, first, _, mut answers) = begun();
    handle(&mut client, &answers[0].clone());
    let forger = Forger::server(&first, cid(&answers[0]));
    let (_, _, frames) = Forger::client(&first).open(&mut answers[0]);
    let hello = frames.iter().find_map(|frame| match frame {
        Frame::Crypto { offset: 0, data } => Some(data.to_vec()),
        _ => None,
    });
    let hello = hello.unwrap();
    handle(&mut client, &forger.initial(8, &[Frame::Crypto { offset: 0, data: &hello }]));
    assert_eq!(client.closed(), None, "the same again is no error");
    let more = Frame::Crypto { offset: hello.len() as u64, data: &[8, 0, 0, 2, 0, 0] };
    handle(&mut client, &forger.initial(9, &[more]));
    let closed = client.closed();
    assert!(
        matches!(closed, Some(Closed::Error(error)) if error.code == Code::ProtocolViolation),
        "{closed:?}"
    );
}

/// RFC 9001 §4.1.3: the keys of the next level come, and data behind a gap were never read.
#[test]
fn data_that_wait_at_the_end_of_a_level_end_the_connection() {
    let (mut client, first, _, answers) = begun();
    let forger = Forger::server(&first, cid(&answers[0]));
    let far = Frame::Crypto { offset: 5000, data: &[1; 10] };
    handle(&mut client, &forger.initial(9, &[far]));
    assert_eq!(client.closed(), None);
    handle(&mut client, &answers[0]);
    let closed = client.closed();
    assert!(
        matches!(closed, Some(Closed::Error(error)) if error.code == Code::ProtocolViolation),
        "{closed:?}"
    );
}

/// RFC 9000 §8.1, RFC 9002 §6.2.2.1: the server may be waiting for credit.
#[test]
fn a_client_probes_although_nothing_is_in_flight() {
    let mut client = Own::client(0, |_| {});
    let mut first = Vec::new();
    let mut count = 0;
    while let Some((_, datagram)) = client.endpoint.poll_transmit(ms(0)) {
        first = if count == 0 { datagram } else { first };
        count += 1;
    }
    let server = Forger::server(&first, ConnectionId::new(&[5; 8]).unwrap());
    let ack = wire::AckFrame { delay: 0, ranges: vec![0..=count - 1], ecn: None };
    handle(&mut client, &server.initial(0, &[Frame::Ack { path: None, ack }]));
    assert!(client.endpoint.poll_transmit(ms(20)).is_none());
    assert_eq!(client.endpoint.path_stats(PathId(0)).unwrap().in_flight_bytes, 0);
    let at = client.endpoint.poll_timeout().unwrap();
    assert!(at < ms(5000), "{at:?}");
    client.endpoint.on_timeout(at);
    let (_, mut probe) = client.endpoint.poll_transmit(at).unwrap();
    assert!(probe.len() >= 1200);
    let (_, _, frames) = server.open(&mut probe);
    assert!(frames.iter().any(Frame::is_ack_eliciting), "{frames:?}");
}

/// RFC 9002 §6.2.2.1: all that a server may send is sent; it waits for its client.
#[test]
fn a_server_without_credit_waits_for_its_client() {
    let (_, _, mut server, _) = begun();
    let mut probes = 0;
    loop {
        let at = server.endpoint.poll_timeout().unwrap();
        server.endpoint.on_timeout(at);
        if server.endpoint.is_over() {
            assert!(at >= ms(30_000), "{at:?}: the idle timeout");
            break;
        }
        probes += std::iter::from_fn(|| server.endpoint.poll_transmit(at)).count();
        assert!(probes < 4, "a timer that fires for nothing");
    }
}

/// RFC 9001 §6.6: those of the handshake count as well. (Forging 2^52 packets would take years.)
#[test]
fn forged_packets_of_the_handshake_are_counted() {
    let (mut client, _, _, answers) = begun();
    let mut forged = answers[0].clone();
    let end = parse(&forged, LOCAL_CID_BYTES).unwrap().len;
    forged.truncate(end);
    forged[end - 1] ^= 1;
    client.endpoint.set_forgeries((1 << 52) - 1);
    handle(&mut client, &forged);
    assert_eq!(client.closed(), None);
    handle(&mut client, &forged);
    let Some(Closed::Error(error)) = client.closed() else { panic!() };
    assert_eq!(error.code, Code::AeadLimitReached);
}
