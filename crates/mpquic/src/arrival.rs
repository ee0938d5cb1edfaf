use crate::ecn::Ecn;
use units::{Instant, PathId};

/// Smallest stateless reset (RFC 9000 §10.3).
const MIN_RESET_BYTES: usize = 21;

/// A datagram on its way through the packets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub now: Instant,
    pub net: PathId,
    pub ecn: Option<Ecn>,
    pub datagram_len: usize,
    /// Its last bytes, if it is long enough to be a stateless reset: their token (RFC 9000 §10.3).
    pub token: Option<[u8; 16]>,
    /// Bytes of it that no address was credited with yet.
    pub uncounted_bytes: usize,
}

impl Arrival {
    pub fn new(now: Instant, net: PathId, ecn: Option<Ecn>, datagram_len: usize) -> Self {
        Self { now, net, ecn, datagram_len, token: None, uncounted_bytes: datagram_len }
    }

    /// As [`Self::new`], for a datagram that nobody has decrypted yet: its end may be a reset token.
    pub fn of(now: Instant, net: PathId, ecn: Option<Ecn>, datagram: &[u8]) -> Self {
        let token = datagram.last_chunk().filter(|_| datagram.len() >= MIN_RESET_BYTES).copied();
        Self { token, ..Self::new(now, net, ecn, datagram.len()) }
    }
}
