//! Which path carries the next packet of data.

use super::Endpoint;
use super::handshake::Level;
use super::packets::Draft;
use crate::path::{Health, Path};
use crate::space::{Again, SentFrame};
use crate::streams::{Chunk, Streams};
use crate::wire::Frame;
use scheduler::{ConnectionView, Decision, PathSet, PathView};
use units::{Instant, PathId};

/// Header, tag and head of a STREAM frame: what a full packet cannot carry.
pub(super) const OVERHEAD_BYTES: u64 = 50;

/// Data that goes on a further path as well.
#[derive(Clone, Debug)]
pub(super) struct Copy {
    pub path: u32,
    pub chunks: Vec<Chunk>,
    /// `None`: for the first time.
    pub why: Option<Again>,
}

impl Endpoint {
    pub(super) fn data_datagram(&mut self, now: Instant) -> Option<(PathId, Vec<u8>)> {
        self.wake_at = Instant::FAR_FUTURE;
        while let Some(copy) = self.copies.pop_front() {
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

    fn has_data(&self) -> bool {
        self.streams.has_again()
            || self.streams.has_new()
            || !self.datagrams_out.is_empty()
            || self.handshake.space(Level::OneRtt).out.has_again()
            || self.handshake.space(Level::OneRtt).out.has_new()
    }

    fn refresh_views(&mut self, now: Instant) {
        let packet_bytes = self.config.datagram_bytes as u64;
        let repeats = self.scheduler.repeats();
        let any_good = self.paths.values().any(Path::is_usable);
        self.views.clear();
        for path in self.paths.values().filter(|path| path.is_open() && !path.replaced) {
            let mut view = path.view(now, packet_bytes);
            // With nothing better a suspected path still carries what its window admits.
            view.usable |=
                !any_good && path.health == Health::Suspected && path.rest_until.is_none();
            if repeats {
                let next = self.streams.unacked_from(path.walk, packet_bytes - OVERHEAD_BYTES);
                view.repeat_bytes = next.map_or(0, |chunk| chunk.range.end - chunk.range.start);
            }
            self.views.push(view);
        }
        self.views.sort_by_key(|view| view.id);
    }

    pub(super) fn able(&self) -> PathSet {
        let able = self.views.iter().filter(|view| view.usable && view.has_room);
        able.fold(PathSet::EMPTY, |set, view| set.with(view.id))
    }

    /// The fastest path that can take a packet and that the scheduler does not avoid (a foreseen
    /// outage); a backup only while no other path is usable.
    fn fastest_able(&self, now: Instant) -> Option<PathId> {
        let backup = !self.views.iter().any(|view| view.usable && !view.backup);
        let able = self.views.iter().filter(|view| view.usable && view.has_room);
        let able = able.filter(|view| view.backup == backup && !self.scheduler.avoids(now, view));
        able.min_by_key(|view| view.srtt).map(|view| view.id)
    }

    /// What the scheduler calls the path of acknowledgements.
    pub(super) fn scheduled_ack_path(&mut self, now: Instant) -> Option<u32> {
        self.refresh_views(now);
        let view = connection_view(&self.streams, &self.views, now, 0);
        let net = self.scheduler.ack_path(&view)?;
        self.id_of(net)
    }

    /// The open path bound to a path of the caller's.
    pub(super) fn id_of(&self, net: PathId) -> Option<u32> {
        let bound = |path: &&Path| path.net == net && path.drains_until.is_none();
        self.paths.values().rev().find(bound).map(|path| path.id)
    }

    /// Asks the scheduler and does what it says, until that is a packet or a wait.
    fn scheduled_datagram(&mut self, now: Instant) -> Option<(PathId, Vec<u8>)> {
        loop {
            let at_hand = self.has_data();
            if !at_hand && !self.scheduler.repeats() {
                return None;
            }
            let accepting = self.accepting();
            if accepting == PathSet::EMPTY {
                return None;
            }
            let mut targets = PathSet::EMPTY;
            let mut other = None;
            match self.ask(now, at_hand) {
                Decision::Send(path) => targets = targets.with(path),
                Decision::Duplicate(paths) => targets = paths,
                Decision::Wait(until) => {
                    self.wake_at = until.filter(|at| *at > now).unwrap_or(Instant::FAR_FUTURE);
                }
                Decision::Repeat(path) => other = Some((path, None)),
                Decision::Ahead { path, gap_bytes } => other = Some((path, Some(gap_bytes))),
            }
            let able = self.able();
            let other = other.filter(|(path, _)| able.contains(*path));
            let out = other.and_then(|(path, gap)| match gap {
                None => self.repeat_datagram(now, path),
                Some(gap) => self.ahead_datagram(now, path, gap),
            });
            if out.is_some() || !at_hand {
                return out;
            }
            if targets.common(able) == PathSet::EMPTY
                && self.enqueue(now, targets.common(accepting))
            {
                self.refresh_views(now);
                continue; // what waits in a queue does not hold the rest up
            }
            let targets = self.no_deadlock(now, targets.common(able))?;
            return self.send_on(now, targets);
        }
    }

    /// The targets, or when there are none and nothing is under way that could end the wait, the
    /// fastest path (docs/model.md §3).
    fn no_deadlock(&mut self, now: Instant, targets: PathSet) -> Option<PathSet> {
        if targets != PathSet::EMPTY {
            return Some(targets);
        }
        self.totals.waits += 1;
        let idle = self.paths.values().all(|path| path.in_flight == 0 && path.queue.is_empty());
        if !idle || self.wake_at != Instant::FAR_FUTURE {
            return None;
        }
        Some(targets.with(self.fastest_able(now)?))
    }

    fn ask(&mut self, now: Instant, at_hand: bool) -> Decision {
        let full = self.config.datagram_bytes as u64 - OVERHEAD_BYTES;
        let unsent = self.streams.unsent();
        let again = self.streams.has_again();
        let bytes = if again { full } else { unsent.clamp(1, full) };
        let bytes = if at_hand { bytes } else { 0 };
        let view = connection_view(&self.streams, &self.views, now, bytes);
        let decision = self.scheduler.select(&view);
        self.log_decision(now, decision, bytes);
        decision
    }

    /// One packet on the first target; the others carry copies of its data.
    fn send_on(&mut self, now: Instant, targets: PathSet) -> Option<(PathId, Vec<u8>)> {
        let first = targets.iter().find(|net| self.id_of(*net).is_some())?;
        let id = self.id_of(first)?;
        let mut draft = self.begin_datagram(id)?;
        self.put_acks(now, &mut draft, id);
        self.put_control(&mut draft);
        self.fill_crypto(&mut draft, Level::OneRtt);
        self.put_datagrams(&mut draft);
        let bytes = self.put_chunks(&mut draft, id);
        if draft.is_empty() {
            return None;
        }
        for net in targets.iter() {
            self.scheduler.on_sent(now, net, bytes);
        }
        if bytes > 0 {
            self.copy_to(&draft, targets.without(first));
        }
        self.finish_one_rtt(now, draft, id)
    }

    /// What a packet brings of the streams goes on further paths, too.
    fn copy_to(&mut self, draft: &Draft, others: PathSet) {
        for path in others.iter().filter_map(|net| self.id_of(net)).collect::<Vec<_>>() {
            let chunks = chunks_of(&draft.frames).cloned().collect();
            self.copies.push_back(Copy { path, chunks, why: Some(Again::Redundancy) });
        }
    }

    fn put_datagrams(&mut self, draft: &mut Draft) {
        while let Some(data) = self.datagrams_out.pop_front() {
            if !draft.put(&Frame::Datagram { data: &data }) {
                // One that fits no packet of its own would block the others.
                if !draft.eliciting && draft.frames.is_empty() {
                    continue;
                }
                self.datagrams_out.push_front(data);
                return;
            }
        }
    }

    /// Writes what the streams have to send, lost data first: how many bytes.
    pub(super) fn put_chunks(&mut self, draft: &mut Draft, id: u32) -> u64 {
        let mut bytes = 0;
        while let Some((chunk, by)) = self.streams.next_chunk(draft.room()) {
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
        if let Some(path) = self.paths.get_mut(&id) {
            path.walk = path.walk.max((chunk.id, chunk.range.end));
            path.stats.retransmitted_bytes += if again.is_some() { len } else { 0 };
            let elsewhere = again.is_some_and(|why| why != Again::Retransmission);
            path.stats.reinjected_bytes += if elsewhere { len } else { 0 };
        }
    }

    // ---- copies ------------------------------------------------------------------------------

    /// A packet with what of `copy` has not arrived yet; what does not fit goes in the next one.
    pub(super) fn copy_datagram(&mut self, now: Instant, copy: &Copy) -> Option<(PathId, Vec<u8>)> {
        let id = copy.path;
        if !self.paths.get(&id)?.is_open() {
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
            self.copies.push_front(Copy { path: id, chunks: rest, why: copy.why });
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
    fn repeat_datagram(&mut self, now: Instant, net: PathId) -> Option<(PathId, Vec<u8>)> {
        let id = self.id_of(net)?;
        let full = self.config.datagram_bytes as u64 - OVERHEAD_BYTES;
        let walk = self.paths.get(&id)?.walk;
        let chunk = self.streams.unacked_from(walk, full)?;
        let bytes = chunk.range.end - chunk.range.start;
        self.scheduler.on_sent(now, net, bytes);
        self.copy_datagram(
            now,
            &Copy { path: id, chunks: vec![chunk], why: Some(Again::Redundancy) },
        )
    }

    /// Nothing new to send, or the window is closed: what a slower path has in flight is
    /// retransmitted where it arrives sooner.
    fn tail_datagram(&mut self, now: Instant) -> Option<(PathId, Vec<u8>)> {
        if !self.config.reinjection.at_tail || self.views.len() < 2 || self.has_data() {
            return None;
        }
        let id = self.id_of(self.fastest_able(now)?)?;
        let soon = now + self.paths.get(&id)?.rtt.smoothed();
        let slower = self.paths.values_mut().filter(|path| path.id != id && path.is_open());
        for path in slower {
            let srtt = path.rtt.smoothed();
            let late = path.space.sent.iter_mut().find(|(_, packet)| {
                let carries = chunks_of(&packet.frames).next().is_some();
                // What is overdue sits in a queue that the RTT does not know of yet.
                let expected = packet.sent_at + srtt;
                let late = expected > soon || expected < now;
                carries && !packet.copied && !packet.given_up && late
            });
            let Some((_, packet)) = late else { continue };
            packet.copied = true;
            let chunks = chunks_of(&packet.frames).cloned().collect();
            let copy = Copy { path: id, chunks, why: Some(Again::Reinjection) };
            return self.copy_datagram(now, &copy);
        }
        None
    }

    /// Control frames do not wait for a scheduler.
    fn control_only_datagram(&mut self, now: Instant) -> Option<(PathId, Vec<u8>)> {
        if !self.has_control() {
            return None;
        }
        let id = self.id_of(self.fastest_able(now)?)?;
        let mut draft = self.begin_datagram(id)?;
        self.put_acks(now, &mut draft, id);
        self.put_control(&mut draft);
        if draft.is_empty() {
            return None;
        }
        self.finish_one_rtt(now, draft, id)
    }

    /// Counts once each time that the peer's windows stop what a path could take.
    fn note_stall(&mut self) {
        let stalled = self.streams.is_stalled();
        if stalled && !self.stalled && self.able() != PathSet::EMPTY {
            self.totals.window_stalls += 1;
            self.stalled = true;
        }
        self.stalled &= stalled;
    }

    /// Nothing more leaves now: when a pacer lets the next packet go, and which paths could have
    /// sent more (what they sample is a lower bound, docs/model.md §1.5).
    fn note_limits(&mut self, now: Instant) {
        let packet_bytes = self.config.datagram_bytes as u64;
        let has_data = self.has_data() || self.has_control();
        let has_data = has_data || self.paths.values().any(|path| !path.queue.is_empty());
        for path in self.paths.values_mut().filter(|path| path.is_open()) {
            if !path.window_has_room(packet_bytes) {
                continue;
            }
            let ready = path.pacer_ready_at(packet_bytes);
            if ready <= now {
                path.sampler.set_app_limited(path.in_flight);
            } else if has_data && path.rest_until.is_none() && path.health != Health::Failed {
                path.hold(now);
                self.wake_at = self.wake_at.min(path.pacer_ready_at(packet_bytes));
            }
        }
    }
}

fn connection_view<'a>(
    streams: &Streams,
    paths: &'a [PathView],
    now: Instant,
    segment_bytes: u64,
) -> ConnectionView<'a> {
    ConnectionView {
        now,
        paths,
        segment_bytes,
        reinjection: streams.has_again(),
        unsent_bytes: streams.unsent(),
        receive_window_bytes: streams.receive_window_bytes(),
        window_left_bytes: streams.window_left(),
        window_blocked: false,
    }
}

/// The pieces of streams in a packet.
pub(super) fn chunks_of(frames: &[SentFrame]) -> impl DoubleEndedIterator<Item = &Chunk> {
    frames.iter().filter_map(|frame| match frame {
        SentFrame::Stream(chunk) => Some(chunk),
        _ => None,
    })
}
