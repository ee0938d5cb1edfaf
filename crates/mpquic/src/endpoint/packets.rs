//! Building packets.

use super::Endpoint;
use crate::crypto;
use crate::draft::Draft;
use crate::handshake::Level;
use crate::lifetime::CloseFrame;
use crate::trace::Origin;
use crate::wire::{Kind, MIN_INITIAL_BYTES, begin_long, begin_short, number_len};
use units::{Instant, PathId};

impl Endpoint {
    /// Begins a packet of the handshake behind what `out` has.
    pub(super) fn begin_handshake(&mut self, mut out: Vec<u8>, level: Level) -> Draft {
        let start = out.len();
        let number = self.handshake.space(level).next_number();
        let kind = if level == Level::Initial { Kind::Initial } else { Kind::Handshake };
        let dcid = self.cids.peer.current(0).unwrap_or_default();
        let cids = (&dcid, &self.handshake.local_cid);
        begin_long(&mut out, kind, cids, &self.handshake.token, number.1);
        Draft::new(out, start, number, self.config.datagram_bytes.max(MIN_INITIAL_BYTES))
    }

    /// Begins a 1-RTT packet on a path, in a datagram of its own.
    pub(super) fn begin_datagram(&mut self, id: u32) -> Option<Draft> {
        let most = self.paths.get(id)?.datagram_bytes();
        let out = self.spare.take(most);
        self.begin_one_rtt(out, id, most)
    }

    /// Begins a 1-RTT packet on a path behind what `out` has; the datagram has `most` bytes at most.
    pub(super) fn begin_one_rtt(
        &mut self,
        mut out: Vec<u8>,
        id: u32,
        most: usize,
    ) -> Option<Draft> {
        let start = out.len();
        let phase = self.keys.as_ref()?.phase;
        let dcid = self.cids.peer.use_current(id)?;
        let path = self.paths.get_mut(id)?;
        let number = path.space.sent.begin(&mut self.rng);
        let number_len = number_len(number, path.space.largest_acked);
        let limit = (self.handshake.peer.max_udp_payload_size as usize).min(most);
        let limit = limit.min(path.amplification_left().try_into().unwrap_or(usize::MAX));
        begin_short(&mut out, &dcid, phase, number_len);
        Some(Draft::new(out, start, (number, number_len), limit))
    }

    /// Whose a packet is, for the log.
    pub(super) fn origin(&self, level: Level, path: u32) -> Origin {
        Origin { level, path, multipath: self.paths.multipath }
    }

    /// Seals a packet of the handshake and notes it as sent.
    pub(super) fn finish_handshake(
        &mut self,
        now: Instant,
        mut draft: Draft,
        level: Level,
    ) -> Vec<u8> {
        draft.pad_for_sample();
        self.trace.packet_sent(now, &draft, self.origin(level, 0));
        draft.set_length();
        let space = self.handshake.space_mut(level);
        if let Some(keys) = &space.keys {
            let pair = (keys.local.packet.as_ref(), keys.local.header.as_ref());
            let (place, number) = (draft.place(), draft.number());
            crypto::seal(&mut draft.out, place, pair, (0, number));
        }
        if let Some(path) = self.paths.get_mut(0) {
            path.on_handshake_sent(now, &mut space.space, &mut draft);
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
        draft.pad_for_sample();
        self.trace.packet_sent(now, &draft, self.origin(Level::OneRtt, id));
        let place = draft.place();
        let number = draft.number();
        if !self.keys.as_mut()?.seal(&mut draft.out, place, (id, number)) {
            return None;
        }
        let path = self.paths.get_mut(id)?;
        path.on_sent(now, &mut draft);
        let net = path.net;
        self.idle_armed_by(now, draft.eliciting);
        self.check_key_limits(now);
        Some((net, draft.out))
    }

    fn idle_armed_by(&mut self, now: Instant, eliciting: bool) {
        if self.lifetime.idle.on_sent(eliciting) {
            self.restart_idle(now);
        }
    }

    /// CONNECTION_CLOSE at every level that the peer may read (RFC 9000 §10.2.3).
    pub(super) fn build_close(
        &mut self,
        now: Instant,
        close: &CloseFrame,
    ) -> Option<(PathId, Vec<u8>)> {
        let levels = Level::LONG.into_iter();
        let levels = levels.filter(|level| self.handshake.space(*level).keys.is_some());
        let levels: Vec<Level> = levels.filter(|_| !self.handshake.confirmed).collect();
        let net = self.paths.get(0).map(|path| path.net);
        if !levels.is_empty() && !self.may_answer() {
            return None; // RFC 9000 §8.1 holds for the end, too
        }
        // RFC 9000 §14.1: the last packet fills the datagram up.
        let pads = self.config.is_client() && levels.contains(&Level::Initial);
        let mut out = Vec::new();
        for (index, level) in levels.iter().enumerate() {
            let mut draft = self.begin_handshake(out, *level);
            draft.put(&close.frame(true));
            if pads && index + 1 == levels.len() && !self.handshake.complete {
                draft.pad_to(MIN_INITIAL_BYTES);
            }
            out = self.finish_handshake(now, draft, *level);
        }
        let best = self.paths.values().filter(|path| path.is_open());
        let best = best.min_by_key(|path| (!path.is_usable(), path.rtt.smoothed()));
        let first = || self.paths.get(0).filter(|path| path.drains_until.is_none());
        if self.handshake.complete
            && let Some(id) = best.or_else(first).map(|path| path.id)
            && let Some(mut draft) = self.begin_one_rtt(out.clone(), id, self.config.datagram_bytes)
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
