//! Control streams and those of QPACK, as peers of all kinds use them.

use crate::control::our_settings;
use crate::*;
use proptest::prelude::*;

const CONTROL: u8 = 0;
const ENCODER: u8 = 2;
const DECODER: u8 = 3;
const SETTINGS: [u8; 2] = [4, 0];

/// What a peer's streams come to: the code of the first error.
fn said(side: Side, streams: &[(u64, Vec<u8>)]) -> Option<Code> {
    let mut link = Link::new(side);
    for (id, bytes) in streams {
        for byte in bytes {
            if let Err(error) = link.take(*id, &[*byte]) {
                let mut whole = Link::new(side);
                let again = streams.iter().find_map(|(id, bytes)| whole.take(*id, bytes).err());
                assert_eq!(again, Some(error), "pieces change nothing");
                return Some(error.code);
            }
        }
    }
    None
}

fn control(frames: &[u8]) -> Vec<(u64, Vec<u8>)> {
    vec![(3, [&[CONTROL], &SETTINGS[..], frames].concat())]
}

#[test]
fn what_every_client_says_is_taken() {
    let ours = [vec![CONTROL], our_settings()].concat();
    let grease = vec![0xf0, 0, 0, 0, 0, 0, 0, 0x21];
    let streams = [
        (2, ours),
        (6, vec![ENCODER, 0x20]),
        (10, vec![DECODER, 0x44, 0x7f, 0x85, 1]),
        (14, grease),
    ];
    assert_eq!(said(Side::Server, &streams), None);
    // MAX_PUSH_ID twice, GOAWAY of a push ID, a frame and a setting that nobody knows.
    let frames = [0xd, 1, 1, 0xd, 1, 2, 7, 1, 3, 0x21, 1, 9];
    assert_eq!(said(Side::Server, &control(&frames)), None);
    assert_eq!(said(Side::Server, &[(2, vec![CONTROL, 4, 2, 0x21, 7])]), None);
}

#[test]
fn streams_nobody_knows_are_left() {
    let mut link = Link::new(Side::Server);
    assert_eq!(link.take(2, &[0x21]), Ok(false));
    assert_eq!(link.take(6, &[0x40]), Ok(true), "half a kind");
    assert_eq!(link.end(6), Ok(()), "and no more");
}

#[test]
fn what_must_not_be_said_has_its_code() {
    use Code::*;
    let stream = |bytes: &[u8]| vec![(3, bytes.to_vec())];
    let twice = |kind: u8| vec![(3, vec![kind]), (7, vec![kind])];
    for (what, side, streams, code) in [
        ("no settings", Side::Client, stream(&[CONTROL, 7, 1, 0]), MissingSettings),
        ("grease first", Side::Client, stream(&[CONTROL, 0x21, 0]), MissingSettings),
        ("settings twice", Side::Client, control(&SETTINGS), FrameUnexpected),
        ("a setting twice", Side::Client, stream(&[0, 4, 4, 6, 1, 6, 1]), Settings),
        ("HTTP/2's", Side::Client, stream(&[0, 4, 2, 4, 1]), Settings),
        ("half a setting", Side::Client, stream(&[0, 4, 1, 6]), Frame),
        ("headers", Side::Client, control(&[1, 0]), FrameUnexpected),
        ("data", Side::Client, control(&[0, 0]), FrameUnexpected),
        ("ping of HTTP/2", Side::Client, control(&[6, 0]), FrameUnexpected),
        ("push ID to a client", Side::Client, control(&[0xd, 1, 0]), FrameUnexpected),
        ("push ID that sinks", Side::Server, control(&[0xd, 1, 2, 0xd, 1, 1]), Id),
        ("cancelled push", Side::Server, control(&[3, 1, 0]), Id),
        ("going up", Side::Client, control(&[7, 1, 0, 7, 1, 4]), Id),
        ("going at no request", Side::Client, control(&[7, 1, 1]), Id),
        ("a frame too long inside", Side::Client, control(&[7, 2, 0, 0]), Frame),
        ("push to a client", Side::Client, stream(&[1]), Id),
        ("push to a server", Side::Server, stream(&[1]), StreamCreation),
        ("two control", Side::Client, twice(CONTROL), StreamCreation),
        ("two encoders", Side::Client, twice(ENCODER), StreamCreation),
        ("insert", Side::Client, stream(&[ENCODER, 0xc0, 0]), QpackEncoderStream),
        ("capacity", Side::Client, stream(&[ENCODER, 0x21]), QpackEncoderStream),
        ("acknowledged", Side::Client, stream(&[DECODER, 0x80]), QpackDecoderStream),
        ("increment", Side::Client, stream(&[DECODER, 0x01]), QpackDecoderStream),
        (
            "endless",
            Side::Client,
            stream(&[&[DECODER, 0x7f][..], &[0x80; 12]].concat()),
            QpackDecoderStream,
        ),
    ] {
        assert_eq!(said(side, &streams), Some(code), "{what}");
    }
    let mut link = Link::new(Side::Client);
    link.take(3, &[CONTROL]).unwrap();
    assert_eq!(link.end(3).unwrap_err().code, ClosedCriticalStream);
}

#[test]
fn a_server_that_goes_says_so() {
    let mut link = Link::new(Side::Client);
    link.take(3, &[CONTROL, 4, 0]).unwrap();
    assert!(!link.is_going());
    link.take(3, &[7, 1, 8]).unwrap();
    assert!(link.is_going());
}

proptest! {
    #![proptest_config(cases::at_least(512))]

    #[test]
    fn nothing_that_comes_panics(
        pieces in prop::collection::vec((0..3_u64, any::<Vec<u8>>()), 0..12),
        known: bool,
    ) {
        for side in [Side::Client, Side::Server] {
            let mut link = Link::new(side);
            let streams: &[(u64, Vec<u8>)] = if known { &[(0, vec![0, 4, 0]), (1, vec![2])] } else { &[] };
            for (id, piece) in streams.iter().chain(&pieces) {
                if link.take(*id, piece).is_err() {
                    break;
                }
            }
        }
    }
}
