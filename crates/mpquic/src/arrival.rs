use crate::ecn::Ecn;
use units::{Instant, PathId};

/// A datagram on its way through the packets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub now: Instant,
    pub net: PathId,
    pub ecn: Option<Ecn>,
    pub datagram_len: usize,
    /// Bytes of it that no address was credited with yet.
    pub uncounted_bytes: usize,
}

impl Arrival {
    pub fn new(now: Instant, net: PathId, ecn: Option<Ecn>, datagram_len: usize) -> Self {
        Self { now, net, ecn, datagram_len, uncounted_bytes: datagram_len }
    }
}
