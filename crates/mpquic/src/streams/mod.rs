//! The streams of a connection and their flow control.

mod assembler;
mod buffer;
mod incoming;
mod recv;
mod send;

pub(crate) use assembler::Assembler;
pub(crate) use recv::{RecvHalf, Window};
pub(crate) use send::{Chunk, SendHalf};

use crate::config::FlowControl;
use crate::error::Error;
use crate::wire::Params;
use recovery::InOrderWaits;
use scheduler::Gap;
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};
use units::{Duration, Instant};

/// The urgency of a stream that nobody set (RFC 9218 §4.1): 0 is the highest, 7 the lowest.
pub const DEFAULT_URGENCY: u8 = 3;
/// The lowest.
const LEAST_URGENCY: u8 = 7;

/// Streams in which data is looked for that goes ahead, beside the one whose turn it is.
const LATER_STREAMS: usize = 8;

/// What a stream sends at a time that is of use in pieces (RFC 9218 §4.2), where others are as urgent.
const INCREMENTAL_TURN_BYTES: u64 = 16 << 10;

/// The place of a stream among those that send: its urgency, then its ID.
type Turn = (u8, u64);

/// Whether a stream was opened by the client (RFC 9000 §2.1).
pub(crate) fn is_clients(id: u64) -> bool {
    id & 1 == 0
}

/// Whether a stream is bidirectional (RFC 9000 §2.1).
pub(crate) fn is_bidi(id: u64) -> bool {
    id & 2 == 0
}

/// Counts of streams of one kind (bidirectional or not).
#[derive(Debug, Default)]
pub(crate) struct Count {
    /// Streams that we opened.
    opened: u64,
    /// Streams that the peer lets us open.
    pub allowed: u64,
    /// Streams that the peer opened.
    peer_opened: u64,
    /// Streams that we let it open.
    pub granted: u64,
    /// A frame has to announce it to the peer.
    pub changed: bool,
}

/// What the receiving halves have seen, all streams together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counted {
    /// Bytes that came without a hole before them.
    pub in_order_bytes: u64,
    /// Bytes that had come before, or that nobody wants any more.
    pub duplicate_bytes: u64,
}

#[derive(Debug)]
pub(crate) struct Streams {
    is_client: bool,
    pub send: BTreeMap<u64, SendHalf>,
    pub recv: BTreeMap<u64, RecvHalf>,
    /// Streams with something to send, as far as is known, the most urgent first.
    ready: BTreeSet<Turn>,
    /// Streams with something to send again, as far as is known.
    again: BTreeSet<Turn>,
    /// Streams more urgent than usual.
    urgent: usize,
    /// Who sends next: the streams take turns.
    turn: u64,
    /// Bytes that a turn has, and that are left of this one.
    turn_bytes: u64,
    turn_left: u64,
    pub counts: [Count; 2],
    /// What the peer announced of its windows.
    peer: Params,
    pub max_data: u64,
    pub sent_data: u64,
    pub window: Window,
    flow_control: FlowControl,
    stream_window: u64,
    stream_window_limit: u64,
    window_limit: u64,
    /// By how much the windows of streams may still grow.
    growth: u64,
    received_data: u64,
    read_data: u64,
    send_limit: u64,
    pub buffered: u64,
    /// Bytes written and never sent, whatever the windows say.
    queued: u64,
    pub counted: Counted,
    pub waits: InOrderWaits,
    /// Streams whose windows have to be announced.
    pub raised: BTreeSet<u64>,
    /// Cost of the pieces held by all assemblers, beside their bytes.
    overhead: usize,
}

impl Streams {
    pub fn new(is_client: bool, config: &crate::Config) -> Self {
        let count = || Count { granted: config.max_streams, ..Count::default() };
        Self {
            is_client,
            send: BTreeMap::new(),
            recv: BTreeMap::new(),
            ready: BTreeSet::new(),
            again: BTreeSet::new(),
            urgent: 0,
            turn: 0,
            turn_bytes: config.turn_bytes,
            turn_left: config.turn_bytes,
            counts: [count(), count()],
            peer: Params::default(),
            max_data: 0,
            sent_data: 0,
            window: Window::new(
                config.receive_window_bytes,
                config.max_receive_window_bytes,
                config.flow_control,
            ),
            flow_control: config.flow_control,
            stream_window: config.stream_window_bytes,
            stream_window_limit: config
                .max_receive_window_bytes
                .min(config.max_stream_window_bytes),
            growth: config.stream_growth_bytes,
            window_limit: config.max_receive_window_bytes,
            received_data: 0,
            read_data: 0,
            send_limit: config.send_buffer_bytes,
            buffered: 0,
            queued: 0,
            counted: Counted::default(),
            waits: InOrderWaits::default(),
            raised: BTreeSet::new(),
            overhead: 0,
        }
    }

