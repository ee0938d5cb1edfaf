use std::collections::{BTreeMap, VecDeque};

/// Neighbouring pieces are joined up to this size: fewer, larger allocations.
const JOIN_BYTES: usize = 64 << 10;
/// What a piece costs beside its bytes (map node, vector): counted against the bound.
const PIECE_COST: usize = 96;

/// Bytes that came in any order, handed out in order and once.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    /// What can be read, in order.
    ready: VecDeque<Vec<u8>>,
    /// What waits for bytes before it, by offset.
    waiting: BTreeMap<u64, Vec<u8>>,
    waiting_bytes: usize,
    read: u64,
    /// Everything before came.
    whole_to: u64,
}

impl Assembler {
    /// Takes `data` at `offset`; what came before is dropped. How many bytes were new.
    pub fn insert(&mut self, mut offset: u64, mut data: &[u8]) -> u64 {
        if data.is_empty() {
            return 0;
        }
        // In order, or behind all that waits: nearly always.
        if offset == self.whole_to && offset + data.len() as u64 <= self.first_waiting() {
            self.append(data);
            return data.len() as u64;
        }
        if self.put_last(offset, data) {
            return data.len() as u64;
        }
        let before = self.held_bytes();
        loop {
            let known = self.known_from(offset);
            let skip = known.saturating_sub(offset).min(data.len() as u64);
            offset += skip;
            data = &data[skip as usize..];
            if data.is_empty() {
                break;
            }
            let next = self.waiting.range(offset..).next().map(|(start, _)| *start);
            let room = next.map_or(u64::MAX, |next| next - offset).min(data.len() as u64);
            let (fresh, rest) = data.split_at(room as usize);
            if offset == self.whole_to {
                self.append(fresh);
            } else {
                self.put(offset, fresh);
            }
            offset += room;
            data = rest;
        }
        (self.held_bytes() - before) as u64
    }

    /// Where the first piece that waits begins.
    fn first_waiting(&self) -> u64 {
        self.waiting.first_key_value().map_or(u64::MAX, |(start, _)| *start)
    }

    /// Stores bytes that are behind all that came; false if they are not.
    fn put_last(&mut self, offset: u64, fresh: &[u8]) -> bool {
        if let Some(mut last) = self.waiting.last_entry() {
            let end = last.key() + last.get().len() as u64;
            if offset < end {
                return false;
            }
            if offset == end && last.get().len() + fresh.len() <= JOIN_BYTES {
                self.waiting_bytes += fresh.len();
                last.get_mut().extend(fresh);
                return true;
            }
        }
        if offset <= self.whole_to {
            return false;
        }
        self.waiting_bytes += fresh.len();
        self.waiting.insert(offset, fresh.to_vec());
        true
    }

    /// The first byte at or after `offset` that did not come.
    fn known_from(&self, offset: u64) -> u64 {
        let before = self.waiting.range(..=offset).next_back();
        before.map_or(0, |(start, piece)| start + piece.len() as u64).max(self.whole_to)
    }

    /// Takes the next bytes in order, and those that waited for them.
    fn append(&mut self, fresh: &[u8]) {
        match self.ready.back_mut() {
            Some(last) if last.len() + fresh.len() <= JOIN_BYTES => last.extend(fresh),
            _ => self.ready.push_back(fresh.to_vec()),
        }
        self.whole_to += fresh.len() as u64;
        while let Some(first) = self.waiting.first_entry() {
            if *first.key() != self.whole_to {
                break;
            }
            let piece = first.remove();
            self.waiting_bytes -= piece.len();
            self.whole_to += piece.len() as u64;
            self.ready.push_back(piece);
        }
    }

    /// Stores bytes that no piece has and that others must come before.
    fn put(&mut self, offset: u64, fresh: &[u8]) {
        self.waiting_bytes += fresh.len();
        if let Some((start, piece)) = self.waiting.range_mut(..offset).next_back()
            && start + piece.len() as u64 == offset
            && piece.len() + fresh.len() <= JOIN_BYTES
        {
            piece.extend(fresh);
            return;
        }
        self.waiting.insert(offset, fresh.to_vec());
    }

    /// The next bytes in order, at most `max`.
    pub fn read(&mut self, max: usize) -> Option<Vec<u8>> {
        if max == 0 {
            return None;
        }
        let mut data = self.ready.pop_front()?;
        if data.len() > max {
            self.ready.push_front(data.split_off(max));
        }
        self.read += data.len() as u64;
        Some(data)
    }

    /// First byte that was not handed out.
    pub fn read_offset(&self) -> u64 {
        self.read
    }

    /// First byte that did not come.
    pub fn whole_to(&self) -> u64 {
        self.whole_to
    }

    /// Whether a byte can be read.
    pub fn is_readable(&self) -> bool {
        !self.ready.is_empty()
    }

    /// What the bookkeeping of the pieces costs beside their bytes.
    pub fn overhead_bytes(&self) -> usize {
        (self.ready.len() + self.waiting.len()) * PIECE_COST
    }

    /// Bytes held.
    pub fn held_bytes(&self) -> usize {
        (self.whole_to - self.read) as usize + self.waiting_bytes
    }

    /// Bytes that wait for others before them.
    pub fn waiting_bytes(&self) -> usize {
        self.waiting_bytes
    }

    /// Forgets everything held.
    pub fn clear(&mut self) {
        *self = Self { read: self.read, whole_to: self.read, ..Self::default() };
    }
}
