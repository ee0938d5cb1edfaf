//! Receiving side of the connection: reassembly by DSN, and the window that all subflows share.

use units::{Duration, Instant, Ranges};

/// The first window: half of `tcp_rmem[1]`, less what a window of 16 bits cannot say.
const FIRST_WINDOW_BYTES: u64 = 65_535;

/// The out-of-order queue of the connection, and its right edge.
#[derive(Debug)]
pub(crate) struct ReceiveBuffer {
    next: u64,
    /// The application has read everything before.
    read: u64,
    mss_bytes: u64,
    ranges: Ranges,
    waiting_bytes: u64,
    duplicate_bytes: u64,
    limit_bytes: u64,
    window_end: u64,
    autotune: Option<Autotune>,
}

/// Dynamic right-sizing (`tcp_rcvbuf_grow`, Linux 6.18): room for twice what was read in the best
/// round trip, more while that grows, behind whatever waits for a hole.
#[derive(Debug)]
struct Autotune {
    most_bytes: u64,
    round_start: Instant,
    read_at_start: u64,
    /// Most that was read in a round trip.
    space_bytes: u64,
    /// What the sender may have in flight for that.
    window_bytes: u64,
}

impl ReceiveBuffer {
    /// `limit_bytes`: the window that the buffer amounts to; with `autotune` it begins small and
    /// grows up to that. Segments have up to `mss_bytes` of payload.
    pub fn new(limit_bytes: u64, autotune: bool, mss_bytes: u64) -> Self {
        let autotune = autotune.then_some(Autotune {
            most_bytes: limit_bytes,
            round_start: Instant::ZERO,
            read_at_start: 0,
            space_bytes: 10 * mss_bytes, // TCP_INIT_CWND
            window_bytes: 20 * mss_bytes,
        });
        let limit_bytes = match &autotune {
            Some(tuned) => tuned.most_bytes.min(FIRST_WINDOW_BYTES),
            None => limit_bytes,
        };
        Self {
            next: 0,
            read: 0,
            mss_bytes,
            ranges: Ranges::default(),
            waiting_bytes: 0,
            duplicate_bytes: 0,
            limit_bytes,
            window_end: limit_bytes,
            autotune,
        }
    }

    /// Bytes `dsn..dsn + bytes` came in order on a subflow. Returns how many of them were new.
    pub fn insert(&mut self, dsn: u64, bytes: u64) -> u64 {
        let range = dsn.max(self.next)..(dsn + bytes).max(self.next);
        let fresh = if range.is_empty() {
            0
        } else if range.start == self.next && self.ranges.is_empty() {
            self.next = range.end;
            range.end - range.start
        } else {
            self.insert_beyond_hole(range)
        };
        self.duplicate_bytes += bytes - fresh;
        fresh
    }

    fn insert_beyond_hole(&mut self, range: std::ops::Range<u64>) -> u64 {
        let fresh = self.ranges.insert(range);
        self.waiting_bytes += fresh;
        if self.ranges.first().is_some_and(|first| first.start == self.next)
            && let Some(first) = self.ranges.pop_first()
        {
            self.waiting_bytes -= first.end - first.start;
            self.next = first.end;
        }
        self.make_room();
        fresh
    }

    /// The application reads at most this many bytes.
    pub fn consume(&mut self, bytes: u64) {
        self.read = self.read.saturating_add(bytes).min(self.next);
    }

    /// In order, and not read yet.
    pub fn unread_bytes(&self) -> u64 {
        self.next - self.read
    }

    /// Room beyond what is in the buffer. `subflow_bytes` wait behind holes of single subflows.
    fn free_bytes(&self, subflow_bytes: u64) -> u64 {
        let used = self.waiting_bytes + subflow_bytes + self.unread_bytes();
        self.limit_bytes.saturating_sub(used)
    }

    /// The right edge to advertise now: free buffer beyond what came in order, never moved back
    /// (RFC 9293 §3.8.6). Behind an application that does not read it moves by whole segments
    /// (RFC 9293 §3.8.6.2.2).
    pub fn advertise(&mut self, subflow_bytes: u64) -> u64 {
        let edge = self.next + self.free_bytes(subflow_bytes);
        let least_step = self.mss_bytes.min(self.limit_bytes / 2);
        if self.unread_bytes() == 0 || edge >= self.window_end + least_step {
            self.window_end = self.window_end.max(edge);
        }
        self.window_end
    }

    /// The window could be at least twice what is left of the one advertised last, and that is at
    /// most half of the buffer.
    pub fn has_reopened(&self, subflow_bytes: u64) -> bool {
        let left = self.window_end - self.next;
        let free = self.free_bytes(subflow_bytes);
        2 * left <= self.limit_bytes && free > 0 && free >= 2 * left
    }

    /// Lets the buffer grow, if it may: `rtt` is asked for the receiver's largest
    /// RTT of the subflows.
    pub fn autotune(&mut self, now: Instant, rtt: impl FnOnce() -> Duration) {
        let Some(state) = &mut self.autotune else { return };
        let rtt = rtt();
        if rtt.is_zero() || now - state.round_start < rtt {
            return;
        }
        let copied_bytes = self.read - state.read_at_start;
        (state.round_start, state.read_at_start) = (now, self.read);
        if copied_bytes > state.space_bytes {
            let twice = 2 * copied_bytes;
            let growth = twice * (copied_bytes - state.space_bytes) / state.space_bytes;
            state.window_bytes = twice + 2 * growth;
            state.space_bytes = copied_bytes;
            self.make_room();
        }
    }

    fn make_room(&mut self) {
        let Some(state) = &self.autotune else { return };
        let waiting_to = self.ranges.last().map_or(self.next, |range| range.end);
        let wanted = state.window_bytes + (waiting_to - self.next);
        self.limit_bytes = self.limit_bytes.max(wanted.min(state.most_bytes));
    }

    /// Next byte that is missing: everything before can be read, once.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// A byte is here, in order or not.
    pub fn has(&self, dsn: u64) -> bool {
        dsn < self.next || self.ranges.contains(dsn)
    }

    pub fn waiting_bytes(&self) -> u64 {
        self.waiting_bytes
    }

    pub fn duplicate_bytes(&self) -> u64 {
        self.duplicate_bytes
    }
}