    pub fn set_peer(&mut self, peer: &Params) {
        self.max_data = peer.initial_max_data;
        self.counts[0].allowed = peer.initial_max_streams_bidi;
        self.counts[1].allowed = peer.initial_max_streams_uni;
        self.peer = peer.clone();
    }

    fn is_ours(&self, id: u64) -> bool {
        is_clients(id) == self.is_client
    }

    fn new_recv(&self) -> RecvHalf {
        RecvHalf::new(Window::new(self.stream_window, self.stream_window_limit, self.flow_control))
    }

    // ---- the application ---------------------------------------------------------------------

    pub fn open(&mut self, bidi: bool) -> Result<u64, Error> {
        let count = &mut self.counts[usize::from(!bidi)];
        if count.opened >= count.allowed {
            return Err(Error::StreamLimit);
        }
        let id = count.opened << 2 | u64::from(!bidi) << 1 | u64::from(!self.is_client);
        count.opened += 1;
        let limit = if bidi {
            self.peer.initial_max_stream_data_bidi_remote
        } else {
            self.peer.initial_max_stream_data_uni
        };
        self.send.insert(id, SendHalf::with_limit(limit));
        if bidi {
            self.recv.insert(id, self.new_recv());
        }
        Ok(id)
    }

    pub fn write(&mut self, id: u64, data: &[u8]) -> Result<usize, Error> {
        self.take(id, data.len(), |half, taken| half.write(&data[..taken]))
    }

    /// Writes zeros, which take no memory until they are sent.
    pub fn write_zeros(&mut self, id: u64, count: usize) -> Result<usize, Error> {
        self.take(id, count, SendHalf::write_zeros)
    }

    /// Lets a stream take as many of `count` bytes as there is room for.
    fn take(
        &mut self,
        id: u64,
        count: usize,
        write: impl FnOnce(&mut SendHalf, usize),
    ) -> Result<usize, Error> {
        let room = self.send_limit.saturating_sub(self.buffered) as usize;
        let half = self.send.get_mut(&id).ok_or(Error::NoStream(id))?;
        if half.is_finished() {
            return Err(Error::Finished(id));
        }
        let taken = count.min(room);
        write(half, taken);
        self.buffered += taken as u64;
        self.queued += taken as u64;
        self.ready.insert(self.turn_of(id));
        Ok(taken)
    }

    /// How much of a stream may be written such that all of it may leave: what the send buffer and
    /// the peer's window for the stream admit.
    pub fn room(&self, id: u64) -> Result<u64, Error> {
        let half = self.send.get(&id).ok_or(Error::NoStream(id))?;
        let buffer = self.send_limit.saturating_sub(self.buffered);
        Ok(half.max_data.saturating_sub(half.end()).min(buffer))
    }

    pub fn finish(&mut self, id: u64) -> Result<(), Error> {
        let half = self.send.get_mut(&id).ok_or(Error::NoStream(id))?;
        if half.is_finished() {
            return Err(Error::Finished(id));
        }
        half.finish();
        self.ready.insert(self.turn_of(id));
        Ok(())
    }

    /// Resets a sending half: its final size, `None` when it had ended or been reset.
    pub fn reset(&mut self, id: u64, error_code: u64) -> Result<Option<u64>, Error> {
        let half = self.send.get_mut(&id).ok_or(Error::NoStream(id))?;
        if half.reset.is_some() {
            return Ok(None);
        }
        let final_size = half.highest_sent();
        self.queued -= half.queued();
        self.buffered -= half.reset(error_code);
        let turn = (half.urgency, id);
        self.ready.remove(&turn);
        self.again.remove(&turn);
        Ok(Some(final_size))
    }

    fn turn_of(&self, id: u64) -> Turn {
        (self.send.get(&id).map_or(DEFAULT_URGENCY, |half| half.urgency), id)
    }

