//! What travels on the links of a run.

use link::WireSize;
use mptcp::Segment;
use units::PathId;

/// Headers of IPv4 (RFC 791) and UDP (RFC 768).
const UDP_HEADERS_BYTES: u64 = 20 + 8;

/// A packet of either transport.
#[derive(Clone, Debug)]
pub(crate) enum Packet {
    /// Of TCP or Multipath TCP, without its data.
    Segment(Box<Segment>),
    /// Of QUIC, as it goes into UDP: encrypted.
    Datagram(Vec<u8>),
}

/// A packet on its way, with the connection and the path of that connection it belongs to.
#[derive(Clone, Debug)]
pub(crate) struct Wire {
    pub connection: u16,
    pub path: PathId,
    pub packet: Packet,
}

impl WireSize for Wire {
    fn wire_bytes(&self) -> u64 {
        match &self.packet {
            Packet::Segment(segment) => segment.wire_bytes,
            Packet::Datagram(datagram) => datagram.len() as u64 + UDP_HEADERS_BYTES,
        }
    }
}
