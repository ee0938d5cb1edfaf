/// Bytes needed so that the peer can tell packet number `number` from the others, when it has
/// acknowledged up to `largest_acked` (RFC 9000 §17.1, Appendix A.2).
pub fn number_len(number: u64, largest_acked: Option<u64>) -> usize {
    let unacked = largest_acked.map_or(number + 1, |acked| number.saturating_sub(acked));
    match unacked {
        0..=0x7f => 1,
        0x80..=0x7fff => 2,
        0x8000..=0x7f_ffff => 3,
        _ => 4,
    }
}

/// The packet number whose low `len` bytes are `truncated` and that is nearest to the one after
/// `largest` (RFC 9000 Appendix A.3).
pub fn decode_number(largest: Option<u64>, truncated: u64, len: usize) -> u64 {
    let expected = largest.map_or(0, |largest| largest + 1);
    let window = 1_u64 << (len * 8);
    let half = window / 2;
    let candidate = (expected & !(window - 1)) | truncated;
    if candidate + half <= expected && candidate < (1 << 62) - window {
        candidate + window
    } else if candidate > expected + half && candidate >= window {
        candidate - window
    } else {
        candidate
    }
}
