//! Undoing a reduction that was not called for: Eifel detection by timestamps (RFC 3522, Linux
//! `tcp_packet_delayed`).

use units::Instant;

/// Remembers when the first retransmission of a loss episode left.
#[derive(Clone, Copy, Debug, Default)]
pub struct UndoPoint {
    first_retransmission: Option<Instant>,
}

impl UndoPoint {
    /// A packet was retransmitted.
    pub fn on_retransmitted(&mut self, now: Instant) {
        self.first_retransmission.get_or_insert(now);
    }

    /// An acknowledgement that echoes `echo` moved the stream forward: true when what it answers
    /// left before anything was retransmitted, so the episode was spurious.
    pub fn is_spurious(&self, echo: Instant) -> bool {
        self.first_retransmission.is_some_and(|first| echo < first)
    }
}
