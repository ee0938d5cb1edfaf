//! Which path carries the next packet of data.

use super::Endpoint;
use crate::draft::Draft;
use crate::handshake::Level;
use crate::scheduling::{Copy, OVERHEAD_BYTES, Supply, Unsent};
use crate::space::{Again, SentFrame, chunks_of};
use crate::streams::Chunk;
use crate::wire::Frame;
use scheduler::{Order, PathSet};
use units::{Instant, PathId};

impl Endpoint {
    pub(super) fn data_datagram(&mut self, now: Instant) -> Option<(PathId, Vec<u8>)> {
        self.scheduling.paced_until = Instant::FAR_FUTURE;
        while let Some(copy) = self.scheduling.copies.pop_front() {
            if let Some(out) = self.copy_datagram(now, &copy) {
                return Some(out);
            }
        }
        if !self.has_data() && !self.has_control() && self.streams.buffered == 0 {
            self.note_limits(now); // not even copies to make
            return None;
        }
        self.refresh_views(now);
        let out = self.queued_datagram(now);
        let out = out.or_else(|| self.rescue_datagram(now));
        let out = out.or_else(|| self.scheduled_datagram(now));
        let out =
            out.or_else(|| self.queued_datagram(now)).or_else(|| self.control_only_datagram(now));
        let out = out.or_else(|| self.tail_datagram(now));
        if out.is_none() {
            self.note_limits(now);
        }
        self.note_stall();
        out
    }

    pub(super) fn has_data(&self) -> bool {
        self.streams.has_again()
            || self.streams.has_new()
            || self.datagrams.has_unsent()
            || self.handshake.space(Level::OneRtt).has_data()
    }

    fn has_control(&self) -> bool {
        self.control.has_any(&self.streams)
    }

    fn refresh_views(&mut self, now: Instant) {
        let packet_bytes = self.packet_bytes();
        self.scheduling.refresh(now, packet_bytes, &mut self.paths, &self.streams);
    }

    /// What the scheduler calls the path of acknowledgements.
    pub(super) fn scheduled_ack_path(&mut self, now: Instant) -> Option<u32> {
        self.refresh_views(now);
        let unsent = Unsent { segment_bytes: 0, all_bytes: self.unsent_bytes() };
        let net = self.scheduling.ack_path(now, &self.streams, unsent)?;
        self.paths.carrier_over(net)
    }

    /// Asks the scheduler and does what it says, until that is a packet or a wait.
    fn scheduled_datagram(&mut self, now: Instant) -> Option<(PathId, Vec<u8>)> {
        loop {
            let has_data = self.has_data();
            if !has_data && !self.scheduling.dispatch.capabilities().repeats {
                return None;
            }
            if !self.scheduling.dispatch.may_assign(&self.scheduling.views) {
                return None;
            }
            let out = match self.ask(now, has_data) {
                Order::Wait => return None,
                Order::Send(targets) => return self.send_on(now, targets),
                Order::Queue(targets) if self.enqueue(now, targets) => {
                    self.refresh_views(now);
                    continue; // what waits in a queue does not hold the rest up
                }
                Order::Queue(_) => None,
                Order::Repeat(path) => self.repeat_datagram(now, path),
                Order::Ahead { path, gap } => self.ahead_datagram(now, path, gap),
            };
            return out.or_else(|| self.fallen_back_datagram(now, has_data));
        }
    }

    fn ask(&mut self, now: Instant, has_data: bool) -> Order {
        let unsent = self.unsent(has_data);
        let (decision, order) = self.scheduling.ask(now, &self.streams, unsent);
        let facts = (unsent.segment_bytes, self.streams.unsent(), self.streams.has_again());
        self.trace.decision(now, (decision, &self.scheduling.views), facts);
        order
    }

    /// The order could not be carried out: a packet only if nothing would end the wait.
    fn fallen_back_datagram(&mut self, now: Instant, has_data: bool) -> Option<(PathId, Vec<u8>)> {
        let unsent = self.unsent(has_data);
        let targets = self.scheduling.fall_back(now, &self.streams, unsent)?;
        self.send_on(now, targets)
    }

    pub(super) fn unsent(&self, has_data: bool) -> Unsent {
        let segment_bytes = self.segment_bytes(has_data);
        Unsent { segment_bytes, all_bytes: self.unsent_bytes() }
    }

    /// What waits to be sent for the first time, in streams and in DATAGRAMs.
    fn unsent_bytes(&self) -> u64 {
        self.streams.unsent() + self.datagrams.unsent_bytes()
    }

