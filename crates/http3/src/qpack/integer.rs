//! Integers with a prefix (RFC 9204 §4.1.1, RFC 7541 §5.1).

use super::wrong;
use crate::error::Result;

/// Largest integer that is taken: of 62 bits.
const MOST: u64 = (1 << 62) - 1;

/// Takes an integer whose prefix has `bits` bits from the front: the flags before it, and itself.
pub(super) fn take(input: &mut &[u8], bits: u8) -> Result<(u8, u64)> {
    let short = wrong("a field section breaks off");
    let (first, mut rest) = input.split_first().ok_or(short)?;
    let mask = u8::MAX >> (8 - bits);
    let flags = u16::from(*first) >> bits;
    let mut value = u64::from(first & mask);
    if first & mask == mask {
        let mut shift = 0;
        loop {
            let (next, after) = rest.split_first().ok_or(short)?;
            rest = after;
            let part = u64::from(next & 0x7f);
            let fits = shift < 63 && part <= (MOST - value) >> shift;
            if !fits && part > 0 {
                return Err(wrong("an integer is too large"));
            }
            value += part.checked_shl(shift).unwrap_or(0);
            if next & 0x80 == 0 {
                break;
            }
            shift += 7;
            if shift > 63 {
                return Err(wrong("an integer is too long"));
            }
        }
    }
    *input = rest;
    Ok((flags as u8, value))
}

/// Appends `value` with a prefix of `bits` bits behind `flags`.
pub(super) fn put(out: &mut Vec<u8>, flags: u8, bits: u8, value: u64) {
    let mask = u8::MAX >> (8 - bits);
    let head = (u16::from(flags) << bits) as u8;
    if value < u64::from(mask) {
        return out.push(head | value as u8);
    }
    out.push(head | mask);
    let mut left = value - u64::from(mask);
    while left >= 0x80 {
        out.push(left as u8 | 0x80);
        left >>= 7;
    }
    out.push(left as u8);
}
