//! The TLS handshake, its two packet number spaces and their datagrams.

use super::Endpoint;
use super::frames::violation;
use crate::cids::PER_PATH;
use crate::config::Role;
use crate::crypto;
use crate::error::{Code, Error, TransportError};
use crate::event::Event;
use crate::path::Space;
use crate::space::SentFrame;
use crate::streams::{Assembler, SendHalf};
use crate::wire::{ConnectionId, Frame, MIN_INITIAL_BYTES, Params};
use rand::Rng;
use rustls::Side;
use rustls::quic::{Connection, KeyChange, Keys, Version};
use std::ops::Range;
use units::{Duration, Instant, PathId};

/// CRYPTO data that may wait out of order (RFC 9000 §7.5: at least 4096).
const CRYPTO_BUFFER_BYTES: u64 = 64 << 10;

/// An encryption level with CRYPTO data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Initial,
    Handshake,
    OneRtt,
}

/// CRYPTO data of a level, both ways, and for the first two their packets.
#[derive(Default)]
pub(super) struct CryptoSpace {
    pub keys: Option<Keys>,
    pub space: Space,
    pub out: SendHalf,
    incoming: Assembler,
    /// A probe is due even without data.
    pub ping: bool,
}

/// The state of the handshake.
#[derive(Default)]
pub(super) struct Handshake {
    pub tls: Option<Connection>,
    spaces: [CryptoSpace; 3],
    /// Level at which TLS writes.
    level: usize,
    pub local_cid: ConnectionId,
    /// Of the client's first packet, before any Retry.
    pub original_dcid: ConnectionId,
    /// What the server called itself in its Retry.
    pub retry_scid: Option<ConnectionId>,
    pub token: Vec<u8>,
    /// The peer's first packet carried its connection ID.
    pub peer_known: bool,
    peer_scid: ConnectionId,
    pub pto_count: u32,
}

impl Handshake {
    pub fn space(&self, level: Level) -> &CryptoSpace {
        &self.spaces[level as usize]
    }

    /// CRYPTO data that waits, with its bookkeeping.
    pub fn held_bytes(&self) -> usize {
        let held = |space: &CryptoSpace| {
            space.incoming.held_bytes() + space.incoming.overhead_bytes() + space.out.held_bytes()
        };
        self.spaces.iter().map(held).sum()
    }

    /// Another beginning, for a client that has sent nothing.
    #[cfg(test)]
    pub fn restart(&mut self, tls: Connection, local_cid: ConnectionId) {
        (self.tls, self.local_cid) = (Some(tls), local_cid);
        self.space_mut(Level::Initial).out = SendHalf::default();
    }

    /// The level at which TLS reads; it writes at a later one for a while.
    fn reading(&self, complete: bool) -> Level {
        match self.space(Level::Handshake).keys {
            _ if complete => Level::OneRtt,
            Some(_) => Level::Handshake,
            None => Level::Initial,
        }
    }

    pub fn space_mut(&mut self, level: Level) -> &mut CryptoSpace {
        &mut self.spaces[level as usize]
    }
}

impl Endpoint {
    pub(super) fn start_client(&mut self, now: Instant, net: PathId) -> Result<(), Error> {
        self.handshake.local_cid = self.new_cid();
        let mut dcid = [0; 8]; // RFC 9000 §7.2: at least 8 bytes
        self.rng.fill_bytes(&mut dcid);
        self.handshake.original_dcid = ConnectionId::new(&dcid).unwrap_or_default();
        self.local_cids.add(0, self.handshake.local_cid);
        self.local = self.own_params();
        let Role::Client { tls, server_name } = &self.config.role else {
            return Err(Error::NotClient);
        };
        let params = self.local.encode();
        let tls = rustls::quic::ClientConnection::new(
            tls.clone(),
            Version::V1,
            server_name.clone(),
            params,
        );
        let tls = tls.map_err(|error| Error::Tls(error.to_string()))?;
        self.handshake.tls = Some(tls.into());
        self.aim_at(self.handshake.original_dcid);
        let mut path = self.new_path(0, net);
        path.validated = true; // the client chose the address: RFC 9000 §8.1 limits servers only
        self.paths.insert(path);
        self.restart_idle(now);
        self.drive_tls(now).map_err(|error| Error::Tls(error.reason.into()))
    }

