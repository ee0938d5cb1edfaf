use std::collections::BTreeMap;

/// Neighbouring pieces are joined up to this size: fewer, larger allocations.
const JOIN_BYTES: usize = 64 << 10;
/// What a piece costs beside its bytes (map node, vector): counted against the bound.
const PIECE_COST: usize = 96;

/// Bytes that came in any order, handed out in order and once.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    pieces: BTreeMap<u64, Vec<u8>>,
    read: u64,
    /// Everything before came.
    whole_to: u64,
    held: usize,
}

impl Assembler {
    /// Takes `data` at `offset`; what came before is dropped. How many bytes were new.
    pub fn insert(&mut self, mut offset: u64, mut data: &[u8]) -> u64 {
        let before = self.held;
        loop {
            let before = self.pieces.range(..=offset).next_back();
            let taken =
                before.map_or(0, |(start, piece)| start + piece.len() as u64).max(self.read);
            let skip = taken.saturating_sub(offset).min(data.len() as u64);
            offset += skip;
            data = &data[skip as usize..];
            if data.is_empty() {
                break;
            }
            let next = self.pieces.range(offset..).next().map(|(start, _)| *start);
            let room = next.map_or(u64::MAX, |next| next - offset).min(data.len() as u64);
            let (fresh, rest) = data.split_at(room as usize);
            self.put(offset, fresh);
            offset += room;
            data = rest;
        }
        self.advance();
        (self.held - before) as u64
    }

    /// Moves `whole_to` over the pieces that join it.
    fn advance(&mut self) {
        for (start, piece) in self.pieces.range(self.whole_to..) {
            if *start != self.whole_to {
                break;
            }
            self.whole_to = start + piece.len() as u64;
        }
    }

    /// Stores bytes that no piece has.
    fn put(&mut self, offset: u64, fresh: &[u8]) {
        if fresh.is_empty() {
            return;
        }
        self.held += fresh.len();
        if let Some((start, piece)) = self.pieces.range_mut(..offset).next_back()
            && start + piece.len() as u64 == offset
            && piece.len() + fresh.len() <= JOIN_BYTES
        {
            piece.extend(fresh);
            if self.whole_to == offset {
                self.whole_to += fresh.len() as u64;
            }
            return;
        }
        self.pieces.insert(offset, fresh.to_vec());
    }

    /// The next bytes in order, at most `max`.
    pub fn read(&mut self, max: usize) -> Option<Vec<u8>> {
        let mut first = self.pieces.first_entry().filter(|entry| *entry.key() == self.read)?;
        if max == 0 {
            return None;
        }
        let data = if first.get().len() > max {
            let rest = first.get_mut().split_off(max);
            let data = first.remove();
            self.pieces.insert(self.read + max as u64, rest);
            data
        } else {
            first.remove()
        };
        self.read += data.len() as u64;
        self.held -= data.len();
        Some(data)
    }

    /// First byte that was not handed out.
    pub fn read_offset(&self) -> u64 {
        self.read
    }

    /// Whether a byte can be read.
    pub fn is_readable(&self) -> bool {
        self.pieces.first_key_value().is_some_and(|(start, _)| *start == self.read)
    }

    /// What the bookkeeping of the pieces costs beside their bytes.
    pub fn overhead_bytes(&self) -> usize {
        self.pieces.len() * PIECE_COST
    }

    /// Bytes held.
    pub fn held_bytes(&self) -> usize {
        self.held
    }

    /// Bytes that wait for others before them.
    pub fn waiting_bytes(&self) -> usize {
        self.held - (self.whole_to - self.read) as usize
    }

    /// First byte that did not come.
    pub fn whole_to(&self) -> u64 {
        self.whole_to
    }

    /// Forgets everything held.
    pub fn clear(&mut self) {
        self.pieces.clear();
        self.held = 0;
        self.whole_to = self.read;
    }
}
