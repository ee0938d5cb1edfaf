use std::collections::VecDeque;

/// Bytes of a block. What a buffer holds beyond its bytes is at most one block at either end: a peer
/// that acknowledges all but one byte of many streams does not keep more than that.
const BLOCK_BYTES: usize = 16 << 10;

/// Up to [`BLOCK_BYTES`].
#[derive(Debug)]
enum Block {
    Bytes(Vec<u8>),
    /// Zeros, which take no memory.
    Zeros(usize),
}

impl Block {
    fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Zeros(len) => *len,
        }
    }

    /// Its bytes, with room for some more; zeros take memory from now on.
    fn bytes_for(&mut self, more: usize) -> &mut Vec<u8> {
        if let Self::Zeros(len) = *self {
            *self = Self::Bytes(vec![0; len]);
        }
        let Self::Bytes(bytes) = self else { unreachable!("made bytes above") };
        if bytes.len() + more > bytes.capacity() {
            // Twice as much as before, as vectors grow, but never beyond a block.
            let room = (2 * bytes.capacity()).clamp(bytes.len() + more, BLOCK_BYTES);
            bytes.reserve_exact(room - bytes.len());
        }
        bytes
    }
}

/// Bytes that are appended at the end, copied from anywhere and dropped from the front. Memory goes
/// back when bytes do, unlike that of a `VecDeque<u8>`.
#[derive(Debug, Default)]
pub(super) struct SendBuffer {
    /// All but the last one are full; the first has lost `dropped` bytes.
    blocks: VecDeque<Block>,
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
        if let Some(room) = self.room_in_last().filter(|_| !data.is_empty())
            && let Some(last) = self.blocks.back_mut()
        {
            let (fits, rest) = data.split_at(data.len().min(room));
            last.bytes_for(fits.len()).extend_from_slice(fits);
            data = rest;
        }
        self.blocks.extend(data.chunks(BLOCK_BYTES).map(|block| Block::Bytes(block.to_vec())));
    }

    /// Appends this many zeros.
    pub fn extend_zeros(&mut self, mut count: usize) {
        self.len += count;
        if let Some(room) = self.room_in_last()
            && let Some(last) = self.blocks.back_mut()
        {
            let fits = count.min(room);
            match last {
                Block::Zeros(len) => *len += fits,
                Block::Bytes(_) => {
                    let bytes = last.bytes_for(fits);
                    bytes.resize(bytes.len() + fits, 0);
                }
            }
            count -= fits;
        }
        while count > 0 {
            let next = count.min(BLOCK_BYTES);
            self.blocks.push_back(Block::Zeros(next));
            count -= next;
        }
    }

    /// What the last block takes yet, if it is not full.
    fn room_in_last(&self) -> Option<usize> {
        self.blocks.back().map(|last| BLOCK_BYTES - last.len()).filter(|room| *room > 0)
    }

    /// Appends the bytes from `start` to `end` to `out`; both are cut to what there is.
    pub fn copy(&self, (start, end): (usize, usize), out: &mut Vec<u8>) {
        let end = end.min(self.len) + self.dropped;
        let mut at = start + self.dropped;
        while at < end {
            let (block, from) = (at / BLOCK_BYTES, at % BLOCK_BYTES);
            let to = (from + end - at).min(BLOCK_BYTES);
            match &self.blocks[block] {
                Block::Bytes(bytes) => out.extend_from_slice(&bytes[from..to]),
                Block::Zeros(_) => out.resize(out.len() + to - from, 0),
            }
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

    fn held_by(block: &Block) -> usize {
        match block {
            Block::Bytes(bytes) => bytes.capacity(),
            Block::Zeros(_) => 0,
        }
    }

    proptest! {
        /// The same as a vector, and no more memory than said.
        #[test]
        fn it_is_a_queue_of_bytes(
            steps in prop::collection::vec(
                (0..40_000_usize, 0..40_000_usize, any::<bool>()), 1..40,
            ),
        ) {
            let (mut buffer, mut model) = (SendBuffer::default(), Vec::<u8>::new());
            for (more, less, is_zeros) in steps {
                let fresh: Vec<u8> = (0..more).map(|n| (n * 7 + n / 251 + less) as u8).collect();
                if is_zeros {
                    buffer.extend_zeros(more);
                    model.resize(model.len() + more, 0);
                } else {
                    buffer.extend(&fresh);
                    model.extend(&fresh);
                }
                buffer.drop_front(less);
                model.drain(..less.min(model.len()));
                prop_assert_eq!(buffer.len(), model.len());
                prop_assert_eq!(buffer.is_empty(), model.is_empty());
                let (from, to) = (less.min(model.len()), more.max(less).min(model.len()));
                let mut out = Vec::new();
                buffer.copy((from, to + 5 * usize::from(to == model.len())), &mut out);
                prop_assert_eq!(&out[..], &model[from..to]);
                let held: usize = buffer.blocks.iter().map(held_by).sum();
                prop_assert!(held <= model.len() + 2 * BLOCK_BYTES, "{held} for {}", model.len());
            }
        }
    }
}
