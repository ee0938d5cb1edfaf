use crate::ecn::Ecn;
use crate::wire::{AckFrame, EcnCounts};
use std::ops::RangeInclusive;
use units::{Duration, Instant, Ranges};

/// Ranges that are remembered and acknowledged; older ones are forgotten and what is below them
/// counts as received (RFC 9000 §13.2.3, §13.2.4).
const MAX_RANGES: usize = 64;
/// Acknowledgements with more ranges ask for one themselves.
const LONG: usize = 8;
/// An acknowledgement for every second packet (RFC 9000 §13.2.2).
const ACK_EVERY: u32 = 2;

/// Which packets came in a space, and whether that has to be said.
#[derive(Debug, Default)]
pub(crate) struct Received {
    /// The newest range; nearly every packet makes it longer by one.
    newest: Option<RangeInclusive<u64>>,
    /// Those before, never adjacent to it.
    older: Ranges,
    /// Lower numbers count as received.
    floor: u64,
    /// The peer knows what was received below: ranges that end there are not repeated.
    settled: u64,
    /// Acknowledgements up to this number may lack a packet that came later, and settle nothing.
    unsure: Option<u64>,
    /// Ranges of the last acknowledgement.
    said: usize,
    largest_at: Instant,
    ecn: EcnCounts,
    /// Ack-eliciting packets since the last acknowledgement.
    eliciting: u32,
    /// When one has to leave at the latest.
    pub ack_at: Option<Instant>,
    /// Memory for the next one.
    spare: Vec<RangeInclusive<u64>>,
}

impl Received {
    pub fn largest(&self) -> Option<u64> {
        self.newest.as_ref().map(|range| *range.end())
    }

    /// A second packet with a number must be dropped (RFC 9000 §12.3).
    pub fn is_duplicate(&self, number: u64) -> bool {
        let newest = self.newest.as_ref();
        newest.is_some_and(|range| range.contains(&number))
            || number < self.floor
            || (newest.is_some_and(|range| number < *range.start()) && self.older.contains(number))
    }

    /// A packet came; `delay` is how long its acknowledgement may wait.
    pub fn on_packet(&mut self, now: Instant, number: u64, eliciting: bool, delay: Duration) {
        let in_order = self.largest().is_none_or(|largest| number == largest + 1);
        if self.largest().is_none_or(|largest| number > largest) {
            self.largest_at = now;
        } else {
            self.unsure = self.largest();
            self.settled = self.settled.min(number);
        }
        self.insert(number);
        if !eliciting {
            return;
        }
        self.eliciting += 1;
        // RFC 9000 §13.2.1: at once for packets out of order, and for every second one.
        let at = if in_order && self.eliciting < ACK_EVERY { now + delay } else { now };
        self.ack_at = Some(self.ack_at.map_or(at, |earlier| earlier.min(at)));
    }

    fn insert(&mut self, number: u64) {
        match &mut self.newest {
            Some(newest) if number == newest.end() + 1 => *newest = *newest.start()..=number,
            Some(newest) if number > *newest.end() => {
                let before = std::mem::replace(newest, number..=number);
                self.older.insert(*before.start()..*before.end() + 1);
            }
            Some(newest) if number + 1 >= *newest.start() => self.join(number),
            Some(_) => _ = self.older.insert(number..number + 1),
            None => self.newest = Some(number..=number),
        }
        while self.older.len() >= MAX_RANGES {
            let Some(oldest) = self.older.pop_first() else { break };
            self.floor = oldest.end;
        }
    }

    /// The packet just before the newest range came, and may close the gap before that.
    fn join(&mut self, number: u64) {
        let Some(newest) = &mut self.newest else { return };
        let touches = self.older.last().is_some_and(|before| before.end == number);
        let before = if touches { self.older.pop_last() } else { None };
        let start = before.map_or(number, |before| before.start);
        *newest = start.min(*newest.start())..=*newest.end();
    }

    /// The mark of a packet (RFC 9000 §13.4.1).
    pub fn count(&mut self, mark: Option<Ecn>) {
        match mark {
            Some(Ecn::Ect0) => self.ecn.ect0 += 1,
            Some(Ecn::Ect1) => self.ecn.ect1 += 1,
            Some(Ecn::Ce) => self.ecn.ce += 1,
            None => {}
        }
    }

    /// The acknowledgement of everything remembered that the peer may not know of, and of the newest
    /// range; `None`: nothing came.
    pub fn ack(&mut self, now: Instant, exponent: u64) -> Option<AckFrame> {
        let newest = self.newest.clone()?;
        let mut ranges = std::mem::take(&mut self.spare);
        ranges.clear();
        ranges.push(newest);
        let older = self.older.iter().rev().take_while(|range| range.end > self.settled);
        ranges.extend(older.map(|range| range.start..=range.end - 1));
        self.said = ranges.len();
        let delay = (now - self.largest_at).as_micros() >> exponent;
        let ecn = (self.ecn != EcnCounts::default()).then_some(self.ecn);
        Some(AckFrame { delay, ranges, ecn })
    }

    /// What [`Received::ack`] gave is needed no more.
    pub fn reuse(&mut self, ack: AckFrame) {
        self.spare = ack.ranges;
    }

    /// An acknowledgement was written.
    pub fn on_ack_sent(&mut self) {
        self.eliciting = 0;
        self.ack_at = None;
    }

    /// Whether acknowledgements have become so long that the peer should say what it has of them.
    pub fn is_long(&self) -> bool {
        self.said > LONG
    }

    /// The peer has an acknowledgement up to `largest`: what that said need not be repeated
    /// (RFC 9000 §13.2.4).
    pub fn settle_through(&mut self, largest: u64) {
        if self.unsure.is_none_or(|unsure| largest > unsure) {
            self.settled = self.settled.max(largest + 1);
        }
    }
}
