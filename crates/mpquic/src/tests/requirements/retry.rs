//! Retry and version negotiation, as a client must take them (RFC 9000 §6.2, §8.1.2, §17.2.5).

use super::forge::Forger;
use super::*;
use crate::crypto;
use crate::wire::{ConnectionId, Kind, begin_retry, parse, version_negotiation};

/// A Retry for the client whose first datagram this is.
fn retry(first: &[u8], scid: ConnectionId, token: &[u8]) -> Vec<u8> {
    let header = parse(first, LOCAL_CID_BYTES).unwrap();
    let mut out = Vec::new();
    begin_retry(&mut out, (&header.scid, &scid), 5);
    out.extend(token);
    let tag = crypto::retry_tag(&out, &header.dcid).unwrap();
    out.extend(tag);
    out
}

fn id(byte: u8) -> ConnectionId {
    ConnectionId::new(&[byte; 8]).unwrap()
}

fn begun() -> (Own, Vec<u8>) {
    let mut client = Own::client(0, |_| {});
    let first = client.endpoint.poll_transmit(ms(0)).unwrap().1;
    while client.endpoint.poll_transmit(ms(0)).is_some() {}
    (client, first)
}

/// What the client sends when this came.
fn answers(client: &mut Own, datagram: Vec<u8>) -> Vec<Vec<u8>> {
    client.endpoint.handle(ms(20), PathId(0), datagram, None);
    let next = || client.endpoint.poll_transmit(ms(20));
    std::iter::from_fn(next).map(|(_, datagram)| datagram).collect()
}

#[test]
fn a_retry_that_is_not_right_is_dropped() {
    let (mut client, first) = begun();
    let original = parse(&first, LOCAL_CID_BYTES).unwrap().dcid;
    let mut damaged = retry(&first, id(3), b"token");
    *damaged.last_mut().unwrap() ^= 1;
    for wrong in [damaged, retry(&first, original, b"token"), retry(&first, id(3), b"")] {
        assert_eq!(answers(&mut client, wrong).len(), 0);
    }
    assert!(!answers(&mut client, retry(&first, id(3), b"token")).is_empty());
    // (It would be authentic for the first packet, too.)
    assert_eq!(answers(&mut client, retry(&first, id(4), b"other")).len(), 0);
}

#[test]
fn a_retry_after_the_servers_first_packet_is_dropped() {
    let (mut client, first) = begun();
    let server = Forger::server(&first, id(5));
    client.endpoint.handle(ms(10), PathId(0), server.initial(0, &[Frame::Ping]), None);
    while client.endpoint.poll_transmit(ms(10)).is_some() {}
    assert_eq!(answers(&mut client, retry(&first, id(3), b"token")).len(), 0);
}

/// The same hello under new keys, to the new ID, with the token in every packet, and with numbers that
/// go on.
#[test]
fn after_a_retry_the_same_hello_goes_on() {
    let (mut client, first) = begun();
    let hello = |frames: Vec<Frame<'_>>| -> Vec<u8> {
        let crypto = frames.into_iter().filter_map(|frame| match frame {
            Frame::Crypto { data, .. } => Some(data.to_vec()),
            _ => None,
        });
        crypto.flatten().collect()
    };
    let before = parse(&first, LOCAL_CID_BYTES).unwrap();
    let mut copy = first.clone();
    let (_, mut last, frames) = Forger::server(&first, id(3)).open(&mut copy);
    let said = hello(frames);
    let mut second = answers(&mut client, retry(&first, id(3), b"token"));
    let at = client.endpoint.poll_timeout().unwrap();
    client.endpoint.on_timeout(at);
    second.extend(std::iter::from_fn(|| client.endpoint.poll_transmit(at)).map(|(_, it)| it));
    assert!(second.len() >= 2, "and once more by the probe timer");
    let mut again = Vec::new();
    for datagram in &mut second {
        let header = parse(datagram, LOCAL_CID_BYTES).unwrap();
        assert_eq!(
            (header.dcid, header.scid, &header.token[..]),
            (id(3), before.scid, &b"token"[..])
        );
        let copy = datagram.clone();
        let (_, number, frames) = Forger::server(&copy, id(3)).open(datagram);
        assert!(number > last, "{number} after {last}");
        last = number;
        again.push(hello(frames));
    }
    assert!(again.iter().all(|again| again.starts_with(&said)) && !said.is_empty());
}

/// RFC 9000 §6.2: whoever has heard something else from the server does not believe it.
#[test]
fn version_negotiation_is_not_believed_later() {
    let list = |first: &[u8]| {
        let mut strange = first.to_vec();
        strange[1..5].copy_from_slice(&[0x1a; 4]);
        let mut answer = version_negotiation(&strange, 0).unwrap();
        let end = answer.len();
        answer[end - 4..].copy_from_slice(&[0x2a; 4]);
        answer
    };
    let (mut client, first) = begun();
    assert_eq!(answers(&mut client, list(&first)).len(), 0);
    assert!(client.endpoint.is_over(), "at first it is");
    let (mut client, first) = begun();
    answers(&mut client, retry(&first, id(3), b"token"));
    answers(&mut client, list(&first));
    assert!(!client.endpoint.is_over());
    let (mut client, first) = begun();
    let packet = Forger::server(&first, id(5)).initial(0, &[Frame::Ping]);
    answers(&mut client, packet);
    answers(&mut client, list(&first));
    assert!(!client.endpoint.is_over());
}

/// RFC 9000 §6.1, §17.2.1: IDs of any length are echoed, and such a packet has no answer itself.
#[test]
fn version_negotiation_echoes_the_ids_and_is_not_answered() {
    let mut strange = vec![0x80, 0x1a, 0x2a, 0x3a, 0x4a, 30];
    strange.extend([1; 30]);
    strange.push(25);
    strange.extend([2; 25]);
    strange.resize(2400, 0);
    let mut server = Own::server(0, |_| {});
    server.endpoint.handle(ms(0), PathId(0), strange, None);
    let (_, mut answer) = server.endpoint.poll_transmit(ms(0)).unwrap();
    assert!(server.endpoint.poll_transmit(ms(0)).is_none(), "one for a datagram");
    let expected = [&[0, 0, 0, 0, 25][..], &[2; 25], &[30], &[1; 30], &[0, 0, 0, 1]].concat();
    assert_eq!(&answer[1..], expected);
    assert_ne!(answer[0] & 0x80, 0);
    answer.resize(1300, 0);
    server.endpoint.handle(ms(0), PathId(0), answer.clone(), None);
    assert!(server.endpoint.poll_transmit(ms(0)).is_none());
    assert_eq!(version_negotiation(&answer, 0), None);
}

/// RFC 9000 §5.2.1: a client does not read another version than its own.
#[test]
fn packets_of_another_version_are_dropped() {
    let (mut client, first) = begun();
    let mut other = Forger::server(&first, id(5)).initial(0, &[super::forge::CLOSE]);
    other[4] = 2;
    assert_eq!(answers(&mut client, other).len(), 0);
    client.work(ms(20));
    assert_eq!(client.closed(), None);
    let sent = client.endpoint.poll_timeout().unwrap();
    client.endpoint.on_timeout(sent);
    let (_, probe) = client.endpoint.poll_transmit(sent).unwrap();
    assert_eq!(parse(&probe, LOCAL_CID_BYTES).unwrap().kind, Kind::Initial);
}
