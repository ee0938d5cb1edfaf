//! Frames that nobody may send, and frames that came late.

use super::forge::{CLOSE, Forger};
use super::*;
use crate::wire::{MAX_VARINT, put_varint};

fn bytes(numbers: &[u64], rest: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    numbers.iter().for_each(|number| put_varint(&mut out, *number));
    out.extend(rest);
    out
}

#[test]
fn an_unknown_frame_type_ends_the_connection() {
    for kind in [0x1f, 0x20, 0x32, 0x40, 0x3e74, 0x3e7d, MAX_VARINT] {
        let error = Victim::server().hears_bytes(&bytes(&[kind], &[0; 20])).error();
        assert_eq!(error, Some(Code::FrameEncoding), "{kind:#x}");
    }
}

#[test]
fn a_packet_without_frames_ends_the_connection() {
    assert_eq!(Victim::server().hears_bytes(&[]).error(), Some(Code::ProtocolViolation));
    assert_eq!(Victim::server().hears_bytes(&[1]).error(), None);
}

/// RFC 9000 §19.7, §19.20.
#[test]
fn a_client_does_not_say_what_only_servers_say() {
    for frame in [Frame::HandshakeDone, Frame::NewToken { token: &[1] }] {
        let frames = [frame];
        assert_eq!(error_of(Victim::server(), &frames), Some(Code::ProtocolViolation));
        assert_eq!(error_of(Victim::client(), &frames), None);
    }
}

/// Values that no field may have; RFC 9000 gives the same error for all of them.
#[test]
fn fields_out_of_their_range_end_the_connection() {
    let past = (1 << 60) + 1;
    let cid = |sequence, retire, len: u8| {
        bytes(&[0x18, sequence, retire], &[&[len][..], &[7; 40]].concat())
    };
    let cases = [
        ("RFC 9000 §19.3.1: first range", bytes(&[2, 5, 0, 0, 6], &[])),
        ("RFC 9000 §19.3.1: gap", bytes(&[2, 5, 0, 1, 1, 3, 0], &[])),
        ("RFC 9000 §19.3.1: further range", bytes(&[2, 5, 0, 1, 1, 1, 2], &[])),
        ("RFC 9000 §19.6", bytes(&[6, MAX_VARINT, 1], &[0])),
        ("RFC 9000 §19.7", bytes(&[7, 0], &[])),
        ("RFC 9000 §19.8", bytes(&[0x0e, 0, MAX_VARINT, 1], &[0])),
        ("RFC 9000 §19.11: bidirectional", bytes(&[0x12, past], &[])),
        ("RFC 9000 §19.11: unidirectional", bytes(&[0x13, past], &[])),
        ("RFC 9000 §19.14: bidirectional", bytes(&[0x16, past], &[])),
        ("RFC 9000 §19.14: unidirectional", bytes(&[0x17, past], &[])),
        ("RFC 9000 §19.15: empty", cid(1, 0, 0)),
        ("RFC 9000 §19.15: too long", cid(1, 0, 21)),
        ("RFC 9000 §19.15: retires itself and more", cid(1, 2, 8)),
    ];
    for (name, payload) in cases {
        let error = Victim::client().hears_bytes(&payload).error();
        assert_eq!(error, Some(Code::FrameEncoding), "{name}");
    }
}

/// Limits only ever grow: what says less was overtaken by what says more.
#[test]
fn frames_that_came_late_lower_no_limit() {
    let mut victim = Victim::client();
    let stream = victim.own.endpoint.open_stream(true).unwrap();
    victim.own.endpoint.write(stream, &[0; 100]).unwrap();
    let before = victim.own.endpoint.send_window_bytes();
    victim.hears(&[
        Frame::MaxData { maximum: 0 },
        Frame::MaxStreamData { id: stream, maximum: 0 },
        Frame::MaxStreams { bidi: true, maximum: 0 },
    ]);
    assert_eq!(victim.own.endpoint.send_window_bytes(), before);
    assert!(victim.own.endpoint.open_stream(true).is_ok());
    assert_eq!(victim.error(), None);
    victim.hears(&[
        Frame::MaxData { maximum: 1 << 20 },
        Frame::MaxStreamData { id: stream, maximum: 1 << 20 },
    ]);
    assert!(victim.own.endpoint.send_window_bytes() > before);
}

/// RFC 9000 §12.4, Table 3: most frames belong in 1-RTT packets.
#[test]
fn an_initial_packet_takes_few_frames() {
    let first = Own::client(0, |_| {}).endpoint.poll_transmit(ms(0)).unwrap().1;
    let close = Frame::ConnectionClose { error_code: 0, frame_type: None, reason: b"" };
    let not_allowed = [
        Frame::MaxData { maximum: 9 },
        Frame::Stream { id: 0, offset: 0, data: &[1], fin: true },
        Frame::HandshakeDone,
        Frame::PathAbandon { path: 0, error_code: 0 },
        Frame::PathStatus { path: 0, sequence: 0, backup: true },
        close,
    ];
    for frame in not_allowed {
        let mut server = Own::server(0, |_| {});
        let packet = Forger::client(&first).initial(0, &[frame]);
        server.endpoint.handle(ms(0), PathId(0), packet, None);
        server.work(ms(0));
        let closed = server.closed();
        assert!(
            matches!(closed, Some(Closed::Error(error)) if error.code == Code::ProtocolViolation),
            "{closed:?}"
        );
    }
    let mut server = Own::server(0, |_| {});
    let packet = Forger::client(&first).initial(0, &[Frame::Ping, Frame::Padding(3), CLOSE]);
    server.endpoint.handle(ms(0), PathId(0), packet, None);
    server.work(ms(0));
    assert!(matches!(server.closed(), Some(Closed::PeerTransport(0, _))));
}