    /// How urgent what a stream sends is, beyond 7 counts as 7; and whether it is of use in pieces.
    pub fn set_priority(&mut self, id: u64, urgency: u8, incremental: bool) -> Result<(), Error> {
        let half = self.send.get_mut(&id).ok_or(Error::NoStream(id))?;
        let urgency = urgency.min(LEAST_URGENCY);
        half.incremental = incremental;
        let before = std::mem::replace(&mut half.urgency, urgency);
        for turns in [&mut self.ready, &mut self.again] {
            if turns.remove(&(before, id)) {
                turns.insert((urgency, id));
            }
        }
        self.urgent += usize::from(urgency < DEFAULT_URGENCY);
        self.urgent -= usize::from(before < DEFAULT_URGENCY);
        Ok(())
    }

    /// A stream is open that is more urgent than usual.
    pub fn is_urgent(&self) -> bool {
        self.urgent > 0
    }

    /// Nobody reads a stream any more: false when that changes nothing.
    pub fn stop(&mut self, id: u64) -> Result<bool, Error> {
        let half = self.recv.get_mut(&id).ok_or(Error::NoStream(id))?;
        if half.is_complete() || half.stopped {
            return Ok(false);
        }
        (half.stopped, half.ended) = (true, true);
        // What was not read counts as read: the connection's window must not shrink.
        let unread = half.end - half.data.read_offset();
        self.overhead -= half.data.overhead_bytes();
        half.clear(&mut self.waits);
        self.drop_unread(unread);
        Ok(true)
    }

    fn drop_unread(&mut self, bytes: u64) {
        self.read_data += bytes;
        self.window.on_dropped(self.read_data);
    }

    /// The next bytes of a stream in order. `Ok(None)`: nothing available.
    pub fn read(
        &mut self,
        (now, rtt): (Instant, Duration),
        id: u64,
        max: usize,
    ) -> Result<Option<Vec<u8>>, Error> {
        let half = self.recv.get_mut(&id).ok_or(Error::NoStream(id))?;
        let before = half.data.overhead_bytes();
        let data = half.data.read(max);
        self.overhead = self.overhead + half.data.overhead_bytes() - before;
        if let Some(data) = &data {
            self.read_data += data.len() as u64;
            let grown = half.window.on_read(now, half.data.read_offset(), (rtt, self.growth));
            self.growth = self.growth.saturating_sub(grown);
            if std::mem::take(&mut half.window.changed) && half.final_size.is_none() {
                self.raised.insert(id);
            }
            self.window.on_read(now, self.read_data, (rtt, u64::MAX));
        }
        Ok(data)
    }

    /// Whether everything of a stream was read (or it was reset).
    pub fn is_ended(&self, id: u64) -> bool {
        self.recv.get(&id).is_none_or(RecvHalf::is_complete)
    }

    /// Drops what is settled; streams of the peer make room for new ones.
    pub fn collect(&mut self, id: u64) {
        if self.recv.get(&id).is_some_and(|half| half.ended && half.is_complete())
            && let Some(half) = self.recv.remove(&id)
        {
            self.raised.remove(&id);
            let grown = half.window.size() - self.stream_window;
            self.growth = self.growth.saturating_add(grown); // others may have it
        }
        let over = |half: &SendHalf| half.is_done() || half.reset.is_some();
        if self.send.get(&id).is_some_and(over) {
            let turn = self.turn_of(id);
            self.send.remove(&id);
            self.ready.remove(&turn);
            self.again.remove(&turn);
            self.urgent -= usize::from(turn.0 < DEFAULT_URGENCY);
        }
        let gone = !self.recv.contains_key(&id) && !self.send.contains_key(&id);
        if gone && !self.is_ours(id) {
            let count = &mut self.counts[usize::from(!is_bidi(id))];
            count.granted += 1;
            count.changed = true;
        }
    }

    // ---- sending -----------------------------------------------------------------------------

    /// Something that path `by` carried was lost, or may be: the stream has something to send again.
    pub fn on_lost(&mut self, chunk: &Chunk, by: u32) {
        if let Some(half) = self.send.get_mut(&chunk.id) {
            half.on_lost(chunk.range.clone(), chunk.fin, by);
            if half.has_again() {
                self.again.insert((half.urgency, chunk.id));
            }
        }
    }

    /// True when a finished stream is through.
    pub fn on_acked(&mut self, chunk: &Chunk) -> bool {
        let Some(half) = self.send.get_mut(&chunk.id).filter(|half| half.reset.is_none()) else {
            return false;
        };
        self.buffered -= half.on_acked(chunk.range.clone(), chunk.fin);
        if !self.again.is_empty() && !half.has_again() {
            self.again.remove(&(half.urgency, chunk.id));
        }
        half.is_done()
    }

