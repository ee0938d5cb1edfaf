//! When a receiver acknowledges: Linux quick-ACK mode and delayed ACKs (docs/model.md §1.3).

use units::{Duration, Instant};

/// Linux `TCP_DELACK_MIN`.
const DELAY: Duration = Duration::from_millis(40);
/// Linux `TCP_MAX_QUICKACKS`: every segment is acknowledged at first.
const QUICK_ACKS: u32 = 16;

/// Linux `TCP_MSS_DEFAULT`: what a segment is taken to hold before there was a longer one.
const FIRST_SEGMENT_BYTES: u64 = 536;

/// The acknowledgement policy of one receiving stream.
#[derive(Clone, Debug)]
pub struct AckPolicy {
    quick: u32,
    /// Longest segment so far (`icsk_ack.rcv_mss`).
    longest_bytes: u64,
    unacked_bytes: u64,
    /// A shorter one came since the last acknowledgement: what ends a write (`ICSK_ACK_PUSHED`).
    short: bool,
    last_data: Option<Instant>,
    deadline: Option<Instant>,
    due: bool,
}

impl Default for AckPolicy {
    fn default() -> Self {
        Self {
            quick: QUICK_ACKS,
            longest_bytes: FIRST_SEGMENT_BYTES,
            unacked_bytes: 0,
            short: false,
            last_data: None,
            deadline: None,
            due: false,
        }
    }
}

impl AckPolicy {
    /// A segment of `bytes` came. `in_order`: it was the next expected one and no hole is left;
    /// anything else (a hole, a filled hole, a duplicate) is acknowledged at once (RFC 5681 §4.2). After
    /// a silence of more than `rto`, the retransmission timeout of this end, each of the next segments
    /// is too (Linux `tcp_event_data_recv`).
    pub fn on_data(&mut self, now: Instant, bytes: u64, in_order: bool, rto: Duration) {
        if self.last_data.is_some_and(|last| now - last > rto) {
            self.quick = QUICK_ACKS;
        }
        self.last_data = Some(now);
        self.short |= bytes < self.longest_bytes;
        self.longest_bytes = self.longest_bytes.max(bytes);
        self.unacked_bytes += bytes;
        // More than one full segment, as __tcp_ack_snd_check counts them.
        if !in_order || self.quick > 0 || self.unacked_bytes > self.longest_bytes {
            self.quick = self.quick.saturating_sub(1);
            self.due = true;
        } else if self.deadline.is_none() {
            self.deadline = Some(now + DELAY);
        }
    }

    /// The application has read all that there is: a short segment waits no longer for its
    /// acknowledgement (Linux `tcp_cleanup_rbuf`, `mptcp_subflow_could_cleanup`).
    pub fn on_all_read(&mut self) {
        self.due |= self.short;
    }

    /// A segment below the usual length waits for its acknowledgement.
    pub fn is_short(&self) -> bool {
        self.short
    }

    /// Something else asks for an acknowledgement now (a window update, a handshake).
    pub fn request(&mut self) {
        self.due = true;
    }

    /// Whether an acknowledgement has to leave now.
    pub fn is_due(&self) -> bool {
        self.due
    }

    /// When the delayed acknowledgement leaves, if one is pending.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// The delayed-ACK timer, if it has expired, makes the acknowledgement due.
    pub fn on_timer(&mut self, now: Instant) {
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            self.due = true;
        }
    }

    /// An acknowledgement left.
    pub fn on_ack_sent(&mut self) {
        self.unacked_bytes = 0;
        self.short = false;
        self.deadline = None;
        self.due = false;
    }
}
