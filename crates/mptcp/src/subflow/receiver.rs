//! Receiving side of one subflow: reassembly by subflow sequence number, SACK, delayed ACKs.

use crate::segment::{Payload, Sacks};
use recovery::AckPolicy;
use std::collections::VecDeque;
use units::{Duration, Instant, Ranges};

/// Linux keeps this many candidate blocks (`tcp_sack_block selective_acks[4]`).
const RECENT_BLOCKS: usize = 4;

#[derive(Debug, Default)]
pub(crate) struct SubflowReceiver {
    next: u64,
    /// What came behind a hole, in order of sequence numbers.
    waiting: VecDeque<Payload>,
    waiting_bytes: u64,
    ranges: Ranges,
    /// A sequence number out of each recently changed block, the latest first.
    recent: VecDeque<u64>,
    duplicate: bool,
    echo: Instant,
    echo_pending: Option<Instant>,
    last_answered: Instant,
    rtt: Option<Duration>,
    pub acks: AckPolicy,
}

impl SubflowReceiver {
    /// Takes a data segment that left at `sent_at`; what is now in subflow order is handed to
    /// `deliver`. `rto` is the retransmission timeout of this end.
    pub fn on_payload(
        &mut self,
        now: Instant,
        payload: Payload,
        sent_at: Instant,
        rto: Duration,
        mut deliver: impl FnMut(Payload),
    ) {
        let seq = payload.seq;
        if seq < self.next || self.ranges.contains(seq) {
            self.duplicate = true;
            self.acks.on_data(now, payload.bytes, false, rto);
            return;
        }
        let had_hole = !self.waiting.is_empty();
        let in_order = seq == self.next && !had_hole;
        self.acks.on_data(now, payload.bytes, in_order, rto);
        if seq > self.next {
            self.wait(payload);
            return;
        }
        self.echo_pending.get_or_insert(sent_at);
        self.next += 1;
        deliver(payload);
        if had_hole {
            self.drain(deliver);
        }
    }

    /// Data came that answer what was sent at `echo`: an RTT sample, one for each thing answered
    /// (`tcp_rcv_rtt_measure_ts`).
    pub fn on_answer(&mut self, now: Instant, echo: Instant) {
        if echo <= self.last_answered {
            return;
        }
        self.last_answered = echo;
        let sample = now - echo;
        self.rtt = Some(self.rtt.map_or(sample, |rtt| (rtt * 7 + sample) / 8));
    }

    /// Smoothed RTT as the receiving side sees it, the wait in queues included.
    pub fn rtt(&self) -> Duration {
        self.rtt.unwrap_or_default()
    }

    fn wait(&mut self, payload: Payload) {
        let seq = payload.seq;
        self.waiting_bytes += payload.bytes;
        if self.waiting.back().is_none_or(|last| last.seq < seq) {
            self.waiting.push_back(payload);
        } else {
            let place = self.waiting.partition_point(|other| other.seq < seq);
            self.waiting.insert(place, payload);
        }
        self.ranges.insert(seq..seq + 1);
        let block = self.ranges.get(seq).cloned().unwrap_or(seq..seq + 1);
        self.recent.retain(|other| !block.contains(other));
        self.recent.push_front(seq);
        self.recent.truncate(RECENT_BLOCKS);
    }

    fn drain(&mut self, mut deliver: impl FnMut(Payload)) {
        while self.waiting.front().is_some_and(|first| first.seq == self.next)
            && let Some(payload) = self.waiting.pop_front()
        {
            self.waiting_bytes -= payload.bytes;
            self.next += 1;
            deliver(payload);
        }
        self.ranges.remove_before(self.next);
        self.recent.retain(|seq| *seq >= self.next);
    }

    /// Next expected subflow sequence number.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Payload that waits behind a hole of the subflow.
    pub fn waiting_bytes(&self) -> u64 {
        self.waiting_bytes
    }

    /// The data sequence numbers of what waits behind a hole of the subflow.
    pub fn waiting(&self) -> impl Iterator<Item = u64> {
        self.waiting.iter().map(|payload| payload.dsn)
    }

    /// The SACK blocks of the next acknowledgement, `limit` at most.
    pub fn sacks(&self, limit: usize) -> Sacks {
        let mut sacks = Sacks::default();
        for seq in self.recent.iter().take(limit) {
            if let Some(block) = self.ranges.get(*seq) {
                sacks.push((block.start, block.end));
            }
        }
        sacks
    }

    /// An acknowledgement leaves: the DSACK flag and timestamp that it carries.
    pub fn on_ack_sent(&mut self) -> (bool, Instant) {
        self.acks.on_ack_sent();
        self.echo = self.echo_pending.take().unwrap_or(self.echo);
        (std::mem::take(&mut self.duplicate), self.echo)
    }

    /// The timestamp to echo outside of an acknowledgement of data (handshake).
    pub fn set_echo(&mut self, sent_at: Instant) {
        self.echo = sent_at;
    }
}