    /// First byte of a stream that is not acknowledged.
    pub fn acked_to(&self, id: u64) -> Option<u64> {
        self.send.get(&id).map(SendHalf::acked_to)
    }

    pub fn has_again(&self) -> bool {
        !self.again.is_empty()
    }

    pub fn window_left(&self) -> u64 {
        self.max_data.saturating_sub(self.sent_data)
    }

    /// Something could leave now for the first time: bytes, or the end of a stream alone.
    pub fn has_new(&self) -> bool {
        let window = self.window_left();
        let may = |half: &SendHalf| {
            half.has_new() && (window > 0 || half.unsent() == 0 || half.has_hole())
        };
        let may = |(_, id): &Turn| self.send.get(id).is_some_and(may);
        match self.ready.len() {
            0 => false,
            1 => self.ready.first().is_some_and(may),
            _ => self.ready.iter().any(may),
        }
    }

    /// Bytes that were never sent, whatever the windows say.
    pub fn unsent(&self) -> u64 {
        self.queued
    }

    /// The connection's window as the peer gave it last, counted from what it has acknowledged (it
    /// announces its limit, not what it has read).
    pub fn receive_window_bytes(&self) -> u64 {
        let unacked = self.buffered.saturating_sub(self.queued);
        self.max_data.saturating_sub(self.sent_data.saturating_sub(unacked))
    }

    /// There are bytes to send, and the peer's windows admit none of them.
    pub fn is_stalled(&self) -> bool {
        self.queued > 0 && !self.has_new()
    }

    /// What the peer's windows still admit: the connection's, and those of the streams that send.
    pub fn send_window_bytes(&self) -> u64 {
        let sending = self.send.values().filter(|half| !half.is_done() && half.reset.is_none());
        let streams = sending.map(|half| half.max_data.saturating_sub(half.highest_sent()));
        streams.reduce(u64::saturating_add).map_or(u64::MAX, |sum| sum).min(self.window_left())
    }

    /// The connection's or a stream's window is closed while there is more to send: the frames
    /// that say so (RFC 9000 §4.1).
    pub fn blocked(&self) -> Option<u64> {
        let waits = |(_, id): &Turn| self.send.get(id).is_some_and(|half| half.unsent() > 0);
        (self.window_left() == 0 && self.ready.iter().any(waits)).then_some(self.max_data)
    }

    /// The next bytes that fit into `room` bytes of a packet; what is sent again comes first, with the
    /// path that carried it last.
    pub fn next_chunk(&mut self, room: usize) -> Option<(Chunk, Option<u32>)> {
        let again = self.chunk_again(room).map(|(chunk, by)| (chunk, Some(by)));
        again.or_else(|| Some((self.chunk_new(room)?, None)))
    }

    /// The stream whose turn it is from `turn` on.
    fn next_ready(&self, turn: u64) -> Option<u64> {
        let (urgency, first) = *self.ready.first()?;
        if self.ready.len() == 1 {
            return Some(first); // nearly always: a search would cost more than the rest
        }
        let later = self.ready.range((urgency, turn)..=(urgency, u64::MAX)).next();
        Some(later.map_or(first, |(_, id)| *id))
    }

    fn chunk_again(&mut self, room: usize) -> Option<(Chunk, u32)> {
        let (urgency, id) = *self.again.first()?;
        let max = room.checked_sub(1 + 8 + 8 + 2).filter(|max| *max > 0)?;
        let half = self.send.get_mut(&id)?;
        let (range, fin, by) = half.next_again(max as u64)?;
        if !half.has_again() {
            self.again.remove(&(urgency, id));
        }
        Some((Chunk { id, range, fin }, by))
    }

    fn chunk_new(&mut self, room: usize) -> Option<Chunk> {
        let window = self.window_left();
        let mut turn = self.turn;
        for _ in 0..self.ready.len() {
            let id = self.next_ready(turn)?;
            turn = id + 1;
            let Some(half) = self.send.get_mut(&id) else { continue };
            if !half.has_new() {
                self.ready.remove(&(half.urgency, id));
                continue;
            }
            let head = crate::wire::Frame::stream_head_len(id, half.sent_to());
            let max = room.checked_sub(head).filter(|max| *max > 0)?;
            let highest = half.highest_sent();
            if let Some((range, fin)) = half.next_new(max as u64, window) {
                self.sent_data += half.highest_sent() - highest;
                self.queued -= range.end - range.start;
                let has_more = half.has_new();
                self.turn_over((id, has_more), range.end - range.start);
                return Some(Chunk { id, range, fin });
            }
        }
        None
    }

