//! Super-packets into segments, by the rules of the kernel (`tcp_gso_segment`, `__udp_gso_segment`,
//! `inet_gso_segment`).

use super::{Header, Layout, Protocol, checksum};
use crate::frame::Frame;

pub(crate) const FIN: u8 = 0x01;
pub(crate) const PSH: u8 = 0x08;
pub(crate) const CWR: u8 = 0x80;
/// Segments with these are never merged: SYN, RST, URG.
pub(crate) const ALONE: u8 = 0x02 | 0x04 | 0x20;
/// Where flags stand in a TCP header.
const FLAGS: usize = 13;
const SEQUENCE: usize = 4;

/// Payload of each segment of a super-packet but the last; `None`: it cannot be split.
pub(crate) fn segment_bytes(header: Header, layout: Layout) -> Option<usize> {
    let wanted = match (layout.protocol, layout.is_v4) {
        (Protocol::Tcp, true) => Header::GSO_TCPV4,
        (Protocol::Tcp, false) => Header::GSO_TCPV6,
        (Protocol::Udp, _) => Header::GSO_UDP_L4,
    };
    let fits = header.gso_type & !Header::GSO_ECN == wanted && layout.is_partial(header);
    (fits && header.gso_size > 0).then_some(usize::from(header.gso_size))
}

impl Frame {
    /// The flags of a TCP segment: FIN and PSH stay with the last, CWR with the first.
    pub(crate) fn tcp_flags(&self, layout: Layout) -> u8 {
        let of_all = self.headers()[layout.transport + FLAGS];
        let later = if self.number() == 0 { 0 } else { CWR };
        let earlier = if self.is_last() { 0 } else { FIN | PSH };
        of_all & !later & !earlier
    }

    /// The sequence number of a TCP segment.
    pub(crate) fn sequence(&self, layout: Layout) -> u32 {
        let at = layout.transport + SEQUENCE;
        let first = self.headers().get(at..at + 4).and_then(|four| four.try_into().ok());
        first.map_or(0, u32::from_be_bytes).wrapping_add(self.offset() as u32)
    }

    /// The identification of an IPv4 packet: one more for each segment.
    pub(crate) fn ip_id(&self) -> u16 {
        let headers = self.headers();
        u16::from_be_bytes([headers[4], headers[5]]).wrapping_add(self.number())
    }

    /// Appends the headers of what begins with this segment, ends with `last` and has `payload` bytes.
    pub(crate) fn write_headers(
        &self,
        layout: Layout,
        last: &Self,
        payload: usize,
        out: &mut Vec<u8>,
    ) {
        let begin = out.len();
        out.extend_from_slice(self.headers());
        let headers = &mut out[begin..];
        let length = headers.len() + payload;
        let mut put = |at: usize, value: usize| {
            headers[at..at + 2].copy_from_slice(&(value as u16).to_be_bytes());
        };
        if layout.is_v4 {
            put(2, length);
            put(4, usize::from(self.ip_id()));
            put(10, 0);
            let checksum = !checksum::sum(&headers[..layout.transport]);
            headers[10..12].copy_from_slice(&checksum.to_be_bytes());
        } else {
            put(4, length - 40);
        }
        let transport = &mut headers[layout.transport..];
        let (before, after) = (self.packet().len() - layout.transport, length - layout.transport);
        match layout.protocol {
            Protocol::Tcp => {
                transport[SEQUENCE..SEQUENCE + 4]
                    .copy_from_slice(&self.sequence(layout).to_be_bytes());
                transport[FLAGS] = self.tcp_flags(layout) | last.tcp_flags(layout) & (FIN | PSH);
            }
            Protocol::Udp => transport[4..6].copy_from_slice(&(after as u16).to_be_bytes()),
        }
        let at = layout.csum_offset();
        let partial = u16::from_be_bytes([transport[at], transport[at + 1]]);
        let partial = checksum::relength(partial, before, after);
        transport[at..at + 2].copy_from_slice(&partial.to_be_bytes());
    }
}
