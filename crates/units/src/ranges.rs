//! A set of numbers as ranges in a queue: what a receiver has beyond a hole, what a sender was told of.

use std::collections::VecDeque;
use std::ops::Range;

/// Disjoint half-open ranges in ascending order; ranges that touch are one.
///
/// Streams grow at their end and are cut at their beginning, so both cost a constant. In the middle a
/// search costs log n and an insertion moves up to n ranges of 16 bytes: whoever takes ranges from a
/// peer bounds n.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges {
    ranges: VecDeque<Range<u64>>,
    /// How many numbers they hold.
    count: u64,
}

impl Ranges {
    /// No number at all.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The lowest range.
    pub fn first(&self) -> Option<&Range<u64>> {
        self.ranges.front()
    }

    /// The highest range.
    pub fn last(&self) -> Option<&Range<u64>> {
        self.ranges.back()
    }

    /// The range that holds a number.
    pub fn get(&self, number: u64) -> Option<&Range<u64>> {
        let highest = self.ranges.back()?;
        if number >= highest.start {
            return Some(highest).filter(|range| number < range.end);
        }
        let after = self.ranges.partition_point(|range| range.start <= number);
        let range = self.ranges.get(after.checked_sub(1)?)?;
        Some(range).filter(|range| number < range.end)
    }

    /// A number is in the set.
    pub fn contains(&self, number: u64) -> bool {
        self.get(number).is_some()
    }

    /// Adds a range; `fresh` is called with each part of it that was not in the set, in order. Returns
    /// how many numbers those are.
    pub fn insert_with(&mut self, range: Range<u64>, mut fresh: impl FnMut(Range<u64>)) -> u64 {
        let gap = match self.ranges.back_mut() {
            _ if range.is_empty() => return 0,
            Some(highest) if range.start < highest.start => {
                let count = self.merge(range, fresh);
                self.count += count;
                return count;
            }
            Some(highest) if range.end <= highest.end => return 0,
            Some(highest) if range.start <= highest.end => {
                let gap = highest.end..range.end;
                highest.end = range.end;
                gap
            }
            _ => {
                self.ranges.push_back(range.clone());
                range
            }
        };
        let count = gap.end - gap.start;
        self.count += count;
        fresh(gap);
        count
    }

    /// Adds a range; returns how many of its numbers are new.
    pub fn insert(&mut self, range: Range<u64>) -> u64 {
        self.insert_with(range, |_| {})
    }

    /// Adds a range that begins before the highest one.
    fn merge(&mut self, range: Range<u64>, mut fresh: impl FnMut(Range<u64>)) -> u64 {
        // All that touch it: from..to.
        let from = self.ranges.partition_point(|other| other.end < range.start);
        let mut whole = range.clone();
        let (mut to, mut count, mut at) = (from, 0, range.start);
        while let Some(other) = self.ranges.get(to).filter(|other| other.start <= range.end) {
            if at < other.start {
                count += other.start - at;
                fresh(at..other.start);
            }
            at = at.max(other.end);
            whole = whole.start.min(other.start)..whole.end.max(other.end);
            to += 1;
        }
        if at < range.end {
            count += range.end - at;
            fresh(at..range.end);
        }
        match self.ranges.get_mut(from).filter(|_| from < to) {
            Some(first) => {
                *first = whole;
                if from + 1 < to {
                    self.ranges.drain(from + 1..to);
                }
            }
            None => self.ranges.insert(from, whole),
        }
        count
    }

    /// Takes out all numbers below; returns how many those are.
    pub fn remove_before(&mut self, number: u64) -> u64 {
        let mut gone = 0;
        while let Some(lowest) = self.ranges.front_mut().filter(|lowest| lowest.start < number) {
            let end = lowest.end.min(number);
            gone += end - lowest.start;
            lowest.start = end;
            if lowest.is_empty() {
                self.ranges.pop_front();
            }
        }
        self.count -= gone;
        gone
    }

    /// Takes the lowest range out.
    pub fn pop_first(&mut self) -> Option<Range<u64>> {
        self.ranges.pop_front().inspect(|range| self.count -= range.end - range.start)
    }

    /// Takes the highest range out.
    pub fn pop_last(&mut self) -> Option<Range<u64>> {
        self.ranges.pop_back().inspect(|range| self.count -= range.end - range.start)
    }

    /// How many numbers it holds.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How many ranges those are.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// The ranges that end behind a number, the lowest first.
    pub fn behind(&self, number: u64) -> impl Iterator<Item = &Range<u64>> {
        let from = self.ranges.partition_point(|range| range.end <= number);
        self.ranges.range(from..)
    }

    /// The parts of a range that are not in the set, in order.
    pub fn gaps(&self, range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let Range { start: mut at, end } = range;
        let mut behind = self.behind(at);
        std::iter::from_fn(move || {
            while at < end {
                let next = behind.next().map_or(end..end, |next| next.clone());
                let gap = at..next.start.min(end);
                at = next.end.max(at);
                if !gap.is_empty() {
                    return Some(gap);
                }
            }
            None
        })
    }

    /// The ranges from the lowest on.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Range<u64>> + ExactSizeIterator {
        self.ranges.iter()
    }
}