    /// `bytes` of a stream left: whose turn it is then.
    fn turn_over(&mut self, (id, has_more): (u64, bool), bytes: u64) {
        let incremental = self.send.get(&id).is_some_and(|half| half.incremental);
        let most = if incremental { INCREMENTAL_TURN_BYTES } else { u64::MAX };
        let left = if id == self.turn { self.turn_left } else { self.turn_bytes };
        let left = left.min(most);
        self.turn_left = left.saturating_sub(bytes);
        self.turn = id;
        if !has_more || self.turn_left == 0 {
            (self.turn, self.turn_left) = (id + 1, self.turn_bytes);
        }
    }

    /// Bytes further on than the next new ones: in the stream whose turn it is, or, where the gap is as
    /// long as what is left of that, in those whose turns come then.
    pub fn chunk_ahead(&mut self, room: usize, gap: Gap) -> Option<Chunk> {
        if gap == Gap::Unsent(0) {
            return self.chunk_new(room);
        }
        let max = room.checked_sub(1 + 8 + 8 + 2).filter(|max| *max > 0)? as u64;
        let first = self.next_ready(self.turn)?;
        let mut gap = match self.ahead_in(first, gap, max) {
            Ok(chunk) => return chunk,
            Err(left) => left,
        };
        let later: SmallVec<[u64; LATER_STREAMS]> = self.later_turns(first).collect();
        for id in later {
            match self.ahead_in(id, Gap::Unsent(gap), max) {
                Ok(chunk) => return chunk,
                Err(left) => gap = left,
            }
        }
        None
    }

    /// The streams whose turns come after that of `first`.
    fn later_turns(&self, first: u64) -> impl Iterator<Item = u64> {
        let urgency = self.turn_of(first).0;
        let after = self.ready.range((urgency, first + 1)..=(urgency, u64::MAX));
        let before = self.ready.range((urgency, 0)..(urgency, first));
        let less_urgent = self.ready.range((urgency + 1, 0)..);
        after.chain(before).chain(less_urgent).take(LATER_STREAMS).map(|(_, id)| *id)
    }

    /// Bytes of a stream that lie behind a gap; `Err`: the stream ends before, and what is left of the gap.
    fn ahead_in(&mut self, id: u64, gap: Gap, max: u64) -> Result<Option<Chunk>, u64> {
        let window = self.window_left();
        let Some(half) = self.send.get_mut(&id).filter(|half| half.has_new()) else {
            return match gap {
                Gap::Unsent(bytes) => Err(bytes),
                Gap::Stream(_) => Ok(None),
            };
        };
        if let Gap::Unsent(bytes) = gap
            && let Some(left) = bytes.checked_sub(half.never_sent())
        {
            return Err(left);
        }
        let highest = half.highest_sent();
        let range = match gap {
            Gap::Unsent(0) => half.next_new(max, window),
            _ => half.next_ahead(gap, max, window).map(|range| (range, false)),
        };
        let Some((range, fin)) = range else { return Ok(None) };
        self.sent_data += half.highest_sent() - highest;
        self.queued -= range.end - range.start;
        Ok(Some(Chunk { id, range, fin }))
    }

    /// Whether new data of its stream was sent, or is next, that lies behind a piece.
    pub fn is_passed(&self, chunk: &Chunk) -> bool {
        self.send.get(&chunk.id).is_some_and(|half| chunk.range.start < half.sent_to())
    }

    /// The first bytes at or after (`stream`, `offset`) that were sent and not acknowledged.
    pub fn unacked_from(&self, (id, offset): (u64, u64), max: u64) -> Option<Chunk> {
        self.send.range(id..).find_map(|(other, half)| {
            let from = if *other == id { offset } else { 0 };
            let range = half.unacked_from(from, max)?;
            Some(Chunk { id: *other, range, fin: false })
        })
    }

    /// Bytes held for reading and sending, and what keeping them costs.
    pub fn held_bytes(&self) -> u64 {
        let received: usize = self.recv.values().map(|half| half.data.held_bytes()).sum();
        self.buffered + received as u64 + self.overhead as u64
    }
}
