//! Decoding: no panic, and what was read is what is written.

use crate::wire::{Frame, Params, Reader, parse, version_negotiation};

/// Bytes as a packet's payload: each frame that can be read is the same after writing and reading.
pub fn frame(bytes: &[u8]) {
    let mut reader = Reader::new(bytes);
    while !reader.is_empty() {
        let Ok(frame) = Frame::decode(&mut reader) else { break };
        let mut out = Vec::new();
        frame.encode(&mut out);
        let mut again = Reader::new(&out);
        assert_eq!(Frame::decode(&mut again).as_ref(), Ok(&frame));
        assert!(again.is_empty(), "{frame:?} is written with something behind it");
    }
}

/// Bytes as transport parameters of either side, and as a header.
pub fn params(bytes: &[u8]) {
    for from_server in [false, true] {
        if let Ok(params) = Params::decode(bytes, from_server) {
            assert_eq!(Params::decode(&params.encode(), from_server).as_ref(), Ok(&params));
        }
    }
    for cid_len in [0, 8, 20] {
        if let Ok(header) = parse(bytes, cid_len) {
            assert!(header.number_at <= header.len && header.len <= bytes.len());
            assert!(header.len > 0, "a packet of nothing would never end");
        }
    }
    if let Some(answer) = version_negotiation(bytes, 0x2a) {
        assert!(answer.len() <= bytes.len());
    }
}