    /// Initial packets go to `dcid`, under keys derived from it.
    pub(super) fn aim_at(&mut self, dcid: ConnectionId) {
        let side = if self.is_client { Side::Client } else { Side::Server };
        self.peer_cids.set_first(dcid, None);
        self.handshake.space_mut(Level::Initial).keys = Some(crypto::initial_keys(&dcid, side));
    }

    /// A client's first packet came.
    pub(super) fn start_server(
        &mut self,
        now: Instant,
        net: PathId,
        (dcid, scid): (ConnectionId, ConnectionId),
    ) -> Result<(), TransportError> {
        self.handshake.local_cid = self.new_cid();
        self.handshake.original_dcid = dcid;
        if let Some(retried) = self.config.retried {
            self.handshake.original_dcid = retried.original_dcid;
            self.handshake.retry_scid = Some(retried.retry_scid);
        }
        self.local_cids.add(0, self.handshake.local_cid);
        self.local = self.own_params();
        let Role::Server { tls } = &self.config.role else { return Ok(()) };
        let tls =
            rustls::quic::ServerConnection::new(tls.clone(), Version::V1, self.local.encode());
        let error = TransportError::new(Code::InternalError, "TLS cannot start");
        self.handshake.tls = Some(tls.map_err(|_| error)?.into());
        self.aim_at(dcid);
        self.local_cids.add(u32::MAX, dcid); // until the client uses ours
        self.learn_peer(scid);
        let mut path = self.new_path(0, net);
        path.validated = self.config.retried.is_some(); // RFC 9000 §8.1.2
        self.paths.insert(path);
        self.restart_idle(now);
        Ok(())
    }

    pub(super) fn learn_peer(&mut self, scid: ConnectionId) {
        self.handshake.peer_known = true;
        self.handshake.peer_scid = scid;
        self.peer_cids.set_first(scid, None);
    }

    fn own_params(&self) -> Params {
        let config = &self.config;
        let server = !self.is_client;
        let cid = self.handshake.local_cid;
        Params {
            original_destination_connection_id: server.then_some(self.handshake.original_dcid),
            max_idle_timeout_ms: config.idle_timeout.as_millis() as u64,
            stateless_reset_token: server.then(|| crypto::reset_token(&config.reset_key, &cid)),
            initial_max_data: config.receive_window_bytes,
            initial_max_stream_data_bidi_local: config.stream_window_bytes,
            initial_max_stream_data_bidi_remote: config.stream_window_bytes,
            initial_max_stream_data_uni: config.stream_window_bytes,
            initial_max_streams_bidi: config.max_streams,
            initial_max_streams_uni: config.max_streams,
            // With it a peer might open no path (draft-ietf-quic-multipath-21 §2.2).
            disable_active_migration: config.max_paths <= 1,
            active_connection_id_limit: PER_PATH,
            initial_source_connection_id: Some(cid),
            retry_source_connection_id: self.handshake.retry_scid.filter(|_| server),
            max_datagram_frame_size: config.max_datagram_bytes,
            initial_max_path_id: (config.max_paths > 1).then(|| config.max_paths - 1),
            ..Params::default()
        }
    }

    /// CRYPTO data came.
    pub(super) fn on_crypto(
        &mut self,
        now: Instant,
        level: Level,
        offset: u64,
        data: &[u8],
    ) -> Result<(), TransportError> {
        let is_over = level < self.handshake.reading(self.connected);
        let space = self.handshake.space_mut(level);
        if is_over && offset + data.len() as u64 > space.incoming.read_offset() {
            return Err(violation("CRYPTO data of a level that is over")); // RFC 9001 §4.1.3
        }
        if offset + data.len() as u64 > space.incoming.read_offset() + CRYPTO_BUFFER_BYTES {
            return Err(TransportError::new(Code::CryptoBufferExceeded, "CRYPTO data far ahead"));
        }
        space.incoming.insert(offset, data);
        if space.incoming.overhead_bytes() as u64 > CRYPTO_BUFFER_BYTES {
            return Err(TransportError::new(Code::CryptoBufferExceeded, "CRYPTO data in crumbs"));
        }
        while let Some(data) = self.handshake.space_mut(level).incoming.read(usize::MAX) {
            let Some(tls) = &mut self.handshake.tls else { return Ok(()) };
            if tls.read_hs(&data).is_err() {
                let alert = tls.alert().map_or(80, u8::from); // RFC 8446 §6.2: internal_error
                return Err(TransportError::tls(alert));
            }
        }
        self.drive_tls(now)
    }

