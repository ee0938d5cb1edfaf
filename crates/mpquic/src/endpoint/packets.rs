//! Building packets.

use super::Endpoint;
use super::close::CloseFrame;
use super::handshake::Level;
use crate::crypto;
use crate::path::Space;
use crate::space::{Again, SentFrames, SentPacket};
use crate::wire::{Kind, MIN_INITIAL_BYTES, begin_long, begin_short, number_len};
use rand::RngExt;
use units::{Instant, PathId};

/// Bytes of an AEAD's tag (RFC 9001 §5.3: all suites of TLS 1.3).
const TAG_BYTES: usize = 16;
/// One packet number in about this many is never used (RFC 9000 §21.4).
const SKIP_ONE_IN: u32 = 4096;

/// A packet being written at the end of a datagram.
#[derive(Debug)]
pub(super) struct Draft {
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

    /// Bytes of the packet once it is sealed.
    pub fn sealed_len(&self) -> usize {
        self.out.len() - self.start + TAG_BYTES
    }

    /// Writes `frame` if it fits.
    pub fn put(&mut self, frame: &crate::wire::Frame<'_>) -> bool {
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
}

impl Endpoint {
    /// Begins a packet of the handshake behind what `out` has.
    pub(super) fn begin_handshake(&mut self, out: Vec<u8>, level: Level) -> Draft {
        let start = out.len();
        let mut out = out;
        let space = &self.handshake.space(level).space;
        let number = space.sent.next();
        let number_len = number_len(number, space.largest_acked);
        let kind = if level == Level::Initial { Kind::Initial } else { Kind::Handshake };
        let dcid = self.peer_cids.current(0).unwrap_or_default();
        let scid = self.handshake.local_cid;
        begin_long(&mut out, kind, (&dcid, &scid), &self.handshake.token, number_len);
        self.draft(
            out,
            start,
            (number, number_len),
            self.config.datagram_bytes.max(MIN_INITIAL_BYTES),
        )
    }

    /// Begins a 1-RTT packet on a path, in a datagram of its own.
    pub(super) fn begin_datagram(&mut self, id: u32) -> Option<Draft> {
        self.begin_one_rtt(Vec::with_capacity(self.config.datagram_bytes), id)
    }

    /// Begins a 1-RTT packet on a path behind what `out` has.
    fn begin_one_rtt(&mut self, mut out: Vec<u8>, id: u32) -> Option<Draft> {
        let start = out.len();
        let phase = self.one_rtt.as_ref()?.phase;
        let skips = self.rng.random_ratio(1, SKIP_ONE_IN);
        let dcid = self.peer_cids.current(id)?;
        let path = self.paths.get_mut(&id)?;
        if skips {
            path.space.sent.skip();
        }
        let number = path.space.sent.next();
        let number_len = number_len(number, path.space.largest_acked);
        let limit = (self.peer.max_udp_payload_size as usize).min(self.config.datagram_bytes);
        let limit = limit.min(path.amplification_left().try_into().unwrap_or(usize::MAX));
        begin_short(&mut out, &dcid, phase, number_len);
        Some(self.draft(out, start, (number, number_len), limit))
    }

    fn draft(&self, mut out: Vec<u8>, start: usize, number: (u64, usize), limit: usize) -> Draft {
        let (number, number_len) = number;
        let number_at = out.len();
        out.extend(&number.to_be_bytes()[8 - number_len..]);
        let frames = SentFrames::new();
        Draft {
            out,
            start,
            number_at,
            number_len,
            number,
            limit,
            frames,
            eliciting: false,
            padded: false,
            again: None,
        }
    }

    /// Seals a packet of the handshake and notes it as sent.
    pub(super) fn finish_handshake(
        &mut self,
        now: Instant,
        mut draft: Draft,
        level: Level,
    ) -> Vec<u8> {
        pad_for_sample(&mut draft);
        self.log_sent(now, &draft, level, 0);
        let len = draft.out.len() - draft.number_at + TAG_BYTES;
        let at = draft.number_at - 2;
        let len = (0x4000 | len as u16).to_be_bytes(); // RFC 9000 §16: two bytes
        draft.out[at..at + 2].copy_from_slice(&len);
        let place = (draft.start, draft.number_at, draft.number_len);
        if let Some(keys) = &self.handshake.space(level).keys {
            let pair = (keys.local.packet.as_ref(), keys.local.header.as_ref());
            crypto::seal(&mut draft.out, place, pair, (0, draft.number));
        }
        let bytes = (draft.out.len() - draft.start) as u64;
        if let Some(path) = self.paths.get_mut(&0) {
            let space = &mut self.handshake.space_mut(level).space;
            path.left_bytes += bytes;
            if draft.eliciting || draft.padded {
                let snapshot = path.sampler.on_sent(now, bytes, path.in_flight);
                note_sent(now, space, &mut draft, (bytes, snapshot));
                path.in_flight += bytes;
            } else {
                space.sent.push_settled();
            }
        }
        self.idle_armed_by(now, draft.eliciting);
        draft.out
    }

