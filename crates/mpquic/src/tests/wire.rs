//! Vectors of the RFCs, round trips, and arbitrary bytes.

use crate::crypto;
use crate::wire::*;
use proptest::prelude::*;
use rustls::Side;

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(pair).collect()
}

#[test]
fn varints_of_rfc_9000_appendix_a1() {
    let vectors = [
        ("c2197c5eff14e88c", 151_288_809_941_952_652),
        ("9d7f3e7d", 494_878_333),
        ("7bbd", 15_293),
        ("25", 37),
    ];
    for (text, value) in vectors {
        assert_eq!(Reader::new(&hex(text)).varint("test"), Ok(value));
        let mut out = Vec::new();
        put_varint(&mut out, value);
        assert_eq!(out, hex(text));
    }
    assert_eq!(Reader::new(&hex("4025")).varint("test"), Ok(37));
}

#[test]
fn packet_numbers_of_rfc_9000_appendix_a() {
    assert_eq!(number_len(0xac5c02, Some(0xabe8b3)), 2);
    assert_eq!(number_len(0xace8fe, Some(0xabe8b3)), 3);
    assert_eq!(decode_number(Some(0xa82f30ea), 0x9b32, 2), 0xa82f9b32);
}

/// RFC 9001 §A.4: the Retry and its tag; §A.3: the server's Initial.
#[test]
fn retry_and_initial_of_rfc_9001_appendix_a() {
    let dcid = ConnectionId::new(&hex("8394c8f03e515708")).unwrap();
    let mut retry = hex("ff000000010008f067a5502a4262b5746f6b656e04a265ba2eff4d829058fb3f0f2496ba");
    assert!(crypto::retry_is_authentic(&retry, &dcid));
    retry[20] ^= 1;
    assert!(!crypto::retry_is_authentic(&retry, &dcid));

    let mut initial = hex("cf000000010008f067a5502a4262b5004075c0d95a482cd0991cd25b0aac406a
        5816b6394100f37a1c69797554780bb38cc5a99f5ede4cf73c3ec2493a1839b3dbcba3f6ea46c5b7684df3548e
        7ddeb9c3bf9c73cc3f3bded74b562bfb19fb84022f8ef4cdd93795d77d06edbb7aaf2f58891850abbdca3d2039
        8c276456cbc42158407dd074ee");
    let header = parse(&initial, 8).unwrap();
    assert_eq!((header.kind, header.len), (Kind::Initial, initial.len()));
    let keys = crypto::initial_keys(&dcid, Side::Client);
    let (len, number) =
        crypto::unprotect(&mut initial, header.number_at, keys.remote.header.as_ref()).unwrap();
    assert_eq!((len, number), (2, 1));
    let at = header.number_at + len;
    let plain = crypto::open(&mut initial, at, keys.remote.packet.as_ref(), (0, 1)).unwrap();
    let payload =
        hex("02000000000600405a020000560303eefce7f7b37ba1d1632e96677825ddf73988cfc79825df
        566dc5430b9a045a1200130100002e00330024001d00209d3c940d89690b84d08a60993c144eca684d1081287c83
        4d5311bcf32bb9da1a002b00020304");
    assert_eq!(&initial[at..at + plain], payload);
}

/// RFC 9001 §A.2: the client's Initial, sealed by us.
#[test]
fn client_initial_of_rfc_9001_appendix_a2() {
    let dcid = ConnectionId::new(&hex("8394c8f03e515708")).unwrap();
    let crypto_frame = hex("060040f1010000ed0303ebf8fa56f12939b9584a3896472ec40bb863cfd3e868
        04fe3a47f06a2b69484c00000413011302010000c000000010000e00000b6578616d706c652e636f6dff0100010000
        0a00080006001d0017001800100007000504616c706e000500050100000000003300260024001d00209370b2c9caa4
        7fbabaf4559fedba753de171fa71f50f1ce15d43e994ec74d748002b0003020304000d0010000e0403050306030203
        080408050806002d00020101001c00024001003900320408ffffffffffffffff05048000ffff07048000ffff080110
        0104800075300901100f088394c8f03e51570806048000ffff");
    let mut out = Vec::new();
    begin_long(&mut out, Kind::Initial, (&dcid, &ConnectionId::default()), &[], 4);
    let number_at = out.len();
    let at = number_at - 2;
    out[at..].copy_from_slice(&0x449e_u16.to_be_bytes());
    out.extend(2_u32.to_be_bytes());
    out.extend(&crypto_frame);
    out.resize(number_at + 4 + 1162, 0);
    let keys = crypto::initial_keys(&dcid, Side::Client);
    let pair = (keys.local.packet.as_ref(), keys.local.header.as_ref());
    assert!(crypto::seal(&mut out, (0, number_at, 4), pair, (0, 2)));
    assert_eq!(out.len(), 1200);
    assert_eq!(&out[..22], hex("c000000001088394c8f03e5157080000449e7b9aec34"));
    assert_eq!(&out[1184..], hex("e221af44860018ab0856972e194cd934"));
}

fn varint() -> impl Strategy<Value = u64> {
    prop_oneof![0_u64..64, 0_u64..(1 << 14), 0..MAX_VARINT]
}

fn ack() -> impl Strategy<Value = AckFrame> {
    let ranges = proptest::collection::vec((0_u64..1000, 0_u64..1000), 1..20);
    (ranges, varint(), proptest::option::of((varint(), varint(), varint()))).prop_map(
        |(gaps, delay, ecn)| {
            let mut next = 0;
            let mut ranges = Vec::new();
            for (gap, len) in gaps {
                let start = next + gap;
                ranges.push(start..=start + len);
                next = start + len + 2;
            }
            ranges.reverse();
            AckFrame {
                delay,
                ranges,
                ecn: ecn.map(|(ect0, ect1, ce)| EcnCounts { ect0, ect1, ce }),
            }
        },
    )
}

fn new_cid() -> impl Strategy<Value = NewCid> {
    (varint(), proptest::collection::vec(any::<u8>(), 1..=20), any::<[u8; 16]>()).prop_map(
        |(sequence, cid, token)| NewCid {
            sequence,
            retire_prior_to: sequence / 2,
            cid: ConnectionId::new(&cid).unwrap(),
            token: ResetToken(token),
        },
    )
}

fn plain_frame() -> impl Strategy<Value = Frame<'static>> {
    let path = || proptest::option::of(any::<u32>());
    prop_oneof![
        Just(Frame::Ping),
        Just(Frame::HandshakeDone),
        (path(), ack()).prop_map(|(path, ack)| Frame::Ack { path, ack }),
        (varint(), varint(), varint()).prop_map(|(id, error_code, final_size)| {
            Frame::ResetStream { id, error_code, final_size }
        }),
        (varint(), varint()).prop_map(|(id, error_code)| Frame::StopSending { id, error_code }),
        varint().prop_map(|maximum| Frame::MaxData { maximum }),
        (varint(), varint()).prop_map(|(id, maximum)| Frame::MaxStreamData { id, maximum }),
        (any::<bool>(), 0_u64..1 << 60)
            .prop_map(|(bidi, maximum)| Frame::MaxStreams { bidi, maximum }),
        (any::<bool>(), 0_u64..1 << 60)
            .prop_map(|(bidi, limit)| Frame::StreamsBlocked { bidi, limit }),
        varint().prop_map(|limit| Frame::DataBlocked { limit }),
        (varint(), varint()).prop_map(|(id, limit)| Frame::StreamDataBlocked { id, limit }),
        (path(), new_cid()).prop_map(|(path, new)| Frame::NewConnectionId { path, new }),
        (path(), varint())
            .prop_map(|(path, sequence)| Frame::RetireConnectionId { path, sequence }),
        any::<[u8; 8]>().prop_map(|data| Frame::PathChallenge { data }),
        any::<[u8; 8]>().prop_map(|data| Frame::PathResponse { data }),
        (any::<u32>(), varint())
            .prop_map(|(path, error_code)| Frame::PathAbandon { path, error_code }),
        (any::<u32>(), varint(), any::<bool>())
            .prop_map(|(path, sequence, backup)| Frame::PathStatus { path, sequence, backup }),
        any::<u32>().prop_map(|maximum| Frame::MaxPathId { maximum }),
        any::<u32>().prop_map(|maximum| Frame::PathsBlocked { maximum }),
        (any::<u32>(), varint())
            .prop_map(|(path, next_sequence)| Frame::PathCidsBlocked { path, next_sequence }),
    ]
}

proptest! {
    #[test]
    fn frames_survive_the_wire(frame in plain_frame()) {
        let mut out = Vec::new();
        frame.encode(&mut out);
        let mut reader = Reader::new(&out);
        prop_assert_eq!(Frame::decode(&mut reader), Ok(frame));
        prop_assert!(reader.is_empty());
    }

    #[test]
    fn data_frames_survive_the_wire(
        data in proptest::collection::vec(any::<u8>(), 1..300),
        (id, offset, code) in (varint(), 0_u64..1 << 61, varint()),
        fin in any::<bool>(),
    ) {
        let data = &data[..];
        let frames = [
            Frame::Stream { id, offset, data, fin },
            Frame::Crypto { offset, data },
            Frame::NewToken { token: data },
            Frame::Datagram { data },
            Frame::ConnectionClose { error_code: code, frame_type: Some(id), reason: data },
            Frame::ConnectionClose { error_code: code, frame_type: None, reason: data },
            Frame::Padding(7),
        ];
        let mut out = Vec::new();
        frames.iter().for_each(|frame| frame.encode(&mut out));
        let mut reader = Reader::new(&out);
        for frame in frames {
            prop_assert_eq!(Frame::decode(&mut reader), Ok(frame));
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400), server in any::<bool>()) {
        let mut reader = Reader::new(&bytes);
        while !reader.is_empty() && Frame::decode(&mut reader).is_ok() {}
        let _ = Params::decode(&bytes, server);
        let _ = version_negotiation(&bytes, 0);
        if let Ok(header) = parse(&bytes, 8) {
            prop_assert!(header.number_at <= header.len && header.len <= bytes.len());
        }
    }

    #[test]
    fn frame_like_bytes_never_panic(kind in 0_u64..0x40, multipath in any::<bool>(), bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        let mut out = Vec::new();
        put_varint(&mut out, if multipath { 0x3e70 + kind % 16 } else { kind });
        out.extend(bytes);
        let _ = Frame::decode(&mut Reader::new(&out));
    }

    #[test]
    fn packet_numbers_survive_truncation(acked in 0_u64..1 << 40, ahead in 1_u64..1 << 30, late in 0_u64..100) {
        let number = acked + ahead;
        let len = number_len(number, Some(acked));
        let truncated = number & ((1 << (len * 8)) - 1);
        let largest = (number.saturating_sub(1 + late)).max(acked);
        prop_assert_eq!(decode_number(Some(largest), truncated, len), number);
    }

    #[test]
    fn parameters_survive_the_wire(
        (idle, data, streams) in (varint(), varint(), 0_u64..1 << 60),
        path in proptest::option::of(any::<u32>()),
        cid in proptest::collection::vec(any::<u8>(), 0..=20),
        token in proptest::option::of(any::<[u8; 16]>()),
        flag in any::<bool>(),
    ) {
        let params = Params {
            max_idle_timeout_ms: idle,
            initial_max_data: data,
            initial_max_streams_uni: streams,
            initial_max_path_id: path,
            initial_source_connection_id: ConnectionId::new(&cid).ok(),
            stateless_reset_token: token.map(ResetToken),
            disable_active_migration: flag,
            ..Params::default()
        };
        prop_assert_eq!(Params::decode(&params.encode(), true), Ok(params.clone()));
        prop_assert_eq!(Params::decode(&params.encode(), false).is_ok(), token.is_none());
    }
}
