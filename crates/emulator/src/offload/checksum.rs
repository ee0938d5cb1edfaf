//! The Internet checksum (RFC 1071). A partial one is the folded sum of the pseudo-header, not
//! complemented: what `CHECKSUM_PARTIAL` leaves in the field.

/// The folded sum of bytes.
pub(crate) fn sum(bytes: &[u8]) -> u16 {
    let (words, rest) = bytes.as_chunks::<4>();
    let total: u64 = words.iter().map(|word| u64::from(u32::from_be_bytes(*word))).sum();
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    fold(total + u64::from(u32::from_be_bytes(last)))
}

/// A partial checksum for another length of the transport's header and payload (RFC 1624).
pub(crate) fn relength(partial: u16, from: usize, to: usize) -> u16 {
    fold(u64::from(partial) + u64::from(!fold(from as u64)) + to as u64)
}

/// Completes a partial checksum that stands at `field` over everything from `start` on: whether both
/// lie in the packet. A sum of zero is sent as 0xFFFF, as the kernel does (`CSUM_MANGLED_0`).
pub(crate) fn complete(packet: &mut [u8], start: usize, field: usize) -> bool {
    if start >= packet.len() || field < start || field + 2 > packet.len() {
        return false;
    }
    let checksum = match !sum(&packet[start..]) {
        0 => 0xFFFF,
        checksum => checksum,
    };
    packet[field..field + 2].copy_from_slice(&checksum.to_be_bytes());
    true
}

fn fold(mut total: u64) -> u16 {
    while total > 0xFFFF {
        total = (total & 0xFFFF) + (total >> 16);
    }
    total as u16
}
