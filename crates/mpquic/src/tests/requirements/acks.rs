//! When acknowledgements leave (RFC 9000 §13.2).

use super::*;
use units::Duration;

fn count(log: &Log) -> usize {
    log.frames("ack").len() + log.frames("path_ack").len()
}

/// Our max_ack_delay is the default, 25 ms.
#[test]
fn one_packet_is_acknowledged_within_the_delay_that_was_told() {
    let mut victim = Victim::server();
    // (The first one after the handshake leaves a gap, and is acknowledged at once.)
    victim.hears(&[Frame::Ping]);
    victim.says();
    let log = victim.log();
    victim.hears(&[Frame::Ping]);
    let end = victim.now + Duration::from_millis(25);
    assert_eq!(victim.until(end).len(), 1);
    assert_eq!(count(&log), 1);
    let end = victim.now + Duration::from_secs(1);
    assert_eq!(victim.until(end).len(), 0, "once");
}

#[test]
fn packets_out_of_order_are_acknowledged_at_once() {
    let mut victim = Victim::server();
    let log = victim.log();
    victim.number += 5;
    victim.hears(&[Frame::Ping]);
    assert_eq!((victim.says().len(), count(&log)), (1, 1));
}

/// RFC 9000 §13.2.1: or two ends would acknowledge each other without end.
#[test]
fn what_elicits_nothing_gets_no_packet() {
    let ack = wire::AckFrame { delay: 0, ranges: vec![0..=0], ecn: None };
    let frames = [Frame::Ack { path: Some(0), ack }, Frame::Padding(9)];
    for mut victim in [Victim::client(), Victim::server()] {
        victim.says();
        victim.number += 5; // a gap before it
        victim.hears(&frames).hears(&frames);
        let end = victim.now + Duration::from_millis(500);
        assert_eq!(victim.until(end).len(), 0);
    }
}

/// RFC 9000 §13.1: a packet that was not processed is not acknowledged.
#[test]
fn a_packet_with_an_error_is_not_acknowledged() {
    let mut victim = Victim::server();
    let log = victim.log();
    victim.hears(&[Frame::Ping, Frame::HandshakeDone]);
    let end = victim.now + Duration::from_millis(100);
    assert_eq!(victim.until(end).len(), 1);
    assert_eq!(count(&log), 0);
}

/// RFC 9000 §12.3: a number counts once.
#[test]
fn a_packet_that_comes_twice_is_read_once() {
    let mut victim = Victim::server();
    victim.hears(&[Frame::Stream { id: 0, offset: 0, data: &[1; 10], fin: false }]);
    victim.number -= 1;
    // (It would end the connection.)
    assert_eq!(victim.hears(&[Frame::HandshakeDone]).error(), None);
    assert_eq!(victim.own.endpoint.totals().duplicate_packets, 1);
}

/// draft-ietf-quic-multipath-21 §2.3: ACK frames are those of path 0.
#[test]
fn an_ack_frame_counts_for_the_first_path() {
    let mut victim = Victim::client();
    let stream = victim.own.endpoint.open_stream(true).unwrap();
    victim.own.endpoint.write(stream, &[0; 100]).unwrap();
    let sent = victim.log();
    victim.says();
    let packets = sent.0.lock().unwrap().clone();
    let number = packets.last().unwrap()["data"]["header"]["packet_number"].as_u64().unwrap();
    assert!(victim.own.endpoint.path_stats(PathId(0)).unwrap().in_flight_bytes > 0);
    let ack = wire::AckFrame { delay: 0, ranges: vec![number..=number], ecn: None };
    victim.hears(&[Frame::Ack { path: None, ack }]);
    assert_eq!(victim.own.endpoint.path_stats(PathId(0)).unwrap().in_flight_bytes, 0);
    assert_eq!(victim.own.endpoint.buffered_bytes(), 0);
}

/// RFC 9000 §13.2.4: they ask once in a round trip at most, and what the peer has is not repeated.
#[test]
fn long_acknowledgements_ask_for_one_and_become_shorter() {
    let ranges = |packet: &serde_json::Value| {
        let frames = packet["data"]["frames"].as_array().cloned().unwrap_or_default();
        frames.iter().find_map(|frame| frame["acked_ranges"].as_array().map(Vec::len)).unwrap_or(0)
    };
    let mut victim = Victim::server();
    victim.hears(&[Frame::Ping]).says();
    let log = victim.log();
    for _ in 0..40 {
        victim.number += 1; // one is lost
        victim.hears(&[Frame::Ping]).says();
    }
    assert_eq!((count(&log), log.frames("ping").len()), (40, 1));
    let packets = log.0.lock().unwrap().clone();
    let asks = packets.iter().find(|packet| packet["data"]["frames"].to_string().contains("ping"));
    let (asks, before) = (asks.unwrap(), packets.iter().map(ranges).max().unwrap());
    let number = asks["data"]["header"]["packet_number"].as_u64().unwrap();
    let ack = wire::AckFrame { delay: 0, ranges: vec![number..=number], ecn: None };
    victim.hears(&[Frame::Ack { path: Some(0), ack }, Frame::Ping]);
    victim.until(victim.now + Duration::from_millis(25));
    let after = log.0.lock().unwrap().last().map(ranges);
    assert_eq!(after, Some(before - ranges(asks)));
}
