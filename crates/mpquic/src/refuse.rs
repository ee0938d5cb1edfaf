//! Refusing a connection without keeping anything for it.

use crate::cids::LOCAL_LEN;
use crate::crypto;
use crate::error::Code;
use crate::retry::first_initial;
use crate::wire::{ConnectionId, Frame, Kind, begin_long};
use rustls::Side;

/// The answer to a client's first datagram that makes it give up at once: an Initial with
/// CONNECTION_CLOSE and CONNECTION_REFUSED (RFC 9000 §5.2.2, §10.2.3); `None` when the datagram
/// deserves none. `scid` is random. It is a twentieth of what it answers.
pub fn refuse(datagram: &[u8], scid: [u8; LOCAL_LEN]) -> Option<Vec<u8>> {
    let header = first_initial(datagram)?;
    let scid = ConnectionId::new(&scid).ok()?;
    let mut out = Vec::new();
    begin_long(&mut out, Kind::Initial, (&header.scid, &scid), &[], 1);
    let number_at = out.len();
    out.push(0); // the packet number, which is the first
    let frame_type = Some(0);
    let reason: &[u8] = &[];
    let error_code = Code::ConnectionRefused as u64;
    Frame::ConnectionClose { error_code, frame_type, reason }.encode(&mut out);
    let keys = crypto::initial_keys(&header.dcid, Side::Server).local;
    let len = out.len() - number_at + keys.packet.tag_len();
    out[number_at - 2..number_at].copy_from_slice(&(0x4000 | len as u16).to_be_bytes());
    let pair = (keys.packet.as_ref(), keys.header.as_ref());
    crypto::seal(&mut out, (0, number_at, 1), pair, (0, 0)).then_some(out)
}
