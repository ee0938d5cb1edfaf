//! Initial packets that anybody can make who saw the client's first one: their keys follow from it.

use crate::crypto;
use crate::wire::{ConnectionId, Frame, Header, Kind, Reader, begin_long, decode_number, parse};
use crate::*;
use rustls::Side;
use rustls::quic::Keys;

/// Somebody who speaks as the client, or as the server.
pub struct Forger {
    keys: Keys,
    pub dcid: ConnectionId,
    pub scid: ConnectionId,
    pub token: Vec<u8>,
    /// Further bits of the first byte.
    pub bits: u8,
    pub datagram_bytes: usize,
}

impl Forger {
    /// As the client whose first datagram this is.
    pub fn client(first: &[u8]) -> Self {
        let header = parse(first, LOCAL_CID_BYTES).unwrap();
        Self::new(&header.dcid, Side::Client, (header.dcid, header.scid))
    }

    /// As the server, to the client whose first datagram this is; `scid` is what it calls itself.
    pub fn server(first: &[u8], scid: ConnectionId) -> Self {
        let header = parse(first, LOCAL_CID_BYTES).unwrap();
        Self::new(&header.dcid, Side::Server, (header.scid, scid))
    }

    fn new(keyed: &ConnectionId, side: Side, (dcid, scid): (ConnectionId, ConnectionId)) -> Self {
        let keys = crypto::initial_keys(keyed, side);
        Self { keys, dcid, scid, token: Vec::new(), bits: 0, datagram_bytes: 1200 }
    }

    /// A datagram of one Initial packet.
    pub fn initial(&self, number: u16, frames: &[Frame<'_>]) -> Vec<u8> {
        let mut out = Vec::new();
        begin_long(&mut out, Kind::Initial, (&self.dcid, &self.scid), &self.token, 2);
        out[0] |= self.bits;
        let number_at = out.len();
        out.extend(number.to_be_bytes());
        frames.iter().for_each(|frame| frame.encode(&mut out));
        out.resize(self.datagram_bytes - 16, 0);
        let len = (0x4000 | (out.len() - number_at + 16) as u16).to_be_bytes();
        out[number_at - 2..number_at].copy_from_slice(&len);
        let pair = (self.keys.local.packet.as_ref(), self.keys.local.header.as_ref());
        assert!(crypto::seal(&mut out, (0, number_at, 2), pair, (0, number.into())));
        out
    }

    /// The first packet of a datagram of the other side's: its header, number and frames.
    pub fn open<'a>(&self, datagram: &'a mut [u8]) -> (Header, u64, Vec<Frame<'a>>) {
        let header = parse(datagram, LOCAL_CID_BYTES).unwrap();
        assert_eq!(header.kind, Kind::Initial);
        let packet = &mut datagram[..header.len];
        let remote = &self.keys.remote;
        let opened = crypto::unprotect(packet, header.number_at, remote.header.as_ref());
        let (len, low) = opened.unwrap();
        let (number, at) = (decode_number(None, low, len), header.number_at + len);
        let plain = crypto::open(packet, at, remote.packet.as_ref(), (0, number)).unwrap();
        let mut reader = Reader::new(&datagram[at..at + plain]);
        let mut frames = Vec::new();
        while !reader.is_empty() {
            frames.push(Frame::decode(&mut reader).unwrap());
        }
        (header, number, frames)
    }
}

/// The end of a connection, which no packet of a stranger must bring about.
pub const CLOSE: Frame<'static> =
    Frame::ConnectionClose { error_code: 0, frame_type: Some(0), reason: b"" };
