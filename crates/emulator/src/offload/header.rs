//! `struct virtio_net_hdr` (linux/virtio_net.h), in the byte order of the machine as TUN has it.

/// What says how a packet is to be completed and split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) flags: u8,
    pub(crate) gso_type: u8,
    /// Bytes of all headers; a hint.
    pub(crate) header_bytes: u16,
    /// Payload of each segment but the last.
    pub(crate) gso_size: u16,
    /// Where the checksummed part of the packet begins.
    pub(crate) csum_start: u16,
    /// Where the checksum stands, from there.
    pub(crate) csum_offset: u16,
}

impl Header {
    /// Bytes that stand before each packet.
    pub(crate) const BYTES: usize = 10;
    /// `VIRTIO_NET_HDR_F_NEEDS_CSUM`: the checksum field has the sum of the pseudo-header only.
    pub(crate) const NEEDS_CSUM: u8 = 1;
    pub(crate) const GSO_NONE: u8 = 0;
    pub(crate) const GSO_TCPV4: u8 = 1;
    pub(crate) const GSO_TCPV6: u8 = 4;
    pub(crate) const GSO_UDP_L4: u8 = 5;
    /// CWR is set, on the first segment alone.
    pub(crate) const GSO_ECN: u8 = 0x80;

    /// Reads the header before a packet.
    pub(crate) fn read(bytes: &[u8; Self::BYTES]) -> Self {
        let word = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        Self {
            flags: bytes[0],
            gso_type: bytes[1],
            header_bytes: word(2),
            gso_size: word(4),
            csum_start: word(6),
            csum_offset: word(8),
        }
    }

    /// The header as it stands before a packet.
    pub(crate) fn bytes(self) -> [u8; Self::BYTES] {
        let mut out = [self.flags, self.gso_type, 0, 0, 0, 0, 0, 0, 0, 0];
        let words = [self.header_bytes, self.gso_size, self.csum_start, self.csum_offset];
        for (place, word) in words.into_iter().enumerate() {
            out[2 + 2 * place..4 + 2 * place].copy_from_slice(&word.to_ne_bytes());
        }
        out
    }

    /// Whether the checksum field has the sum of the pseudo-header only.
    pub(crate) fn is_partial(self) -> bool {
        self.flags & Self::NEEDS_CSUM != 0
    }

    /// Whether it calls its packet a super-packet.
    pub(crate) fn is_super(self) -> bool {
        self.gso_type != Self::GSO_NONE
    }

    /// Where the checksum stands in the packet.
    pub(crate) fn csum_at(self) -> usize {
        usize::from(self.csum_start) + usize::from(self.csum_offset)
    }
}
