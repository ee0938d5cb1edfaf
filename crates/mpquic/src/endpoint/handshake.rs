//! How the handshake begins and ends, and its datagrams.

use super::Endpoint;
use crate::cids;
use crate::error::{Error, TransportError};
use crate::event::Event;
use crate::handshake::Level;
use crate::wire::{ConnectionId, Frame, MIN_INITIAL_BYTES};
use units::{Instant, PathId};

/// Too little room in a datagram for a further packet of the handshake.
const LEAST_ROOM_BYTES: usize = 200;

impl Endpoint {
    pub(super) fn start_client(&mut self, now: Instant, net: PathId) -> Result<(), Error> {
        let local = cids::random(&mut self.rng);
        let dcid = cids::random(&mut self.rng); // RFC 9000 §7.2: at least 8 bytes
        self.handshake.start_client(&self.config, (local, dcid))?;
        self.cids.local.add(0, local);
        self.cids.peer.set_first(dcid, None);
        // The client chose the address: RFC 9000 §8.1 limits servers only.
        self.paths.add(0, net).validated = true;
        self.restart_idle(now);
        self.drive_tls(now).map_err(|error| Error::Tls(error.reason.into()))
    }

    /// A client's first packet came.
    pub(super) fn start_server(
        &mut self,
        now: Instant,
        net: PathId,
        (dcid, scid): (ConnectionId, ConnectionId),
    ) -> Result<(), TransportError> {
        let local = cids::random(&mut self.rng);
        self.handshake.start_server(&self.config, local, (dcid, scid))?;
        self.cids.local.add(0, local);
        self.cids.local.add(u32::MAX, dcid); // until the client uses ours
        self.cids.peer.set_first(scid, None);
        let proven = self.config.retried.is_some(); // RFC 9000 §8.1.2
        self.paths.add(0, net).validated = proven;
        self.restart_idle(now);
        Ok(())
    }

    /// CRYPTO data came.
    pub(super) fn on_crypto(
        &mut self,
        now: Instant,
        level: Level,
        offset: u64,
        data: &[u8],
    ) -> Result<(), TransportError> {
        self.handshake.on_crypto(level, offset, data)?;
        self.drive_tls(now)
    }

    pub(super) fn drive_tls(&mut self, now: Instant) -> Result<(), TransportError> {
        let keys = self.handshake.drive()?;
        self.keys = keys.or_else(|| self.keys.take());
        if self.keys.is_some() && self.handshake.completes() {
            self.on_complete(now)?;
        }
        Ok(())
    }

    fn on_complete(&mut self, now: Instant) -> Result<(), TransportError> {
        self.handshake.on_complete(self.config.is_client())?;
        let peer = &self.handshake.peer;
        self.streams.set_peer(peer);
        if peer.stateless_reset_token.is_some() {
            self.cids.peer.set_first(self.handshake.peer_scid, peer.stateless_reset_token);
        }
        self.paths.set_peer_ack_delay(self.handshake.peer_ack_delay());
        self.trace.event(Event::Connected);
        if let Some((ours, peers)) = self.handshake.path_limits() {
            self.paths.multipath = true;
            self.paths.ids.set_limits(ours, peers);
            self.trace.event(Event::MultipathNegotiated);
            self.announce_first_status();
        } else if self.config.max_paths > 1 {
            self.trace.event(Event::NoMultipath);
        }
        if let Some(path) = self.paths.get_mut(0) {
            path.validated |= self.config.is_client();
            path.cc.on_handshake(path.rtt.smoothed());
        }
        self.trace.parameters(now, &self.handshake.local, &self.handshake.peer);
        self.give_all_cids();
        self.restart_idle(now);
        if !self.config.is_client() {
            self.control.push(Frame::HandshakeDone);
            self.on_confirmed(now); // RFC 9001 §4.1.2
        }
        Ok(())
    }

    pub(super) fn on_confirmed(&mut self, now: Instant) {
        if self.handshake.confirmed {
            return;
        }
        self.handshake.confirmed = true;
        self.trace.event(Event::Confirmed);
        if let Some(net) = self.paths.get(0).map(|path| path.net) {
            self.trace.path_event(now, 0, Event::PathEstablished(net));
        }
        Level::LONG.into_iter().for_each(|level| self.drop_keys(level)); // RFC 9001 §4.9.2
    }

    /// Packets of a level are no longer sent, expected or in flight (RFC 9001 §4.9).
    pub(super) fn drop_keys(&mut self, level: Level) {
        let in_flight = self.handshake.drop_keys(level);
        if let Some(path) = self.paths.get_mut(0) {
            path.in_flight = path.in_flight.saturating_sub(in_flight);
        }
    }

    /// A datagram with what the Initial and Handshake spaces have to send.
    pub(super) fn handshake_datagram(&mut self, now: Instant) -> Option<(PathId, Vec<u8>)> {
        if self.handshake.confirmed {
            return None;
        }
        let wanted = self.handshake.wanting(now);
        let path = self.paths.get(0)?;
        let net = path.net;
        let size = self.config.datagram_bytes.max(MIN_INITIAL_BYTES);
        if wanted.is_empty() || path.amplification_left() < size as u64 {
            return None;
        }
        let mut out = Vec::new();
        let has_initial = wanted[0] == Level::Initial;
        for (index, level) in wanted.iter().enumerate() {
            let last = index + 1 == wanted.len() || size - out.len() < LEAST_ROOM_BYTES;
            let mut draft = self.begin_handshake(out, *level);
            self.handshake.space_mut(*level).fill(now, &mut draft);
            let more = size - draft.out.len() > LEAST_ROOM_BYTES;
            let pads = has_initial && (last || !more);
            if pads {
                draft.pad_to(MIN_INITIAL_BYTES); // RFC 9000 §14.1
            }
            out = self.finish_handshake(now, draft, *level);
            if *level == Level::Handshake && self.config.is_client() {
                self.drop_keys(Level::Initial); // RFC 9001 §4.9.1
            }
            if pads || last {
                break;
            }
        }
        self.repeat_to_twin(0, &out);
        Some((net, out))
    }
}