    /// What a scheduler is asked about: a packet's worth of what is unsent.
    fn segment_bytes(&self, has_data: bool) -> u64 {
        let full = self.packet_bytes() - OVERHEAD_BYTES;
        match has_data {
            false => 0,
            true if self.streams.has_again() => full,
            true => self.unsent_bytes().clamp(1, full),
        }
    }

    /// One packet on the first target; the others carry copies of its data.
    fn send_on(&mut self, now: Instant, targets: PathSet) -> Option<(PathId, Vec<u8>)> {
        let first = targets.iter().find(|net| self.paths.carrier_over(*net).is_some())?;
        let id = self.paths.carrier_over(first)?;
        let mut draft = self.begin_datagram(id)?;
        self.put_acks(now, &mut draft, id);
        self.control.write(&mut draft, &mut self.streams);
        self.handshake.space_mut(Level::OneRtt).fill_crypto(&mut draft);
        let in_datagrams = self.datagrams.write(&mut draft);
        let in_streams = self.put_chunks(&mut draft, id);
        if draft.is_empty() {
            return None;
        }
        for net in targets.iter() {
            let repeated = net != first; // DATAGRAMs are not
            let bytes = in_streams + if repeated { 0 } else { in_datagrams };
            self.scheduling.dispatch.on_sent(now, net, bytes);
        }
        self.scheduling.turn.take(first);
        self.scheduling.tail_budget.earn(in_streams);
        if in_streams > 0 {
            self.copy_to(&draft, targets.without(first));
        }
        self.finish_one_rtt(now, draft, id)
    }

    /// What a packet brings of the streams goes on further paths, too.
    fn copy_to(&mut self, draft: &Draft, others: PathSet) {
        for path in others.iter().filter_map(|net| self.paths.carrier_over(net)).collect::<Vec<_>>()
        {
            let chunks = chunks_of(&draft.frames).cloned().collect();
            self.scheduling.copies.push_back(Copy { path, chunks, why: Some(Again::Redundancy) });
        }
    }

    /// Writes what the streams have to send, lost data first: how many bytes.
    pub(super) fn put_chunks(&mut self, draft: &mut Draft, id: u32) -> u64 {
        let mut bytes = 0;
        while draft.room() > 0
            && let Some((chunk, by)) = self.streams.next_chunk(draft.room())
        {
            let why =
                by.map(|by| if by == id { Again::Retransmission } else { Again::Reinjection });
            bytes += chunk.range.end - chunk.range.start;
            self.put_chunk(draft, &chunk, (id, why));
        }
        bytes
    }

    pub(super) fn put_chunk(
        &mut self,
        draft: &mut Draft,
        chunk: &Chunk,
        (id, again): (u32, Option<Again>),
    ) {
        let Some(half) = self.streams.send.get(&chunk.id) else { return };
        let len = chunk.range.end - chunk.range.start;
        Frame::begin_stream(&mut draft.out, chunk.id, chunk.range.start, len as usize, chunk.fin);
        half.copy(&chunk.range, &mut draft.out);
        draft.eliciting = true;
        draft.frames.push(SentFrame::Stream(chunk.clone()));
        draft.again = again.or(draft.again);
        if let Some(path) = self.paths.get_mut(id) {
            path.walk = path.walk.max((chunk.id, chunk.range.end));
            path.stats.retransmitted_bytes += if again.is_some() { len } else { 0 };
            let elsewhere = again.is_some_and(|why| why != Again::Retransmission);
            path.stats.reinjected_bytes += if elsewhere { len } else { 0 };
        }
    }

    /// Control frames do not wait for a scheduler.
    fn control_only_datagram(&mut self, now: Instant) -> Option<(PathId, Vec<u8>)> {
        if !self.has_control() {
            return None;
        }
        let id = self.paths.carrier_over(self.scheduling.fastest(now)?)?;
        let mut draft = self.begin_datagram(id)?;
        self.put_acks(now, &mut draft, id);
        self.control.write(&mut draft, &mut self.streams);
        if draft.is_empty() {
            return None;
        }
        self.finish_one_rtt(now, draft, id)
    }

    /// Counts once each time that the peer's windows stop what a path could take.
    fn note_stall(&mut self) {
        let stalls = self.scheduling.note_stall(self.streams.is_stalled());
        self.trace.totals.window_stalls += u64::from(stalls);
    }

    fn note_limits(&mut self, now: Instant) {
        let packet_bytes = self.packet_bytes();
        let supply = match () {
            () if self.has_data() || self.has_control() => Supply::Data,
            () if self.streams.is_stalled() => Supply::Held,
            () => Supply::Nothing,
        };
        self.scheduling.note_limits(now, packet_bytes, &mut self.paths, supply);
    }
}
