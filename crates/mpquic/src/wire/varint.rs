use super::WireError;

/// Largest variable-length integer (RFC 9000 §16).
pub const MAX_VARINT: u64 = (1 << 62) - 1;

/// Bytes that `value` takes on the wire (RFC 9000 §16, Table 4).
pub const fn varint_len(value: u64) -> usize {
    match value {
        0..=0x3f => 1,
        0x40..=0x3fff => 2,
        0x4000..=0x3fff_ffff => 4,
        _ => 8,
    }
}

/// Appends `value` in the fewest bytes; a value beyond [`MAX_VARINT`] is written as that.
pub fn put_varint(out: &mut Vec<u8>, value: u64) {
    let value = value.min(MAX_VARINT);
    match varint_len(value) {
        1 => out.push(value as u8),
        2 => out.extend((value as u16 | 0x4000).to_be_bytes()),
        4 => out.extend((value as u32 | 0x8000_0000).to_be_bytes()),
        _ => out.extend((value | 0xc000_0000_0000_0000).to_be_bytes()),
    }
}

/// Appends two values in a row.
#[inline]
pub fn put_two_varints(out: &mut Vec<u8>, values: [u64; 2]) {
    match values {
        [first @ 0..=0x3f, second @ 0..=0x3f] => out.extend([first as u8, second as u8]),
        values => values.iter().for_each(|value| put_varint(out, *value)),
    }
}

/// Reads from the front of a slice.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Reads `bytes` from their beginning.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Whether everything was read.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Bytes left.
    pub fn left(&self) -> usize {
        self.0.len()
    }

    /// The next `count` bytes; `what` names the field in the error.
    pub fn bytes(&mut self, count: usize, what: &'static str) -> Result<&'a [u8], WireError> {
        let (head, tail) = self.0.split_at_checked(count).ok_or(WireError::Short(what))?;
        self.0 = tail;
        Ok(head)
    }

    /// Everything that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }

    /// One byte.
    pub fn u8(&mut self, what: &'static str) -> Result<u8, WireError> {
        Ok(self.bytes(1, what)?[0])
    }

    /// Four bytes, big-endian.
    pub fn u32(&mut self, what: &'static str) -> Result<u32, WireError> {
        let bytes = self.array::<4>(what)?;
        Ok(u32::from_be_bytes(bytes))
    }

    /// A fixed number of bytes.
    pub fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], WireError> {
        let bytes = self.bytes(N, what)?;
        <[u8; N]>::try_from(bytes).map_err(|_| WireError::Short(what))
    }

    /// A variable-length integer (RFC 9000 §16, Appendix A.1).
    pub fn varint(&mut self, what: &'static str) -> Result<u64, WireError> {
        match self.0 {
            [first @ 0..=0x3f, tail @ ..] => {
                self.0 = tail;
                Ok(u64::from(*first))
            }
            [0x40..=0x7f, ..] => Ok(u64::from(u16::from_be_bytes(self.array(what)?) & 0x3fff)),
            [0x80..=0xbf, ..] => Ok(u64::from(self.u32(what)? & 0x3fff_ffff)),
            [_, ..] => Ok(u64::from_be_bytes(self.array(what)?) & MAX_VARINT),
            [] => Err(WireError::Short(what)),
        }
    }

    /// Two variable-length integers in a row; each has its name in the error.
    #[inline]
    pub fn two_varints(&mut self, what: [&'static str; 2]) -> Result<[u64; 2], WireError> {
        // Most are small: gaps and lengths of acknowledged ranges.
        if let [first @ 0..=0x3f, second @ 0..=0x3f, tail @ ..] = self.0 {
            self.0 = tail;
            return Ok([u64::from(*first), u64::from(*second)]);
        }
        Ok([self.varint(what[0])?, self.varint(what[1])?])
    }

    /// A byte count as a variable-length integer, and this many bytes.
    pub fn prefixed(&mut self, what: &'static str) -> Result<&'a [u8], WireError> {
        let count = self.varint(what)?;
        self.bytes(usize::try_from(count).map_err(|_| WireError::Short(what))?, what)
    }
}
