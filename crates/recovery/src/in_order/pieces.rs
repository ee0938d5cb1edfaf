use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use units::{Instant, PathId};

/// A range of the stream that came at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub start: u64,
    pub end: u64,
    pub at: Instant,
    pub path: PathId,
}

impl Piece {
    pub fn bytes(&self) -> u64 {
        self.end - self.start
    }
}

/// Disjoint pieces of a stream. A path brings most of its pieces in order, and these cost little.
#[derive(Clone, Debug, Default)]
pub(super) struct Pieces {
    /// What each path brought in order.
    lanes: Vec<VecDeque<Piece>>,
    /// What a path brought behind a later piece of its own, by its start.
    late: BTreeMap<u64, Piece>,
    count: usize,
    /// No piece ends behind this.
    end: u64,
}

impl Pieces {
    pub fn len(&self) -> usize {
        self.count
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds what is not there yet of a piece: how many bytes that was.
    pub fn insert(&mut self, piece: Piece) -> u64 {
        let place = piece.path.index();
        if self.lanes.len() <= place {
            self.lanes.resize_with(place + 1, VecDeque::new);
        }
        if piece.start >= self.end {
            self.end = piece.end;
            self.count += 1;
            self.lanes[place].push_back(piece);
            return piece.bytes();
        }
        self.end = self.end.max(piece.end);
        let (mut start, mut fresh) = (piece.start, 0);
        while start < piece.end {
            let known = self.first_behind(start);
            if known.start <= start {
                start = known.end;
                continue;
            }
            let part = Piece { start, end: known.start.min(piece.end), ..piece };
            let lane = &mut self.lanes[place];
            if lane.back().is_none_or(|last| last.end <= start) {
                lane.push_back(part);
            } else {
                self.late.insert(start, part);
            }
            self.count += 1;
            fresh += part.bytes();
            start = part.end;
        }
        fresh
    }

    /// The first piece that ends behind a byte; where there is none, one at the end of all streams.
    fn first_behind(&self, at: u64) -> Range<u64> {
        let mut found = u64::MAX..u64::MAX;
        for lane in &self.lanes {
            if let Some(piece) = first_of(lane, at).filter(|piece| piece.start < found.start) {
                found = piece.start..piece.end;
            }
        }
        if !self.late.is_empty() {
            let before = self.late.range(..=at).next_back().filter(|(_, piece)| piece.end > at);
            let first = before.or_else(|| self.late.range(at..).next());
            if let Some((_, piece)) = first.filter(|(start, _)| **start < found.start) {
                found = piece.start..piece.end;
            }
        }
        found
    }

    /// Takes a piece that lies before `end`.
    pub fn pop_before(&mut self, end: u64) -> Option<Piece> {
        for lane in &mut self.lanes {
            if lane.front().is_some_and(|first| first.end <= end) {
                self.count -= 1;
                return lane.pop_front();
            }
        }
        if self.late.is_empty() {
            return None;
        }
        let first = self.late.first_entry().filter(|first| first.get().end <= end)?;
        self.count -= 1;
        Some(first.remove())
    }

    /// Takes the pieces that `is_gone` names.
    pub fn take_those(&mut self, mut is_gone: impl FnMut(&Piece) -> bool) -> Vec<Piece> {
        let mut gone = Vec::new();
        let mut stays = |piece: &Piece| {
            let goes = is_gone(piece);
            gone.extend(goes.then_some(*piece));
            !goes
        };
        for lane in &mut self.lanes {
            lane.retain(&mut stays);
        }
        self.late.retain(|_, piece| stays(piece));
        self.count -= gone.len();
        gone
    }
}

/// The first piece of a lane that ends behind a byte.
fn first_of(lane: &VecDeque<Piece>, at: u64) -> Option<&Piece> {
    let (first, last) = (lane.front()?, lane.back()?);
    if last.end <= at {
        return None;
    }
    if first.end > at {
        return Some(first);
    }
    lane.get(lane.partition_point(|piece| piece.end <= at))
}
