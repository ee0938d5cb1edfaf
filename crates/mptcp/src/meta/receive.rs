//! Receiving side of the connection: reassembly by DSN, and the window that all subflows share.

use rangemap::RangeSet;
use units::{Duration, Instant};

/// `tcp_rmem[2]`: autotuning stops here (`algorithms.md` §2.2).
const AUTOTUNE_LIMIT_BYTES: u64 = 6_291_456;

/// The out-of-order queue of the connection, and its right edge.
#[derive(Debug)]
pub(crate) struct ReceiveBuffer {
    next: u64,
    ranges: RangeSet<u64>,
    waiting_bytes: u64,
    waiting_max_bytes: u64,
    duplicate_bytes: u64,
    limit_bytes: u64,
    window_end: u64,
    autotune: Option<Autotune>,
}

/// Dynamic right-sizing: once per round trip, twice what the application read (Linux DRS).
#[derive(Debug)]
struct Autotune {
    round_start: Instant,
    next_at_start: u64,
}

impl ReceiveBuffer {
    pub fn new(limit_bytes: u64, autotune: bool) -> Self {
        Self {
            next: 0,
            ranges: RangeSet::new(),
            waiting_bytes: 0,
            waiting_max_bytes: 0,
            duplicate_bytes: 0,
            limit_bytes,
            window_end: limit_bytes,
            autotune: autotune.then_some(Autotune { round_start: Instant::ZERO, next_at_start: 0 }),
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
        let fresh: u64 = self.ranges.gaps(&range).map(|gap| gap.end - gap.start).sum();
        self.ranges.insert(range);
        self.waiting_bytes += fresh;
        self.waiting_max_bytes = self.waiting_max_bytes.max(self.waiting_bytes);
        if let Some(first) = self.ranges.first().filter(|first| first.start == self.next).cloned() {
            self.waiting_bytes -= first.end - first.start;
            self.next = first.end;
            self.ranges.remove(first);
        }
        fresh
    }

    /// The right edge to advertise now: free buffer beyond what was read, never moved back
    /// (RFC 9293 §3.8.6). `subflow_bytes` wait behind holes of single subflows.
    pub fn advertise(&mut self, subflow_bytes: u64) -> u64 {
        let used = self.waiting_bytes + subflow_bytes;
        let edge = self.next + self.limit_bytes.saturating_sub(used);
        self.window_end = self.window_end.max(edge);
        self.window_end
    }

    /// The window could be at least twice what is left of the one advertised last, and that is at
    /// most half of the buffer.
    pub fn has_reopened(&self, subflow_bytes: u64) -> bool {
        let left = self.window_end - self.next;
        let free = self.limit_bytes.saturating_sub(self.waiting_bytes + subflow_bytes);
        2 * left <= self.limit_bytes && free > 0 && free >= 2 * left
    }

    /// Lets the buffer grow, if it may: called with the largest RTT of the subflows.
    pub fn autotune(&mut self, now: Instant, rtt: Duration, mss_bytes: u64) {
        let Some(state) = &mut self.autotune else { return };
        if rtt.is_zero() || now - state.round_start < rtt {
            return;
        }
        let copied = self.next - state.next_at_start;
        let wanted = (2 * copied + 16 * mss_bytes).min(AUTOTUNE_LIMIT_BYTES);
        self.limit_bytes = self.limit_bytes.max(wanted);
        *state = Autotune { round_start: now, next_at_start: self.next };
    }

    /// Next byte that the application waits for: everything before was delivered, once.
    pub fn next(&self) -> u64 {
        self.next
    }

    pub fn waiting_bytes(&self) -> u64 {
        self.waiting_bytes
    }

    pub fn waiting_max_bytes(&self) -> u64 {
        self.waiting_max_bytes
    }

    pub fn duplicate_bytes(&self) -> u64 {
        self.duplicate_bytes
    }
}