    /// Seals a 1-RTT packet and notes it as sent.
    pub(super) fn finish_one_rtt(
        &mut self,
        now: Instant,
        mut draft: Draft,
        id: u32,
    ) -> Option<(PathId, Vec<u8>)> {
        pad_for_sample(&mut draft);
        self.log_sent(now, &draft, Level::OneRtt, id);
        let keys = self.one_rtt.as_mut()?;
        let place = (draft.start, draft.number_at, draft.number_len);
        let pair = (keys.local.as_ref(), keys.local_header.as_ref());
        if !crypto::seal(&mut draft.out, place, pair, (id, draft.number)) {
            return None;
        }
        keys.sealed += 1;
        let path = self.paths.get_mut(&id)?;
        let bytes = (draft.out.len() - draft.start) as u64;
        let counts = draft.eliciting || draft.padded;
        let prior = path.in_flight;
        path.left_bytes += bytes;
        path.stats.sent_bytes += bytes;
        if !counts {
            path.space.sent.push_settled();
        } else {
            let snapshot = path.sampler.on_sent(now, bytes, prior);
            note_sent(now, &mut path.space, &mut draft, (bytes, snapshot));
            path.in_flight += bytes;
            path.stats.sent_packets += 1;
            match draft.again {
                Some(Again::Retransmission) => path.stats.retransmitted_packets += 1,
                Some(Again::Reinjection) => path.stats.reinjected_packets += 1,
                Some(Again::Redundancy) => path.stats.redundant_packets += 1,
                None => {}
            }
            path.cc.on_sent(now, bytes, path.in_flight, prior == 0);
            path.on_paced(now, bytes);
        }
        if draft.eliciting {
            path.silent_since.get_or_insert(now);
        }
        let net = path.net;
        self.idle_armed_by(now, draft.eliciting);
        self.check_key_limits(now);
        Some((net, draft.out))
    }

    fn idle_armed_by(&mut self, now: Instant, eliciting: bool) {
        if self.idle.on_sent(eliciting) {
            self.restart_idle(now);
        }
    }

    /// CONNECTION_CLOSE at every level that the peer may read (RFC 9000 §10.2.3).
    pub(super) fn build_close(
        &mut self,
        now: Instant,
        close: &CloseFrame,
    ) -> Option<(PathId, Vec<u8>)> {
        let levels = [Level::Initial, Level::Handshake].into_iter();
        let levels = levels.filter(|level| self.handshake.space(*level).keys.is_some());
        let levels: Vec<Level> = levels.filter(|_| !self.confirmed).collect();
        let net = self.paths.get(&0).map(|path| path.net);
        if !levels.is_empty() && !self.may_answer() {
            return None; // RFC 9000 §8.1 holds for the end, too
        }
        // RFC 9000 §14.1: the last packet fills the datagram up.
        let pads = self.is_client && levels.contains(&Level::Initial);
        let mut out = Vec::new();
        for (index, level) in levels.iter().enumerate() {
            let mut draft = self.begin_handshake(out, *level);
            draft.put(&close.frame(true));
            if pads && index + 1 == levels.len() && !self.connected {
                draft.pad_to(MIN_INITIAL_BYTES);
            }
            out = self.finish_handshake(now, draft, *level);
        }
        let best = self.paths.values().filter(|path| path.is_open());
        let best = best.min_by_key(|path| (!path.is_usable(), path.rtt.smoothed()));
        let id = best.map_or(0, |path| path.id);
        if self.connected
            && let Some(mut draft) = self.begin_one_rtt(out.clone(), id)
        {
            draft.put(&close.frame(false));
            if pads {
                draft.pad_to(MIN_INITIAL_BYTES);
            }
            return self.finish_one_rtt(now, draft, id);
        }
        (!out.is_empty()).then_some((net?, out))
    }
}

/// Four bytes of packet number and payload at least, for the sample of header protection
/// (RFC 9001 §5.4.2).
fn pad_for_sample(draft: &mut Draft) {
    let least = draft.number_at + 4;
    if draft.out.len() < least {
        draft.out.resize(least, 0);
    }
}

fn note_sent(
    now: Instant,
    space: &mut Space,
    draft: &mut Draft,
    (bytes, snapshot): (u64, recovery::SendSnapshot),
) {
    space.sent.push(SentPacket {
        sent_at: now,
        bytes,
        order: 0, // given when it is put in its place
        eliciting: draft.eliciting,
        frames: std::mem::take(&mut draft.frames),
        snapshot,
        given_up: false,
        copied: false,
        requeued: false,
    });
    if draft.eliciting {
        space.last_eliciting_at = now;
    }
}
