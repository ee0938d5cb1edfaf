//! When a receiver acknowledges: Linux quick-ACK mode and delayed ACKs (docs/model.md §1.3).

use units::{Duration, Instant};

/// Linux `TCP_DELACK_MIN`.
const DELAY: Duration = Duration::from_millis(40);
/// Linux `TCP_MAX_QUICKACKS`: every segment is acknowledged at first.
const QUICK_ACKS: u32 = 16;

/// The acknowledgement policy of one receiving stream.
#[derive(Clone, Debug)]
pub struct AckPolicy {
    quick: u32,
    unacked: u32,
    deadline: Option<Instant>,
    due: bool,
}

impl Default for AckPolicy {
    fn default() -> Self {
        Self { quick: QUICK_ACKS, unacked: 0, deadline: None, due: false }
    }
}

impl AckPolicy {
    /// A data packet came. `in_order`: it was the next expected one and no hole is left; anything
    /// else (a hole, a filled hole, a duplicate) is acknowledged at once (RFC 5681 §4.2).
    pub fn on_data(&mut self, now: Instant, in_order: bool) {
        self.unacked += 1;
        if !in_order || self.quick > 0 || self.unacked >= 2 {
            self.quick = self.quick.saturating_sub(1);
            self.due = true;
        } else if self.deadline.is_none() {
            self.deadline = Some(now + DELAY);
        }
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
        self.unacked = 0;
        self.deadline = None;
        self.due = false;
    }
}
