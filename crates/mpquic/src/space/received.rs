use crate::endpoint::Ecn;
use crate::wire::{AckFrame, EcnCounts};
use rangemap::RangeInclusiveSet;
use std::ops::RangeInclusive;
use units::{Duration, Instant};

/// Ranges that are remembered and acknowledged; older ones are forgotten and what is below them
/// counts as received (RFC 9000 §13.2.3, §13.2.4).
const MAX_RANGES: usize = 64;
/// An acknowledgement for every second packet (RFC 9000 §13.2.2).
const ACK_EVERY: u32 = 2;

/// Which packets came in a space, and whether that has to be said.
#[derive(Debug, Default)]
pub(crate) struct Received {
    ranges: RangeInclusiveSet<u64>,
    /// Lower numbers count as received.
    floor: u64,
    largest_at: Instant,
    ecn: EcnCounts,
    /// Ack-eliciting packets since the last acknowledgement.
    eliciting: u32,
    /// When one has to leave at the latest.
    pub ack_at: Option<Instant>,
}

impl Received {
    pub fn largest(&self) -> Option<u64> {
        self.ranges.last().map(|range| *range.end())
    }

    /// A second packet with a number must be dropped (RFC 9000 §12.3).
    pub fn is_duplicate(&self, number: u64) -> bool {
        number < self.floor || self.ranges.contains(&number)
    }

    /// A packet came; `delay` is how long its acknowledgement may wait.
    pub fn on_packet(&mut self, now: Instant, number: u64, eliciting: bool, delay: Duration) {
        let in_order = self.largest().is_none_or(|largest| number == largest + 1);
        if self.largest().is_none_or(|largest| number > largest) {
            self.largest_at = now;
        }
        self.ranges.insert(number..=number);
        while self.ranges.len() > MAX_RANGES {
            let Some(oldest) = self.ranges.first().cloned() else { break };
            self.floor = oldest.end() + 1;
            self.ranges.remove(oldest);
        }
        if !eliciting {
            return;
        }
        self.eliciting += 1;
        // RFC 9000 §13.2.1: at once for packets out of order, and for every second one.
        let at = if in_order && self.eliciting < ACK_EVERY { now + delay } else { now };
        self.ack_at = Some(self.ack_at.map_or(at, |earlier| earlier.min(at)));
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

    /// The acknowledgement of everything remembered, if there is anything.
    pub fn ack(&self, now: Instant, exponent: u64) -> Option<AckFrame> {
        let ranges: Vec<RangeInclusive<u64>> = self.ranges.iter().rev().cloned().collect();
        if ranges.is_empty() {
            return None;
        }
        let delay = (now - self.largest_at).as_micros() as u64 >> exponent;
        let ecn = (self.ecn != EcnCounts::default()).then_some(self.ecn);
        Some(AckFrame { delay, ranges, ecn })
    }

    /// An acknowledgement was written.
    pub fn on_ack_sent(&mut self) {
        self.eliciting = 0;
        self.ack_at = None;
    }

    /// The peer has an acknowledgement up to `largest`: it need not be repeated (RFC 9000 §13.2.4).
    pub fn forget_through(&mut self, largest: u64) {
        let Some(newest) = self.largest() else { return };
        let end = largest.min(newest.saturating_sub(1));
        if self.ranges.len() > MAX_RANGES / 2 && end >= self.floor {
            self.ranges.remove(self.floor..=end);
            self.floor = end + 1;
        }
    }
}
