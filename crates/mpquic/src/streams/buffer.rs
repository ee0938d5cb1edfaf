use std::collections::VecDeque;

/// Bytes of a block. What a buffer holds beyond its bytes is at most one block at either end: a peer
/// that acknowledges all but one byte of many streams does not keep more than that.
const BLOCK_BYTES: usize = 16 << 10;

/// Bytes that are appended at the end, copied from anywhere and dropped from the front. Memory goes
/// back when bytes do, unlike that of a `VecDeque<u8>`.
#[derive(Debug, Default)]
pub(super) struct SendBuffer {
    /// All but the last one are full; the first has lost `dropped` bytes.
    blocks: VecDeque<Vec<u8>>,
    dropped: usize,
    len: usize,
}

impl SendBuffer {
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn extend(&mut self, mut data: &[u8]) {
        self.len += data.len();
        if let Some(last) = self.blocks.back_mut() {
            let (fits, rest) = data.split_at(data.len().min(BLOCK_BYTES - last.len()));
            if last.len() + fits.len() > last.capacity() {
                // Twice as much as before, as vectors grow, but never beyond a block.
                let room = (2 * last.capacity()).clamp(last.len() + fits.len(), BLOCK_BYTES);
                last.reserve_exact(room - last.len());
            }
            last.extend_from_slice(fits);
            data = rest;
        }
        self.blocks.extend(data.chunks(BLOCK_BYTES).map(<[u8]>::to_vec));
    }

    /// Appends the bytes from `start` to `end` to `out`; both are cut to what there is.
    pub fn copy(&self, (start, end): (usize, usize), out: &mut Vec<u8>) {
        let end = end.min(self.len) + self.dropped;
        let mut at = start + self.dropped;
        while at < end {
            let (block, from) = (at / BLOCK_BYTES, at % BLOCK_BYTES);
            let to = (from + end - at).min(BLOCK_BYTES);
            out.extend_from_slice(&self.blocks[block][from..to]);
            at += to - from;
        }
    }

    /// Drops the first `bytes`, or all that there are.
    pub fn drop_front(&mut self, bytes: usize) {
        let bytes = bytes.min(self.len);
        self.len -= bytes;
        self.dropped += bytes;
        if self.len == 0 {
            *self = Self::default();
            return;
        }
        self.blocks.drain(..self.dropped / BLOCK_BYTES);
        self.dropped %= BLOCK_BYTES;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The same as a vector, and no more memory than said.
        #[test]
        fn it_is_a_queue_of_bytes(
            steps in prop::collection::vec((0..40_000_usize, 0..40_000_usize), 1..40),
        ) {
            let (mut buffer, mut model) = (SendBuffer::default(), Vec::<u8>::new());
            for (more, less) in steps {
                let fresh: Vec<u8> = (0..more).map(|n| (n * 7 + n / 251 + less) as u8).collect();
                buffer.extend(&fresh);
                model.extend(&fresh);
                buffer.drop_front(less);
                model.drain(..less.min(model.len()));
                prop_assert_eq!(buffer.len(), model.len());
                prop_assert_eq!(buffer.is_empty(), model.is_empty());
                let (from, to) = (less.min(model.len()), more.max(less).min(model.len()));
                let mut out = Vec::new();
                buffer.copy((from, to + 5 * usize::from(to == model.len())), &mut out);
                prop_assert_eq!(&out[..], &model[from..to]);
                let held: usize = buffer.blocks.iter().map(Vec::capacity).sum();
                prop_assert!(held <= model.len() + 2 * BLOCK_BYTES, "{held} for {}", model.len());
            }
        }
    }
}
