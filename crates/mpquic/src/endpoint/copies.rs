//! Data that leaves a second time: wanted by the scheduler, late, or at the tail of a stream.

use super::Endpoint;
use crate::scheduling::{Copy, OVERHEAD_BYTES};
use crate::space::{Again, SentPacket, chunks_of};
use crate::streams::Chunk;
use crate::wire::Frame;
use units::{Instant, PathId};

impl Endpoint {
    /// A packet with what of `copy` has not arrived yet; what does not fit goes in the next one.
    pub(super) fn copy_datagram(&mut self, now: Instant, copy: &Copy) -> Option<(PathId, Vec<u8>)> {
        let id = copy.path;
        if !self.paths.get(id)?.is_open() {
            return None;
        }
        let mut draft = self.begin_datagram(id)?;
        let mut rest = Vec::new();
        for piece in self.missing_pieces(&copy.chunks) {
            let head = Frame::stream_head_len(piece.id, piece.range.start);
            let fits = draft.room().saturating_sub(head) as u64;
            let len = piece.range.end - piece.range.start;
            let (start, cut) = (piece.range.start, piece.range.start + len.min(fits));
            if cut < piece.range.end {
                rest.push(Chunk { range: cut..piece.range.end, ..piece.clone() });
            }
            if fits > 0 {
                let fin = piece.fin && cut == piece.range.end;
                self.put_chunk(
                    &mut draft,
                    &Chunk { id: piece.id, range: start..cut, fin },
                    (id, copy.why),
                );
            }
        }
        if draft.frames.is_empty() {
            return None;
        }
        if !rest.is_empty() {
            self.scheduling.copies.push_front(Copy { path: id, chunks: rest, why: copy.why });
        }
        self.finish_one_rtt(now, draft, id)
    }

    /// What of some pieces has not been acknowledged.
    fn missing_pieces(&self, chunks: &[Chunk]) -> Vec<Chunk> {
        let mut pieces = Vec::new();
        for chunk in chunks {
            let Some(half) = self.streams.send.get(&chunk.id).filter(|half| half.reset.is_none())
            else {
                continue;
            };
            let missing = half.missing(&chunk.range);
            pieces.extend(missing.into_iter().map(|range| {
                let fin = chunk.fin && range.end == chunk.range.end;
                Chunk { id: chunk.id, range, fin }
            }));
        }
        pieces
    }

    /// The next piece of a path's own walk along the streams (redundant scheduler).
    pub(super) fn repeat_datagram(
        &mut self,
        now: Instant,
        net: PathId,
    ) -> Option<(PathId, Vec<u8>)> {
        let id = self.paths.carrier_over(net)?;
        let full = self.config.datagram_bytes as u64 - OVERHEAD_BYTES;
        let walk = self.paths.get(id)?.walk;
        let chunk = self.streams.unacked_from(walk, full)?;
        let bytes = chunk.range.end - chunk.range.start;
        self.scheduling.dispatch.on_sent(now, net, bytes);
        self.copy_datagram(
            now,
            &Copy { path: id, chunks: vec![chunk], why: Some(Again::Redundancy) },
        )
    }

    /// Nothing is left to send: what a slower path has in flight is retransmitted where it arrives
    /// sooner, within a budget. A closed window is not the end: what it holds up goes first when it
    /// opens, and copies until then would only cost. A scheduler that rescues sees to streams that go on.
    pub(super) fn tail_datagram(&mut self, now: Instant) -> Option<(PathId, Vec<u8>)> {
        let rescues = self.scheduling.dispatch.capabilities().rescues;
        if !self.config.reinjection.at_tail
            || self.scheduling.views.len() < 2
            || self.has_data()
            || !self.scheduling.tail_budget.has_any()
        {
            return None;
        }
        let id = self.paths.carrier_over(self.scheduling.fastest(now)?)?;
        let soon = now + self.paths.get(id)?.rtt.smoothed();
        let streams = &self.streams;
        let ends = |id| streams.send.get(&id).is_some_and(|half| half.is_finished());
        let slower = self.paths.values_mut().filter(|path| path.id != id && path.is_open());
        for path in slower {
            let srtt = path.rtt.smoothed();
            let late = path.space.sent.iter_mut().find(|(_, packet)| {
                let carries = chunks_of(&packet.frames).any(|chunk| !rescues || ends(chunk.id));
                // What is overdue sits in a queue that the RTT does not know of yet.
                let expected = packet.sent_at + srtt;
                let late = expected > soon || expected < now;
                carries && !packet.copied && !packet.given_up && late
            });
            let Some((_, packet)) = late else { continue };
            packet.copied = true;
            let chunks: Vec<_> = chunks_of(&packet.frames).cloned().collect();
            let bytes = chunks.iter().map(|chunk| chunk.range.end - chunk.range.start).sum();
            self.scheduling.tail_budget.spend(bytes);
            let copy = Copy { path: id, chunks, why: Some(Again::Reinjection) };
            return self.copy_datagram(now, &copy);
        }
        None
    }

    /// What the scheduler sees coming late is copied where it arrives sooner.
    pub(super) fn rescue_datagram(&mut self, now: Instant) -> Option<(PathId, Vec<u8>)> {
        if !self.config.reinjection.at_tail || !self.scheduling.dispatch.capabilities().rescues {
            return None;
        }
        let unsent = self.unsent(self.has_data());
        for rescue in self.scheduling.rescues(now, &self.streams, unsent) {
            let (Some(from), Some(to)) =
                (self.paths.carrier_over(rescue.from), self.paths.carrier_over(rescue.to))
            else {
                continue;
            };
            let streams = &self.streams;
            let is_passed = |packet: &SentPacket| {
                chunks_of(&packet.frames).any(|chunk| streams.is_passed(chunk))
            };
            let Some(path) = self.paths.get_mut(from) else { continue };
            let Some(packet) = path.space.sent.rescue(rescue.behind_bytes, is_passed) else {
                continue;
            };
            let chunks: Vec<_> = chunks_of(&packet.frames).cloned().collect();
            let bytes = chunks.iter().map(|chunk| chunk.range.end - chunk.range.start).sum();
            self.scheduling.dispatch.on_rescued(now, &rescue, bytes);
            let copy = Copy { path: to, chunks, why: Some(Again::Reinjection) };
            if let Some(out) = self.copy_datagram(now, &copy) {
                return Some(out);
            }
        }
        None
    }
}
