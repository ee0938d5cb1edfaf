//! Where Linux ends a segment early: each of these ends is one short segment.

use std::collections::VecDeque;
use std::ops::Range;

/// Data that Linux keeps together: what the header of a `mptcp_data_frag` leaves of a page fragment of
/// 32 KiB.
pub(crate) const FRAGMENT_BYTES: u64 = 32_728;
/// A burst (`MPTCP_SEND_BURST_SIZE`, 65,428 bytes) ends with the fragment in which it is used up, and
/// segments of two subflows never share a mapping.
const BURST_BYTES: u64 = 2 * FRAGMENT_BYTES;
/// Most that the application writes at once, as the source of live runs does.
const WRITE_BYTES: u64 = 1 << 18;

/// The cuts of one stream.
#[derive(Debug)]
pub(crate) struct Cuts {
    /// At the ends of bursts and of the receive window, and of 256 KiB within what is offered at once.
    all: bool,
    /// What the application wanted to write and has not all left, in order.
    offers: VecDeque<Range<u64>>,
    /// The write under way: what is behind it comes with the next one.
    write: Range<u64>,
    /// No path had room for all of the write: what comes next joins it.
    is_held_up: bool,
    /// Another write began since this was asked last.
    begins: bool,
}

impl Cuts {
    /// Where upstream's Multipath TCP ends segments.
    pub fn upstream() -> Self {
        let (offers, write) = (VecDeque::new(), 0..0);
        Self { all: true, offers, write, is_held_up: false, begins: false }
    }

    /// Where what the application offered at once ends: without Nagle's algorithm it leaves at once.
    pub fn writes() -> Self {
        Self { all: false, ..Self::upstream() }
    }

    /// Those of upstream.
    pub fn are_all(&self) -> bool {
        self.all
    }

    /// The application wants to write these bytes, at most 256 KiB at once.
    pub fn on_offer(&mut self, bytes: Range<u64>) {
        if bytes.is_empty() {
            return;
        }
        if self.write.is_empty() {
            self.begin(bytes.start, &bytes);
        } else if self.is_held_up {
            self.write.end = self.write.end.max(self.write_end(&bytes, bytes.start + 1));
        }
        self.offers.push_back(bytes);
    }

    fn begin(&mut self, at: u64, offer: &Range<u64>) {
        self.write = at..self.write_end(offer, at + 1);
        self.is_held_up = false;
        self.begins = true;
    }

    /// The length of the segment that would have these bytes.
    pub fn cut(&self, bytes: Range<u64>, window_end: u64) -> u64 {
        let ends = [self.write.end, self.burst_end(bytes.start), window_end];
        let ends = ends.into_iter().take(if self.all { 3 } else { 1 });
        ends.filter(|end| *end > bytes.start).fold(bytes.end, u64::min) - bytes.start
    }

    /// End of the burst that a byte belongs to: they follow each other from the beginning of the write.
    fn burst_end(&self, at: u64) -> u64 {
        let first = (self.write.start + BURST_BYTES).next_multiple_of(FRAGMENT_BYTES);
        if at < first { first } else { first + ((at - first) / BURST_BYTES + 1) * BURST_BYTES }
    }

    /// Everything before `sent` left.
    pub fn on_sent(&mut self, sent: u64) {
        if sent < self.write.end {
            return;
        }
        while self.offers.front().is_some_and(|offer| offer.end <= sent) {
            self.offers.pop_front();
        }
        match self.offers.front().cloned() {
            Some(offer) => self.begin(sent, &offer),
            None => self.write = sent..sent,
        }
    }

    /// No path has room, so that the application goes on writing up to here before anything leaves.
    pub fn on_held_up(&mut self, written: u64) {
        self.is_held_up = true;
        if let Some(offer) = self.offers.iter().find(|offer| offer.end >= written) {
            self.write.end = self.write.end.max(self.write_end(offer, written));
        }
    }

    /// Another write began since the last call: with each of them the kernel starts to send anew.
    pub fn take_begins(&mut self) -> bool {
        std::mem::take(&mut self.begins)
    }

    /// Where the write ends that brings the byte before `end`.
    fn write_end(&self, offer: &Range<u64>, end: u64) -> u64 {
        if !self.all {
            return offer.end;
        }
        let writes = end.saturating_sub(offer.start).div_ceil(WRITE_BYTES);
        offer.start.saturating_add(writes.saturating_mul(WRITE_BYTES)).min(offer.end)
    }
}
