//! What leaves on a path.

use super::{Path, Space};
use crate::draft::Draft;
use crate::space::Again;
use units::Instant;

impl Path {
    /// A packet of the handshake was sealed; `space` is its level's.
    pub fn on_handshake_sent(&mut self, now: Instant, space: &mut Space, draft: &mut Draft) {
        let bytes = draft.len();
        self.left_bytes += bytes;
        if draft.counts() {
            let snapshot = self.sampler.on_sent(now, bytes, self.in_flight);
            draft.note_sent(now, space, snapshot);
            self.in_flight += bytes;
        } else {
            space.sent.push_settled();
        }
    }

    /// A 1-RTT packet was sealed.
    pub fn on_sent(&mut self, now: Instant, draft: &mut Draft) {
        let bytes = draft.len();
        let prior = self.in_flight;
        self.left_bytes += bytes;
        self.stats.sent_bytes += bytes;
        if draft.counts() {
            let snapshot = self.sampler.on_sent(now, bytes, prior);
            draft.note_sent(now, &mut self.space, snapshot);
            self.in_flight += bytes;
            self.stats.sent_packets += 1;
            match draft.again {
                Some(Again::Retransmission) => self.stats.retransmitted_packets += 1,
                Some(Again::Reinjection) => self.stats.reinjected_packets += 1,
                Some(Again::Redundancy) => self.stats.redundant_packets += 1,
                None => {}
            }
            self.cc.on_sent(now, bytes, self.in_flight, prior == 0);
            self.on_paced(now, bytes);
        } else {
            self.space.sent.push_settled();
        }
        if draft.eliciting {
            self.silent_since.get_or_insert(now);
        }
    }
}
