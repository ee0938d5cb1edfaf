//! A packet that is being written.

use crate::path::Space;
use crate::space::{Again, SentFrames, SentPacket};
use crate::wire::Frame;
use recovery::SendSnapshot;
use units::Instant;

/// Bytes of an AEAD's tag (RFC 9001 §5.3: all suites of TLS 1.3).
pub(crate) const TAG_BYTES: usize = 16;

/// A packet being written at the end of a datagram.
#[derive(Debug)]
pub(crate) struct Draft {
    pub out: Vec<u8>,
    start: usize,
    number_at: usize,
    number_len: usize,
    number: u64,
    limit: usize,
    pub frames: SentFrames,
    pub eliciting: bool,
    /// Counts as in flight though it elicits nothing (padding).
    pub padded: bool,
    /// It has stream data that was sent before.
    pub again: Option<Again>,
}

impl Draft {
    /// Behind a header that begins at `start` of `out` and ends before its packet number; the whole
    /// datagram takes at most `limit` bytes.
    pub fn new(mut out: Vec<u8>, start: usize, number: (u64, usize), limit: usize) -> Self {
        let (number, number_len) = number;
        let number_at = out.len();
        out.extend(&number.to_be_bytes()[8 - number_len..]);
        Self {
            out,
            start,
            number_at,
            number_len,
            number,
            limit,
            frames: SentFrames::new(),
            eliciting: false,
            padded: false,
            again: None,
        }
    }

    /// Bytes that fit yet.
    pub fn room(&self) -> usize {
        self.limit.saturating_sub(self.out.len() + TAG_BYTES)
    }

    pub fn is_empty(&self) -> bool {
        self.out.len() == self.number_at + self.number_len
    }

    pub fn number(&self) -> u64 {
        self.number
    }

    /// The frames so far.
    pub fn payload(&self) -> &[u8] {
        &self.out[self.number_at + self.number_len..]
    }

    /// Where the packet begins, where its number does, and how long that is.
    pub fn place(&self) -> (usize, usize, usize) {
        (self.start, self.number_at, self.number_len)
    }

    /// Bytes of the packet so far; once it is sealed, of the whole.
    pub fn len(&self) -> u64 {
        (self.out.len() - self.start) as u64
    }

    /// Bytes of the packet once it is sealed.
    pub fn sealed_len(&self) -> usize {
        self.out.len() - self.start + TAG_BYTES
    }

    /// Writes `frame` if it fits.
    pub fn put(&mut self, frame: &Frame<'_>) -> bool {
        let before = self.out.len();
        frame.encode(&mut self.out);
        if self.out.len() + TAG_BYTES > self.limit {
            self.out.truncate(before);
            return false;
        }
        self.eliciting |= frame.is_ack_eliciting();
        true
    }

    /// Fills up with PADDING until the datagram has `len` bytes.
    pub fn pad_to(&mut self, len: usize) {
        let len = len.min(self.limit).saturating_sub(TAG_BYTES);
        if self.out.len() < len {
            self.out.resize(len, 0);
            self.padded = true;
        }
    }

    /// Four bytes of packet number and payload at least, for the sample of header protection
    /// (RFC 9001 §5.4.2).
    pub fn pad_for_sample(&mut self) {
        let least = self.number_at + 4;
        if self.out.len() < least {
            self.out.resize(least, 0);
        }
    }

    /// Writes the field Length of a long header (RFC 9000 §17.2) in two bytes.
    pub fn set_length(&mut self) {
        let len = self.out.len() - self.number_at + TAG_BYTES;
        let len = (0x4000 | len as u16).to_be_bytes();
        self.out[self.number_at - 2..self.number_at].copy_from_slice(&len);
    }

    /// Whether it counts as in flight (RFC 9002 §2).
    pub fn counts(&self) -> bool {
        self.eliciting || self.padded
    }

    /// Notes the sealed packet as in flight in its space.
    pub fn note_sent(&mut self, now: Instant, space: &mut Space, snapshot: SendSnapshot) {
        space.sent.push(SentPacket {
            sent_at: now,
            bytes: self.len(),
            order: 0, // given when it is put in its place
            place: 0,
            eliciting: self.eliciting,
            frames: std::mem::take(&mut self.frames),
            snapshot,
            given_up: false,
            copied: false,
            requeued: false,
        });
        if self.eliciting {
            space.last_eliciting_at = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(limit: usize) -> Draft {
        Draft::new(vec![0x40; 9], 0, (7, 2), limit)
    }

    #[test]
    fn what_does_not_fit_leaves_no_trace() {
        let mut draft = draft(9 + 2 + TAG_BYTES + 3);
        assert!(draft.is_empty() && draft.room() == 3);
        assert!(draft.put(&Frame::Ping) && draft.eliciting);
        let before = draft.out.clone();
        assert!(!draft.put(&Frame::PathChallenge { data: [1; 8] }));
        assert_eq!((&draft.out, draft.payload()), (&before, &[1][..]));
        assert_eq!(draft.sealed_len(), 9 + 2 + 1 + TAG_BYTES);
    }

    #[test]
    fn padding_counts_as_in_flight_and_elicits_nothing() {
        let mut draft = draft(1200);
        assert!(!draft.counts());
        draft.pad_to(1200);
        assert!(draft.counts() && !draft.eliciting && draft.sealed_len() == 1200);
        draft.pad_to(100);
        assert_eq!(draft.sealed_len(), 1200);
    }
}
