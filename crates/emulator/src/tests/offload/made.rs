//! Super-packets, and what they are segments of, both made from the same description: the segments
//! know nothing of how a super-packet is split.

use super::*;
use crate::offload::Header;

/// A TCP or UDP super-packet.
#[derive(Clone, Debug)]
pub(super) struct Made {
    pub(super) is_v4: bool,
    pub(super) is_tcp: bool,
    /// Of TCP, or of IPv4, or an extension of IPv6 with options for the destination.
    pub(super) options: Vec<u8>,
    pub(super) ip_options: bool,
    pub(super) traffic_class: u8,
    pub(super) id: u16,
    pub(super) port: u16,
    pub(super) sequence: u32,
    pub(super) flags: u8,
    pub(super) mss: usize,
    pub(super) payload: Vec<u8>,
}

impl Made {
    /// What a device with offload gives.
    pub(super) fn super_packet(&self) -> Vec<u8> {
        let (packet, transport) = self.packet(0, self.flags, &self.payload, false);
        let gso_type = match (self.is_tcp, self.is_v4) {
            (true, true) => Header::GSO_TCPV4,
            (true, false) => Header::GSO_TCPV6,
            (false, _) => Header::GSO_UDP_L4,
        };
        let ecn = if self.is_tcp && self.flags & 0x80 != 0 { Header::GSO_ECN } else { 0 };
        let header = Header {
            flags: Header::NEEDS_CSUM,
            gso_type: gso_type | ecn,
            header_bytes: (packet.len() - self.payload.len()) as u16,
            gso_size: self.mss as u16,
            csum_start: transport as u16,
            csum_offset: if self.is_tcp { 16 } else { 6 },
        };
        [&header.bytes()[..], &packet].concat()
    }

    /// What a device without offload gives in its place.
    pub(super) fn segments(&self) -> Vec<Vec<u8>> {
        let count = self.payload.len().div_ceil(self.mss);
        let segment = |(number, payload): (usize, &[u8])| {
            let mut flags = self.flags;
            if number > 0 {
                flags &= !0x80;
            }
            if number + 1 < count {
                flags &= !0x09;
            }
            self.packet(number, flags, payload, true).0
        };
        self.payload.chunks(self.mss).enumerate().map(segment).collect()
    }

    /// A packet, and where its transport begins.
    fn packet(
        &self,
        number: usize,
        flags: u8,
        payload: &[u8],
        is_complete: bool,
    ) -> (Vec<u8>, usize) {
        let mut transport = [self.port.to_be_bytes(), 443_u16.to_be_bytes()].concat();
        if self.is_tcp {
            let sequence = self.sequence.wrapping_add((number * self.mss) as u32);
            transport.extend(sequence.to_be_bytes());
            transport.extend(0x0102_0304_u32.to_be_bytes());
            transport.extend([((20 + self.options.len()) / 4) as u8 * 16, flags, 1, 245]);
            transport.extend([0; 4]);
            transport.extend(&self.options);
        } else {
            transport.extend(((8 + payload.len()) as u16).to_be_bytes());
            transport.extend([0; 2]);
        }
        transport.extend(payload);
        let number_of_it = if self.is_tcp { 6 } else { 17 };
        let mut pseudo = if self.is_v4 { vec![10, 0, 0, 1, 10, 0, 0, 2] } else { vec![0xFD; 32] };
        pseudo.extend((transport.len() as u32).to_be_bytes());
        pseudo.extend([0, 0, 0, number_of_it]);
        if is_complete {
            pseudo.extend(&transport);
        }
        let sum = ones_sum(&pseudo);
        let checksum = match (is_complete, !sum) {
            (false, _) => sum,
            (true, 0) => 0xFFFF,
            (true, checksum) => checksum,
        };
        let at = if self.is_tcp { 16 } else { 6 };
        transport[at..at + 2].copy_from_slice(&checksum.to_be_bytes());
        let mut packet = if self.is_v4 {
            self.ipv4(number, number_of_it, &transport)
        } else {
            self.ipv6(number_of_it, &transport)
        };
        let begin = packet.len();
        packet.extend(transport);
        (packet, begin)
    }

    fn ipv4(&self, number: usize, protocol: u8, transport: &[u8]) -> Vec<u8> {
        let options: &[u8] = if self.ip_options { &[0x94, 4, 0, 0] } else { &[] };
        let length = (20 + options.len() + transport.len()) as u16;
        let id = self.id.wrapping_add(number as u16);
        let mut header = vec![0x45 + (options.len() / 4) as u8, self.traffic_class];
        header.extend(length.to_be_bytes());
        header.extend(id.to_be_bytes());
        header.extend([0x40, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        header.extend(options);
        let checksum = !ones_sum(&header);
        header[10..12].copy_from_slice(&checksum.to_be_bytes());
        header
    }

    fn ipv6(&self, protocol: u8, transport: &[u8]) -> Vec<u8> {
        let extension: &[u8] = if self.ip_options { &[protocol, 0, 1, 4, 0, 0, 0, 0] } else { &[] };
        let mut header = vec![0x60 | self.traffic_class >> 4, self.traffic_class << 4, 3, 4];
        header.extend(((extension.len() + transport.len()) as u16).to_be_bytes());
        header.extend([if extension.is_empty() { protocol } else { 60 }, 64]);
        header.extend([0xFD; 32]);
        header.extend(extension);
        header
    }
}

/// The sum of RFC 1071, two bytes at a time.
fn ones_sum(bytes: &[u8]) -> u16 {
    let mut total = 0_u32;
    for two in bytes.chunks(2) {
        total += u32::from(two[0]) << 8 | u32::from(two.get(1).copied().unwrap_or(0));
        total = (total & 0xFFFF) + (total >> 16);
    }
    total as u16
}

/// Super-packets of at most `most` segments, of any kind that may be split.
pub(super) fn made(most: usize) -> impl Strategy<Value = Made> {
    let kinds = (any::<bool>(), any::<bool>(), any::<bool>(), 0_usize..6);
    let numbers = (any::<u8>(), any::<u16>(), 1_u16..4, any::<u32>());
    let flags = prop_oneof![3 => Just(0x10_u8), 2 => any::<u8>()];
    let sizes = (1_usize..1500, 1..most + 1, any::<prop::sample::Index>());
    (kinds, numbers, flags, sizes, any::<u8>()).prop_map(|(kinds, numbers, flags, sizes, salt)| {
        let (is_v4, is_tcp, ip_options, options) = kinds;
        let (traffic_class, id, port, sequence) = numbers;
        let (mss, segments, last) = sizes;
        let segments = segments.min(60_000 / mss);
        let bytes = (segments - 1) * mss + 1 + last.index(mss);
        let payload = (0..bytes).map(|at| (at as u8).wrapping_mul(salt | 1) ^ (at >> 8) as u8);
        Made {
            is_v4,
            is_tcp,
            options: vec![1; options * 4],
            ip_options,
            traffic_class,
            id,
            port,
            sequence,
            flags,
            mss,
            payload: payload.collect(),
        }
    })
}
