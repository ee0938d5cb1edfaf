//! Where the headers of a packet are.

use super::Header;

/// Packets with more bytes of headers are neither split nor merged.
const MOST_HEADER_BYTES: usize = 512;
const IPV6_BYTES: usize = 40;
const UDP_BYTES: usize = 8;
const HOP_BY_HOP: u8 = 0;
const TCP: u8 = 6;
const UDP: u8 = 17;
const ROUTING: u8 = 43;
const DESTINATION: u8 = 60;

/// What stands above IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Tcp,
    Udp,
}

/// The headers of a TCP or UDP packet that is whole: no fragment, with lengths that agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) is_v4: bool,
    pub(crate) protocol: Protocol,
    /// Where the header of the transport begins.
    pub(crate) transport: usize,
    /// Where the payload begins.
    pub(crate) payload: usize,
}

impl Layout {
    /// Finds the headers of a packet; `None` if it is anything else.
    pub(crate) fn of(packet: &[u8]) -> Option<Self> {
        let is_v4 = packet.first()? >> 4 == 4;
        let (number, transport) = if is_v4 { ipv4(packet)? } else { ipv6(packet)? };
        let rest = packet.get(transport..)?;
        let (protocol, header) = match number {
            TCP => (Protocol::Tcp, usize::from(*rest.get(12)? >> 4) * 4),
            UDP if usize::from(word(rest, 4)?) == rest.len() => (Protocol::Udp, UDP_BYTES),
            _ => return None,
        };
        let payload = transport + header;
        let fits = header >= 8 && payload <= packet.len().min(MOST_HEADER_BYTES);
        let fits = fits && (protocol == Protocol::Udp || header >= 20);
        fits.then_some(Self { is_v4, protocol, transport, payload })
    }

    /// Where the checksum stands, from the header of the transport on.
    pub(crate) fn csum_offset(&self) -> usize {
        match self.protocol {
            Protocol::Tcp => 16,
            Protocol::Udp => 6,
        }
    }

    /// Whether a header says that the transport's checksum, and no other, is partial.
    pub(crate) fn is_partial(&self, header: Header) -> bool {
        header.is_partial()
            && usize::from(header.csum_start) == self.transport
            && usize::from(header.csum_offset) == self.csum_offset()
    }
}

/// The 16 bits at a place.
pub(crate) fn word(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2).map(|two| u16::from_be_bytes([two[0], two[1]]))
}

/// Number and place of what follows the IPv4 header.
fn ipv4(packet: &[u8]) -> Option<(u8, usize)> {
    let header = usize::from(packet.first()? & 15) * 4;
    let is_whole = usize::from(word(packet, 2)?) == packet.len() && word(packet, 6)? & 0x3FFF == 0;
    (header >= 20 && is_whole).then_some((*packet.get(9)?, header))
}

/// Number and place of what follows the IPv6 header and those of its extensions that each segment
/// has.
fn ipv6(packet: &[u8]) -> Option<(u8, usize)> {
    let is_v6 = packet.first()? >> 4 == 6;
    if !is_v6 || usize::from(word(packet, 4)?) + IPV6_BYTES != packet.len() {
        return None;
    }
    let (mut number, mut at) = (*packet.get(6)?, IPV6_BYTES);
    while matches!(number, HOP_BY_HOP | ROUTING | DESTINATION) {
        let extension = packet.get(at..at + 2)?;
        number = extension[0];
        at += 8 + 8 * usize::from(extension[1]);
    }
    Some((number, at))
}