    /// Takes what TLS has to say, and its keys.
    pub(super) fn drive_tls(&mut self, now: Instant) -> Result<(), TransportError> {
        loop {
            let Some(tls) = &mut self.handshake.tls else { return Ok(()) };
            let mut data = Vec::new();
            let change = tls.write_hs(&mut data);
            let is_idle = change.is_none() && data.is_empty();
            self.handshake.spaces[self.handshake.level].out.max_data = u64::MAX;
            self.handshake.spaces[self.handshake.level].out.write(&data);
            match change {
                Some(KeyChange::Handshake { keys }) => {
                    self.check_end_of(Level::Initial)?;
                    self.handshake.level = Level::Handshake as usize;
                    self.handshake.space_mut(Level::Handshake).keys = Some(keys);
                }
                Some(KeyChange::OneRtt { keys, next }) => {
                    self.handshake.level = Level::OneRtt as usize;
                    self.one_rtt = Some(super::OneRtt::new(keys, next));
                }
                None if is_idle => break,
                None => {}
            }
        }
        let complete = self.handshake.tls.as_ref().is_some_and(|tls| !tls.is_handshaking());
        if complete && self.one_rtt.is_some() && !self.connected {
            self.check_end_of(Level::Handshake)?;
            self.on_complete(now)?;
        }
        Ok(())
    }

    /// Nothing of a level may wait for bytes before it when TLS has read the last ones (RFC 9001 §4.1.3).
    fn check_end_of(&self, level: Level) -> Result<(), TransportError> {
        let waits = self.handshake.space(level).incoming.waiting_bytes() > 0;
        if waits { Err(violation("CRYPTO data behind the end of a level")) } else { Ok(()) }
    }

    fn on_complete(&mut self, now: Instant) -> Result<(), TransportError> {
        let error = TransportError::new(Code::TransportParameter, "transport parameters");
        let bytes = self.handshake.tls.as_ref().and_then(|tls| tls.quic_transport_parameters());
        let peer = Params::decode(bytes.ok_or(error.clone())?, self.is_client)
            .map_err(|_| error.clone())?;
        // RFC 9000 §7.3: the connection IDs that the parameters repeat must be those of the packets.
        let own = self.is_client.then_some(self.handshake.original_dcid);
        let same = peer.initial_source_connection_id == Some(self.handshake.peer_scid)
            && peer.original_destination_connection_id == own
            && peer.retry_source_connection_id
                == self.handshake.retry_scid.filter(|_| self.is_client);
        if !same {
            return Err(error);
        }
        if peer.initial_max_path_id.is_some() && self.handshake.peer_scid.as_slice().is_empty() {
            // draft-ietf-quic-multipath-21 §2.1
            return Err(violation("multipath without connection IDs"));
        }
        self.connected = true;
        self.streams.set_peer(&peer);
        if peer.stateless_reset_token.is_some() {
            self.peer_cids.set_first(self.handshake.peer_scid, peer.stateless_reset_token);
        }
        let limits = self.local.initial_max_path_id.zip(peer.initial_max_path_id);
        self.peer = peer;
        self.events.push_back(Event::Connected);
        if let Some((ours, peers)) = limits {
            self.multipath = true;
            self.path_ids.set_limits(ours, peers);
            self.events.push_back(Event::MultipathNegotiated);
            self.announce_first_status();
        } else if self.config.max_paths > 1 {
            self.events.push_back(Event::NoMultipath);
        }
        if let Some(path) = self.paths.get_mut(&0) {
            path.validated |= self.is_client;
            path.peer_ack_delay = Duration::from_millis(self.peer.max_ack_delay_ms);
            path.cc.on_handshake(path.rtt.smoothed());
        }
        self.log_parameters(now);
        self.give_cids();
        self.restart_idle(now);
        if !self.is_client {
            self.control.push_back(Frame::HandshakeDone);
            self.on_confirmed(now); // RFC 9001 §4.1.2
        }
        Ok(())
    }

