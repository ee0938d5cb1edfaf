//! Huffman's code (RFC 7541 §5.2, Appendix B). It is canonical: codes of one length follow each other in
//! the order of the symbols, so the lengths say everything.

/// Bits of the code of each byte, and of the end, which is no part of a string.
#[rustfmt::skip]
const BITS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
    28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
    5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
    6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
    21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
    19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
    30,
];
const LONGEST: usize = 30;
const END: u16 = 256;

/// For each length of a code: the first code, how many there are, and where their symbols begin.
struct Codes {
    first: [u32; LONGEST + 1],
    count: [u32; LONGEST + 1],
    start: [usize; LONGEST + 1],
    symbols: [u16; 257],
}

const CODES: Codes = codes();

const fn codes() -> Codes {
    let lengths = LONGEST + 1;
    let mut codes = Codes {
        first: [0; LONGEST + 1],
        count: [0; LONGEST + 1],
        start: [0; LONGEST + 1],
        symbols: [0; 257],
    };
    let (mut bits, mut placed, mut code) = (1, 0, 0);
    while bits < lengths {
        code <<= 1;
        (codes.first[bits], codes.start[bits]) = (code, placed);
        let mut symbol = 0;
        while symbol < BITS.len() {
            if BITS[symbol] as usize == bits {
                codes.symbols[placed] = symbol as u16;
                placed += 1;
                code += 1;
            }
            symbol += 1;
        }
        codes.count[bits] = (placed - codes.start[bits]) as u32;
        bits += 1;
    }
    codes
}

/// Decodes a string. `None`: it holds the end, or what fills its last byte is too long or not the
/// beginning of the end.
pub(super) fn decode(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len() * 8 / 5);
    let (mut code, mut bits) = (0_u32, 0_usize);
    for byte in bytes {
        for at in (0..8).rev() {
            code = code << 1 | u32::from(byte >> at & 1);
            bits += 1;
            let place = code.wrapping_sub(CODES.first[bits]);
            if place < CODES.count[bits] {
                let symbol = CODES.symbols[CODES.start[bits] + place as usize];
                if symbol == END {
                    return None;
                }
                out.push(symbol as u8);
                (code, bits) = (0, 0);
            }
        }
    }
    let filled = bits < 8 && code == (1 << bits) - 1;
    filled.then_some(out)
}

/// Writes a string, to read it again.
#[cfg(test)]
pub(super) fn encode(bytes: &[u8]) -> Vec<u8> {
    let mut bits = Vec::new();
    for byte in bytes {
        let len = usize::from(BITS[usize::from(*byte)]);
        let begin = CODES.start[len];
        let place = CODES.symbols[begin..].iter().position(|symbol| *symbol == u16::from(*byte));
        let code = CODES.first[len] + place.unwrap_or_default() as u32;
        bits.extend((0..len).rev().map(|at| code >> at & 1 == 1));
    }
    while bits.len() % 8 > 0 {
        bits.push(true);
    }
    let byte = |bits: &[bool]| bits.iter().fold(0, |byte, bit| byte << 1 | u8::from(*bit));
    bits.chunks(8).map(byte).collect()
}
