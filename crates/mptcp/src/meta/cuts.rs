//! Where upstream Linux ends a segment early: each of these ends is one short segment.

use std::ops::Range;

/// Data that Linux keeps together: what the header of a `mptcp_data_frag` leaves of a page fragment of
/// 32 KiB.
pub(crate) const FRAGMENT_BYTES: u64 = 32_728;
/// A burst (`MPTCP_SEND_BURST_SIZE`, 65,428 bytes) ends with the fragment in which it is used up, and
/// segments of two subflows never share a mapping.
const BURST_BYTES: u64 = 2 * FRAGMENT_BYTES;
/// Bytes that the application writes at once, as the source of live runs does.
const WRITE_BYTES: u64 = 1 << 18;

/// The cuts of one stream.
#[derive(Debug)]
pub(crate) struct Cuts {
    /// End of the write that the application has under way: what is behind it comes with the next.
    write_end: u64,
}

impl Default for Cuts {
    fn default() -> Self {
        Self { write_end: WRITE_BYTES }
    }
}

impl Cuts {
    /// The length of the segment that would have these bytes.
    pub fn cut(&self, bytes: Range<u64>, window_end: u64) -> u64 {
        let burst_end = (bytes.start / BURST_BYTES + 1) * BURST_BYTES;
        let ends = [burst_end, self.write_end, window_end];
        let ends = ends.into_iter().filter(|end| *end > bytes.start);
        ends.fold(bytes.end, u64::min) - bytes.start
    }

    /// Everything before `sent` left: the next write begins.
    pub fn on_sent(&mut self, sent: u64) {
        if sent >= self.write_end {
            self.on_held_up(sent + 1);
        }
    }

    /// No path has room, so that the application goes on writing up to here before anything leaves.
    pub fn on_held_up(&mut self, written: u64) {
        self.write_end = self.write_end.max(written.next_multiple_of(WRITE_BYTES));
    }
}
