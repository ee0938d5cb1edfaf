use super::Level;
use crate::draft::Draft;
use crate::error::{Code, TransportError};
use crate::path::Space;
use crate::space::SentFrame;
use crate::streams::{Assembler, SendHalf};
use crate::wire::Frame;
use rustls::quic::Keys;
use units::Instant;

/// CRYPTO data that may wait out of order (RFC 9000 §7.5: at least 4096).
const CRYPTO_BUFFER_BYTES: u64 = 64 << 10;

/// CRYPTO data of a level, both ways, and for the first two their packets.
#[derive(Default)]
pub(crate) struct CryptoSpace {
    pub keys: Option<Keys>,
    pub space: Space,
    pub out: SendHalf,
    incoming: Assembler,
    /// A probe is due even without data.
    pub ping: bool,
}

impl CryptoSpace {
    /// CRYPTO data that waits, with its bookkeeping.
    pub fn held_bytes(&self) -> usize {
        self.incoming.held_bytes() + self.incoming.overhead_bytes() + self.out.held_bytes()
    }

    /// CRYPTO data came; `is_over`: TLS reads at the next level by now.
    pub fn insert(
        &mut self,
        offset: u64,
        data: &[u8],
        is_over: bool,
    ) -> Result<(), TransportError> {
        if is_over && offset + data.len() as u64 > self.incoming.read_offset() {
            // RFC 9001 §4.1.3
            return Err(TransportError::violation("CRYPTO data of a level that is over"));
        }
        if offset + data.len() as u64 > self.incoming.read_offset() + CRYPTO_BUFFER_BYTES {
            return Err(TransportError::new(Code::CryptoBufferExceeded, "CRYPTO data far ahead"));
        }
        self.incoming.insert(offset, data);
        if self.incoming.overhead_bytes() as u64 > CRYPTO_BUFFER_BYTES {
            return Err(TransportError::new(Code::CryptoBufferExceeded, "CRYPTO data in crumbs"));
        }
        Ok(())
    }

    /// TLS has read the last bytes of the level: none may wait for others before them (RFC 9001 §4.1.3).
    pub fn check_end(&self) -> Result<(), TransportError> {
        match self.incoming.waiting_bytes() {
            0 => Ok(()),
            _ => Err(TransportError::violation("CRYPTO data behind the end of a level")),
        }
    }

    /// The next CRYPTO data in order.
    pub fn read(&mut self) -> Option<Vec<u8>> {
        self.incoming.read(usize::MAX)
    }

    /// There is CRYPTO data to send.
    pub fn has_data(&self) -> bool {
        self.out.has_again() || self.out.has_new()
    }

    /// A packet of the level has to leave now.
    pub fn wants_packet(&self, now: Instant) -> bool {
        let ack_due = self.space.received.ack_at.is_some_and(|at| at <= now);
        self.keys.is_some() && (self.ping || ack_due || self.has_data())
    }

    /// Fills a packet of the handshake.
    pub fn fill(&mut self, now: Instant, draft: &mut Draft) {
        if let Some(ack) = self.space.received.ack(now, 0)
            && draft.put(&Frame::Ack { path: None, ack })
        {
            self.space.received.on_ack_sent();
        }
        self.fill_crypto(draft);
        if std::mem::take(&mut self.ping) && !draft.eliciting {
            draft.put(&Frame::Ping);
        }
    }

    /// Writes CRYPTO frames while there are some and they fit.
    pub fn fill_crypto(&mut self, draft: &mut Draft) {
        const HEAD: usize = 1 + 8 + 4; // type, offset, length
        while draft.room() > HEAD {
            let max = (draft.room() - HEAD) as u64;
            let again = self.out.next_again(max).map(|(range, ..)| range);
            let new = || Some(self.out.next_new(max, u64::MAX)?.0);
            let Some(range) = again.or_else(new) else { return };
            let mut data = Vec::new();
            self.out.copy(&range, &mut data);
            draft.put(&Frame::Crypto { offset: range.start, data: &data });
            draft.frames.push(SentFrame::Crypto(range));
        }
    }

    /// The frames of a packet were acknowledged, or are lost.
    pub fn settle(&mut self, frames: impl IntoIterator<Item = SentFrame>, acked: bool) {
        for frame in frames {
            let SentFrame::Crypto(range) = frame else { continue };
            if acked {
                self.out.on_acked(range, false);
            } else {
                self.out.on_lost(range, false, 0);
            }
        }
    }

    /// The probe timer fired: what is in flight is asked for again. What was retransmitted already is
    /// in a later packet: each is asked once.
    pub fn probe(&mut self, now: Instant) {
        self.space.last_eliciting_at = now;
        let fresh = self.space.sent.iter_mut().filter(|(_, packet)| !packet.requeued);
        let frames = fresh.flat_map(|(_, packet)| {
            packet.requeued = true;
            packet.frames.clone()
        });
        let frames: Vec<_> = frames.collect();
        self.settle(frames, false);
    }

    /// When an acknowledgement or the loss of a packet is due.
    pub fn timers(&self, may_answer: bool) -> impl Iterator<Item = Instant> {
        let ack_at = self.space.received.ack_at.filter(|_| may_answer);
        [self.space.loss_at, ack_at].into_iter().flatten()
    }

    /// Ends the level (RFC 9001 §4.9): how many bytes were in flight.
    pub fn drop_all(&mut self) -> u64 {
        let old = std::mem::take(self);
        old.space.sent.iter().map(|(_, packet)| packet.bytes).sum()
    }
}

impl CryptoSpace {
    /// How a packet of the level begins: its number and how many bytes that takes.
    pub fn next_number(&self) -> (u64, usize) {
        let number = self.space.sent.next();
        (number, crate::wire::number_len(number, self.space.largest_acked))
    }
}

/// The levels whose packets wait to leave.
pub(crate) fn wanting(
    spaces: &[CryptoSpace],
    now: Instant,
) -> impl Iterator<Item = Level> + use<'_> {
    let level = move |level: &Level| spaces[*level as usize].wants_packet(now);
    Level::LONG.into_iter().filter(level)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_far_ahead_and_data_in_crumbs_are_refused() {
        let mut space = CryptoSpace::default();
        let far = space.insert(CRYPTO_BUFFER_BYTES, &[0], false).unwrap_err();
        assert_eq!(far.code, Code::CryptoBufferExceeded);
        let crumbs = (0..CRYPTO_BUFFER_BYTES / 2).map(|n| space.insert(1 + 2 * n, &[0], false));
        let error = crumbs.into_iter().find_map(Result::err).unwrap();
        assert_eq!(error.code, Code::CryptoBufferExceeded);
        assert!(space.held_bytes() < 2 * CRYPTO_BUFFER_BYTES as usize);
    }

    #[test]
    fn what_is_lost_is_written_again_and_what_arrived_is_not() {
        let mut space = CryptoSpace::default();
        space.out.max_data = u64::MAX;
        space.out.write(&[5; 100]);
        let draft = |space: &mut CryptoSpace| {
            let mut draft = Draft::new(vec![0; 9], 0, (0, 1), 1200);
            space.fill_crypto(&mut draft);
            draft.frames
        };
        let first = draft(&mut space);
        assert_eq!((first.len(), draft(&mut space).len()), (1, 0));
        space.settle(first.clone(), false);
        assert!(space.has_data());
        assert_eq!(draft(&mut space).len(), 1);
        space.settle(first, true);
        assert!(!space.has_data());
    }
}
