use crate::cids::LOCAL_LEN;
use crate::crypto;
use crate::wire::{Kind, parse};

/// Smallest datagram that is answered: the answer must be shorter, and not below this less one
/// (RFC 9000 §10.3).
const MIN_TRIGGER_BYTES: usize = 22;

/// The answer of an end that lost its state to a 1-RTT packet that it cannot read (RFC 9000 §10.3);
/// `None` when there must be none. `reset_key` is that of [`crate::Config`]; `unpredictable` is
/// random.
pub fn stateless_reset(
    reset_key: &[u8; 32],
    datagram: &[u8],
    unpredictable: [u8; 24],
) -> Option<Vec<u8>> {
    let header = parse(datagram, LOCAL_LEN).ok()?;
    if header.kind != Kind::Short || datagram.len() < MIN_TRIGGER_BYTES {
        return None;
    }
    // Shorter than what it answers, so that two such ends do not answer each other without end
    // (RFC 9000 §10.3.3).
    let len = (datagram.len() - 1).min(unpredictable.len() + 16);
    let mut out = unpredictable[..len - 16].to_vec();
    out[0] = out[0] & 0x3f | 0x40;
    out.extend(crypto::reset_token(reset_key, &header.dcid).0);
    Some(out)
}