    pub(super) fn on_confirmed(&mut self, now: Instant) {
        if !self.confirmed {
            self.confirmed = true;
            self.events.push_back(Event::Confirmed);
            let net = self.paths.get(&0).map(|path| path.net);
            if let Some(net) = net {
                self.tell_of_path(now, 0, Event::PathEstablished(net));
            }
            self.drop_keys(Level::Initial);
            self.drop_keys(Level::Handshake); // RFC 9001 §4.9.2
        }
    }

    /// Packets of a level are no longer sent, expected or in flight (RFC 9001 §4.9).
    pub(super) fn drop_keys(&mut self, level: Level) {
        let space = std::mem::take(self.handshake.space_mut(level));
        if let Some(path) = self.paths.get_mut(&0) {
            let in_flight: u64 = space.space.sent.iter().map(|(_, packet)| packet.bytes).sum();
            path.in_flight = path.in_flight.saturating_sub(in_flight);
        }
        self.handshake.pto_count = 0;
    }

    // ---- datagrams ---------------------------------------------------------------------------

    fn wants_handshake_packet(&self, now: Instant, level: Level) -> bool {
        let space = self.handshake.space(level);
        let ack_due = space.space.received.ack_at.is_some_and(|at| at <= now);
        space.keys.is_some()
            && (space.ping || ack_due || space.out.has_again() || space.out.has_new())
    }

    /// A datagram with what the Initial and Handshake spaces have to send.
    pub(super) fn handshake_datagram(&mut self, now: Instant) -> Option<(PathId, Vec<u8>)> {
        if self.confirmed {
            return None;
        }
        let levels = [Level::Initial, Level::Handshake];
        let wanted: Vec<Level> =
            levels.into_iter().filter(|level| self.wants_handshake_packet(now, *level)).collect();
        let path = self.paths.get(&0)?;
        let net = path.net;
        let size = self.config.datagram_bytes.max(MIN_INITIAL_BYTES);
        if wanted.is_empty() || path.amplification_left() < size as u64 {
            return None;
        }
        let mut out = Vec::new();
        let has_initial = wanted[0] == Level::Initial;
        for (index, level) in wanted.iter().enumerate() {
            let last = index + 1 == wanted.len() || size - out.len() < 200;
            let mut draft = self.begin_handshake(out, *level);
            self.fill_handshake(now, &mut draft, *level);
            let more = size - draft.out.len() > 200;
            let pads = has_initial && (last || !more);
            if pads {
                draft.pad_to(MIN_INITIAL_BYTES); // RFC 9000 §14.1
            }
            out = self.finish_handshake(now, draft, *level);
            if *level == Level::Handshake && self.is_client {
                self.drop_keys(Level::Initial); // RFC 9001 §4.9.1
            }
            if pads || last {
                break;
            }
        }
        Some((net, out))
    }

    fn fill_handshake(&mut self, now: Instant, draft: &mut super::packets::Draft, level: Level) {
        let space = self.handshake.space_mut(level);
        if let Some(ack) = space.space.received.ack(now, 0)
            && draft.put(&Frame::Ack { path: None, ack })
        {
            space.space.received.on_ack_sent();
        }
        self.fill_crypto(draft, level);
        let space = self.handshake.space_mut(level);
        if std::mem::take(&mut space.ping) && !draft.eliciting {
            draft.put(&Frame::Ping);
        }
    }

    /// Writes CRYPTO frames while there are some and they fit.
    pub(super) fn fill_crypto(&mut self, draft: &mut super::packets::Draft, level: Level) {
        const HEAD: usize = 1 + 8 + 4; // type, offset, length
        let out = &mut self.handshake.space_mut(level).out;
        while draft.room() > HEAD {
            let max = (draft.room() - HEAD) as u64;
            let again = out.next_again(max).map(|(range, ..)| range);
            let new = || Some(out.next_new(max, u64::MAX)?.0);
            let Some(range) = again.or_else(new) else { return };
            let mut data = Vec::new();
            out.copy(&range, &mut data);
            draft.put(&Frame::Crypto { offset: range.start, data: &data });
            draft.frames.push(SentFrame::Crypto(range));
        }
    }

    pub(super) fn on_crypto_lost(&mut self, level: Level, range: Range<u64>) {
        self.handshake.space_mut(level).out.on_lost(range, false, 0);
    }
}
