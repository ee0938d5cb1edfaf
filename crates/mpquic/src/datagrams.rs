//! DATAGRAM frames that wait, to be sent or to be read (RFC 9221).

use crate::draft::Draft;
use crate::wire::Frame;
use std::collections::VecDeque;

/// DATAGRAMs that may wait to be sent.
const MOST_UNSENT: usize = 1024;
/// What those that wait to be read may take; more are dropped (RFC 9221 §5.3 allows it).
const MOST_RECEIVED_BYTES: usize = 1 << 20;
/// Memory that one takes beside its data, about.
const EACH_BYTES: usize = 64;

/// Both queues.
#[derive(Debug, Default)]
pub(crate) struct Datagrams {
    unsent: VecDeque<Vec<u8>>,
    unsent_bytes: u64,
    received: VecDeque<Vec<u8>>,
    received_bytes: usize,
}

impl Datagrams {
    /// Queues one to be sent; false: too many wait.
    pub fn queue(&mut self, data: &[u8]) -> bool {
        let has_room = self.unsent.len() < MOST_UNSENT;
        if has_room {
            self.unsent_bytes += data.len() as u64;
            self.unsent.push_back(data.to_vec());
        }
        has_room
    }

    pub fn has_unsent(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// Bytes that wait to be sent, which a scheduler counts as unsent.
    pub const fn unsent_bytes(&self) -> u64 {
        self.unsent_bytes
    }

    /// Writes those that fit: how many bytes of data.
    pub fn write(&mut self, draft: &mut Draft) -> u64 {
        let before = self.unsent_bytes;
        let mut dropped = 0;
        while let Some(data) = self.unsent.front() {
            if !draft.put(&Frame::Datagram { data }) {
                // One that fits no packet of its own would block the others.
                if draft.eliciting || !draft.frames.is_empty() {
                    break;
                }
                dropped += data.len() as u64;
            }
            self.unsent_bytes -= data.len() as u64;
            self.unsent.pop_front();
        }
        before - self.unsent_bytes - dropped
    }

    /// One came; false: there is no room for it.
    pub fn receive(&mut self, data: &[u8]) -> bool {
        let takes = data.len() + EACH_BYTES;
        let has_room = self.received_bytes + takes <= MOST_RECEIVED_BYTES;
        if has_room {
            self.received_bytes += takes;
            self.received.push_back(data.to_vec());
        }
        has_room
    }

    /// The next one to read.
    pub fn read(&mut self) -> Option<Vec<u8>> {
        let data = self.received.pop_front()?;
        self.received_bytes -= data.len() + EACH_BYTES;
        Some(data)
    }

    pub const fn held_bytes(&self) -> u64 {
        self.received_bytes as u64 + self.unsent_bytes
    }

    pub fn drop_unsent(&mut self) {
        self.unsent.clear();
        self.unsent_bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_queues_are_bounded_and_count_their_bytes() {
        let mut all = Datagrams::default();
        let queued = (0..2 * MOST_UNSENT).filter(|_| all.queue(&[0; 100])).count();
        assert_eq!((queued, all.unsent_bytes()), (MOST_UNSENT, 100 * MOST_UNSENT as u64));
        all.drop_unsent();
        assert_eq!((all.has_unsent(), all.held_bytes()), (false, 0));
        let taken = (0..20_000).filter(|_| all.receive(&[0; 36])).count();
        assert_eq!(taken, MOST_RECEIVED_BYTES / (36 + EACH_BYTES));
        assert_eq!((0..20_000).filter_map(|_| all.read()).count(), taken);
        assert_eq!(all.held_bytes(), 0);
    }
}
