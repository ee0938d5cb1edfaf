//! What is in the packets that an endpoint sends, and the first byte of those that it gets.

use super::*;
use crate::wire::{ConnectionId, Kind, begin_long, begin_short, number_len, parse};
use std::collections::BTreeMap;

/// RFC 9000 §17.2, §17.3.1, §17.4: reserved bits and spin bit are 0.
#[test]
fn unused_bits_are_sent_as_0() {
    let cid = ConnectionId::new(&[7; 8]).unwrap();
    for number_len in 1..=4 {
        for kind in [Kind::Initial, Kind::Handshake] {
            let mut out = Vec::new();
            begin_long(&mut out, kind, (&cid, &cid), &[], number_len);
            assert_eq!(out[0] & 0x0c, 0);
        }
        for phase in [false, true] {
            let mut out = Vec::new();
            begin_short(&mut out, &cid, phase, number_len);
            assert_eq!(out[0] & 0x38, 0);
        }
    }
}

/// RFC 9000 §17.3.1, §17.4: reserved bits are errors, the spin bit is not looked at.
#[test]
fn reserved_bits_of_a_short_header_end_the_connection() {
    for (bits, expected) in [(0x08, true), (0x10, true), (0x20, false), (0, false)] {
        let (client, server) = (Own::client(0, |_| {}), Own::server(0, |_| {}));
        let mut world = World::new(client, server, vec![Link::new(10.0, 5)], 1);
        world.run(ms(300), |_| false);
        let packet = world.client.endpoint.ping_with(bits);
        world.server.endpoint.handle(world.now, PathId(0), packet, None);
        world.server.work(world.now);
        let error = match world.server.closed() {
            Some(Closed::Error(error)) => Some(error.code),
            _ => None,
        };
        assert_eq!(error, expected.then_some(Code::ProtocolViolation), "{bits:#x}");
        assert_eq!(world.server.endpoint.totals().dropped_packets, 0);
    }
}

/// RFC 9000 §17.1.
#[test]
fn before_an_acknowledgement_numbers_are_whole() {
    for number in [0, 1, 127, 128, 255, 256, 32_767, 32_768, 65_536, 1 << 23, 1 << 24, 1 << 30] {
        let len = number_len(number, None);
        assert!(number < 1 << (8 * len), "{number} in {len} bytes");
    }
}

/// Both ends of a transfer over two lossy paths, and all that they sent.
fn logged() -> [Log; 2] {
    let link = |mbps, delay| Link { loss: 20, ..Link::new(mbps, delay) };
    let (mut client, mut server) = (Own::client(300_000, |_| {}), Own::server(300_000, |_| {}));
    let logs = [&mut client, &mut server].map(|own| Log::of(&mut own.endpoint, ms(0)));
    let mut world = World::new(client, server, vec![link(20.0, 10), link(10.0, 30)], 1);
    assert!(
        world.run(ms(9000), |world| {
            world.client.endpoint.add_path(world.now, PathId(1)).is_ok()
        })
    );
    world.transfer(60);
    logs
}

/// RFC 9000 §12.3.
#[test]
fn packet_numbers_go_up_in_each_space() {
    for log in logged() {
        let mut last: BTreeMap<String, u64> = BTreeMap::new();
        let packets = log.0.lock().unwrap().clone();
        for packet in packets {
            let header = &packet["data"]["header"];
            let space = format!("{} {}", header["packet_type"], header["path_id"]);
            let number = header["packet_number"].as_u64().unwrap();
            let before = last.insert(space, number);
            assert!(before.is_none_or(|before| before < number), "{number} after {before:?}");
        }
        assert!(last.len() >= 4, "{last:?}");
    }
}

/// RFC 9000 §12.5, §13.2.6, draft-ietf-quic-multipath-21 §4.
#[test]
fn packets_of_the_handshake_have_few_frames() {
    let few = ["padding", "ping", "ack", "crypto"];
    for log in logged() {
        let packets = log.0.lock().unwrap().clone();
        let of_handshake =
            |packet: &&serde_json::Value| packet["data"]["header"]["packet_type"] != "1RTT";
        for packet in packets.iter().filter(of_handshake) {
            for frame in packet["data"]["frames"].as_array().unwrap() {
                assert!(few.contains(&frame["frame_type"].as_str().unwrap()), "{packet}");
            }
        }
        assert!(packets.iter().filter(of_handshake).count() >= 2);
    }
}

/// RFC 9000 §9: a client that moves once it is acknowledged knows by then that it may, and has a
/// connection ID to move with.
#[test]
fn the_first_acknowledgement_brings_handshake_done_and_connection_ids() {
    let (mut client, mut server) = (Own::client(5000, |_| {}), Own::server(0, |_| {}));
    let log = Log::of(&mut server.endpoint, ms(0));
    let carry = |from: &mut Own, to: &mut Own| {
        while let Some((_, datagram)) = from.endpoint.poll_transmit(ms(0)) {
            to.endpoint.handle(ms(0), PathId(0), datagram, None);
        }
    };
    carry(&mut client, &mut server);
    carry(&mut server, &mut client);
    client.work(ms(0)); // writes its data as soon as it is connected
    carry(&mut client, &mut server);
    assert!(log.frames("handshake_done").is_empty());
    server.endpoint.poll_transmit(ms(0)).unwrap();
    for frame in ["handshake_done", "new_connection_id"] {
        assert!(!log.frames(frame).is_empty(), "{frame}");
    }
}

/// RFC 9000 §19.20, RFC 9001 §4.9.2: the server sends HANDSHAKE_DONE once the handshake is
/// complete, and then discards the handshake keys.
#[test]
fn handshake_done_waits_for_the_end_which_ends_the_handshakes_keys() {
    let (mut client, mut server) = (Own::client(0, |_| {}), Own::server(0, |_| {}));
    let log = Log::of(&mut server.endpoint, ms(0));
    let take = |own: &mut Own| -> Vec<Vec<u8>> {
        std::iter::from_fn(|| own.endpoint.poll_transmit(ms(0))).map(|(_, it)| it).collect()
    };
    let give = |own: &mut Own, datagrams: &[Vec<u8>]| {
        for datagram in datagrams {
            own.endpoint.handle(ms(0), PathId(0), datagram.clone(), None);
        }
    };
    let hello = take(&mut client);
    give(&mut server, &hello);
    let answer = take(&mut server);
    assert!(!answer.is_empty() && log.frames("handshake_done").is_empty());
    give(&mut client, &answer);
    let finished = take(&mut client);
    give(&mut server, &finished);
    take(&mut server);
    assert_eq!(log.frames("handshake_done").len(), 1);
    let of = |kind: Kind| {
        let kinds = finished.iter().flat_map(|datagram| kinds(datagram));
        kinds.filter(|found| *found == kind).count() as u64
    };
    assert!(of(Kind::Handshake) > 0);
    let before = server.endpoint.totals().duplicate_packets;
    give(&mut server, &finished);
    assert!(take(&mut server).is_empty());
    let known = server.endpoint.totals().duplicate_packets - before;
    assert_eq!(known, of(Kind::Short), "packets of the handshake are not even opened");
}

/// The packets of a datagram.
fn kinds(datagram: &[u8]) -> Vec<Kind> {
    let (mut kinds, mut rest) = (Vec::new(), datagram);
    while !rest.is_empty() {
        let header = parse(rest, LOCAL_CID_BYTES).unwrap();
        kinds.push(header.kind);
        rest = &rest[header.len..];
    }
    kinds
}
