//! The TLS handshake: what it proves of both ends, its two packet number spaces, and its timers.

mod crypto_space;
mod level;

pub(crate) use crypto_space::CryptoSpace;
pub(crate) use level::Level;

use crate::cids::PER_PATH;
use crate::config::{Config, Role};
use crate::crypto;
use crate::error::{Code, Error, TransportError};
use crate::keys::OneRtt;
use crate::wire::{ConnectionId, Header, Params, VERSION_1};
use rustls::Side;
use rustls::quic::{ClientConnection, Connection, KeyChange, ServerConnection, Version};
use units::{Duration, Instant, PathId};

/// The state of the handshake, and what it settled.
#[derive(Default)]
pub(crate) struct Handshake {
    tls: Option<Connection>,
    spaces: [CryptoSpace; 3],
    /// Level at which TLS writes.
    level: usize,
    pub local_cid: ConnectionId,
    /// Of the client's first packet, before any Retry.
    original_dcid: ConnectionId,
    /// What the server called itself in its Retry.
    retry_scid: Option<ConnectionId>,
    /// Of the Retry, for our next Initial packets.
    pub token: Vec<u8>,
    /// The peer's first packet carried its connection ID.
    pub peer_known: bool,
    pub peer_scid: ConnectionId,
    pto_count: u32,
    /// Our transport parameters, and the peer's.
    pub local: Params,
    pub peer: Params,
    /// TLS is through (RFC 9001 §4.1.1).
    pub complete: bool,
    /// The peer is known to be through, too (RFC 9001 §4.1.2).
    pub confirmed: bool,
    /// The answer to an unknown version: one at a time, so that a flood of these costs no memory.
    pub version_answer: Option<(PathId, Vec<u8>)>,
}

impl Handshake {
    pub fn space(&self, level: Level) -> &CryptoSpace {
        &self.spaces[level as usize]
    }

    pub fn space_mut(&mut self, level: Level) -> &mut CryptoSpace {
        &mut self.spaces[level as usize]
    }

    /// CRYPTO data that waits, with its bookkeeping.
    pub fn held_bytes(&self) -> usize {
        self.spaces.iter().map(CryptoSpace::held_bytes).sum()
    }

    /// Whether TLS was started: a server waits for its client.
    pub fn is_started(&self) -> bool {
        self.tls.is_some()
    }

    /// How long the peer may hold an acknowledgement back; the default before it has said so.
    pub fn peer_ack_delay(&self) -> Duration {
        Duration::from_millis(self.peer.max_ack_delay_ms)
    }

    /// Silence after which the peer ends the connection; zero: never.
    pub fn peer_idle_timeout(&self) -> Duration {
        Duration::from_millis(self.peer.max_idle_timeout_ms)
    }

    // ---- how it begins -----------------------------------------------------------------------

    /// A client's, which calls itself `local_cid` and the server `dcid` for now.
    pub fn start_client(
        &mut self,
        config: &Config,
        (local_cid, dcid): (ConnectionId, ConnectionId),
    ) -> Result<(), Error> {
        let Role::Client { tls, server_name } = &config.role else { return Err(Error::NotClient) };
        (self.local_cid, self.original_dcid) = (local_cid, dcid);
        self.local = self.own_params(config);
        let params = self.local.encode();
        let tls = ClientConnection::new(tls.clone(), Version::V1, server_name.clone(), params);
        self.tls = Some(tls.map_err(|error| Error::Tls(error.to_string()))?.into());
        self.aim_at(dcid, Side::Client);
        Ok(())
    }

    /// A server's, whose client's first packet named both ends so.
    pub fn start_server(
        &mut self,
        config: &Config,
        local_cid: ConnectionId,
        (dcid, scid): (ConnectionId, ConnectionId),
    ) -> Result<(), TransportError> {
        let Role::Server { tls } = &config.role else { return Ok(()) };
        (self.local_cid, self.original_dcid) = (local_cid, dcid);
        if let Some(retried) = config.retried {
            self.original_dcid = retried.original_dcid;
            self.retry_scid = Some(retried.retry_scid);
        }
        self.local = self.own_params(config);
        let tls = ServerConnection::new(tls.clone(), Version::V1, self.local.encode());
        let error = TransportError::new(Code::InternalError, "TLS cannot start");
        self.tls = Some(tls.map_err(|_| error)?.into());
        self.aim_at(dcid, Side::Server);
        self.learn_peer(scid);
        Ok(())
    }

    fn own_params(&self, config: &Config) -> Params {
        let server = !config.is_client();
        let cid = self.local_cid;
        Params {
            original_destination_connection_id: server.then_some(self.original_dcid),
            max_idle_timeout_ms: config.idle_timeout.as_millis(),
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
            retry_source_connection_id: self.retry_scid.filter(|_| server),
            max_datagram_frame_size: config.max_datagram_bytes,
            initial_max_path_id: (config.max_paths > 1).then(|| config.max_paths - 1),
            ..Params::default()
        }
    }

    /// Initial packets are protected by keys derived from `dcid`.
    fn aim_at(&mut self, dcid: ConnectionId, side: Side) {
        self.space_mut(Level::Initial).keys = Some(crypto::initial_keys(&dcid, side));
    }

    /// The peer's packets carry its connection ID.
    pub fn learn_peer(&mut self, scid: ConnectionId) {
        self.peer_known = true;
        self.peer_scid = scid;
    }

    /// Client: whether a Version Negotiation answers its first packet and leaves no version to try
    /// (RFC 9000 §6.2).
    pub fn is_turned_away(&self, header: &Header) -> bool {
        let expected = !self.peer_known
            && self.retry_scid.is_none()
            && header.dcid == self.local_cid
            && header.scid == self.original_dcid;
        let mut versions = header.token.chunks_exact(4);
        expected && versions.all(|version| version != VERSION_1.to_be_bytes())
    }

    /// Client: a Retry came (RFC 9000 §17.2.5.2); false: it is not taken.
    pub fn on_retry(&mut self, header: &Header, packet: &[u8]) -> bool {
        let acceptable = !self.peer_known
            && self.retry_scid.is_none()
            && header.token.len() > 16
            && header.scid != self.original_dcid
            && crypto::retry_is_authentic(packet, &self.original_dcid);
        if acceptable {
            self.token = header.token[..header.token.len() - 16].to_vec();
            self.retry_scid = Some(header.scid);
            self.aim_at(header.scid, Side::Client);
            let out = &mut self.space_mut(Level::Initial).out;
            let sent = out.sent_to();
            out.on_lost(0..sent, false, 0);
        }
        acceptable
    }

    // ---- TLS ---------------------------------------------------------------------------------

    /// CRYPTO data came: TLS reads it.
    pub fn on_crypto(
        &mut self,
        level: Level,
        offset: u64,
        data: &[u8],
    ) -> Result<(), TransportError> {
        let is_over = level < self.reading();
        self.space_mut(level).insert(offset, data, is_over)?;
        while let Some(data) = self.space_mut(level).read() {
            let Some(tls) = &mut self.tls else { return Ok(()) };
            if tls.read_hs(&data).is_err() {
                let alert = tls.alert().map_or(80, u8::from); // RFC 8446 §6.2: internal_error
                return Err(TransportError::tls(alert));
            }
        }
        Ok(())
    }

    /// Another beginning, for a client that has sent nothing.
    #[cfg(test)]
    pub fn restart(&mut self, tls: Connection, local: Params, local_cid: ConnectionId) {
        (self.tls, self.local, self.local_cid) = (Some(tls), local, local_cid);
        self.space_mut(Level::Initial).out = Default::default();
    }

    /// The level at which TLS reads; it writes at a later one for a while.
    fn reading(&self) -> Level {
        match self.space(Level::Handshake).keys {
            _ if self.complete => Level::OneRtt,
            Some(_) => Level::Handshake,
            None => Level::Initial,
        }
    }

    /// Takes what TLS has to say, and its keys: those of 1-RTT packets, when they come.
    pub fn drive(&mut self) -> Result<Option<OneRtt>, TransportError> {
        let mut one_rtt = None;
        while let Some(tls) = &mut self.tls {
            let mut data = Vec::new();
            let change = tls.write_hs(&mut data);
            let is_idle = change.is_none() && data.is_empty();
            self.spaces[self.level].out.max_data = u64::MAX;
            self.spaces[self.level].out.write(&data);
            match change {
                Some(KeyChange::Handshake { keys }) => {
                    self.space(Level::Initial).check_end()?;
                    self.level = Level::Handshake as usize;
                    self.space_mut(Level::Handshake).keys = Some(keys);
                }
                Some(KeyChange::OneRtt { keys, next }) => {
                    self.level = Level::OneRtt as usize;
                    one_rtt = Some(OneRtt::new(keys, next));
                }
                None if is_idle => break,
                None => {}
            }
        }
        Ok(one_rtt)
    }

    /// The application's protocol, once both ends agreed on it.
    pub fn protocol(&self) -> Option<&[u8]> {
        self.tls.as_ref()?.alpn_protocol()
    }

    /// TLS is through, and nobody has asked for the peer's parameters yet.
    pub fn completes(&self) -> bool {
        !self.complete && self.tls.as_ref().is_some_and(|tls| !tls.is_handshaking())
    }

    /// TLS is through: takes the peer's parameters, if they fit its packets.
    pub fn on_complete(&mut self, is_client: bool) -> Result<(), TransportError> {
        self.space(Level::Handshake).check_end()?;
        let error = || TransportError::new(Code::TransportParameter, "transport parameters");
        let bytes = self.tls.as_ref().and_then(Connection::quic_transport_parameters);
        let peer = Params::decode(bytes.ok_or_else(error)?, is_client).map_err(|_| error())?;
        // RFC 9000 §7.3: the connection IDs that the parameters repeat must be those of the packets.
        let same = peer.initial_source_connection_id == Some(self.peer_scid)
            && peer.original_destination_connection_id == is_client.then_some(self.original_dcid)
            && peer.retry_source_connection_id == self.retry_scid.filter(|_| is_client);
        if !same {
            return Err(error());
        }
        if peer.initial_max_path_id.is_some() && self.peer_scid.as_slice().is_empty() {
            // draft-ietf-quic-multipath-21 §2.1
            return Err(TransportError::violation("multipath without connection IDs"));
        }
        self.complete = true;
        self.peer = peer;
        Ok(())
    }

    /// The highest path IDs that both ends allow at first, ours and the peer's; `None`: not both speak
    /// multipath.
    pub fn path_limits(&self) -> Option<(u32, u32)> {
        self.local.initial_max_path_id.zip(self.peer.initial_max_path_id)
    }

    // ---- packets and timers ------------------------------------------------------------------

    /// Levels with packets that have to leave now.
    pub fn wanting(&self, now: Instant) -> Vec<Level> {
        crypto_space::wanting(&self.spaces, now).collect()
    }

    /// Packets of a level are no longer sent, expected or in flight (RFC 9001 §4.9): how many bytes
    /// of them were.
    pub fn drop_keys(&mut self, level: Level) -> u64 {
        self.pto_count = 0;
        self.space_mut(level).drop_all()
    }

    /// A packet was acknowledged.
    pub const fn on_acked(&mut self) {
        self.pto_count = 0;
    }

    /// When something is due; `probe_at` is that of [`Handshake::probe_at`].
    pub fn timer(&self, may_answer: bool, probe_at: Option<Instant>) -> Option<Instant> {
        let spaces = Level::LONG.into_iter().map(|level| self.space(level));
        spaces.flat_map(|space| space.timers(may_answer)).chain(probe_at).min()
    }

    /// When the probe timer fires, and for which level (RFC 9002 §6.2.1, §6.2.2.1). `silent_since`:
    /// a client's, which probes without anything in flight.
    pub fn probe_at(
        &self,
        pto: Duration,
        may_answer: impl FnOnce() -> bool,
        silent_since: Option<Instant>,
    ) -> Option<(Instant, Level)> {
        if self.confirmed {
            return None;
        }
        let period = pto * (1 << self.pto_count.min(10));
        let last = |level| self.space(level).space.last_eliciting_at;
        let in_flight =
            Level::LONG.into_iter().filter(|level| self.space(*level).space.is_eliciting());
        let first = in_flight.map(|level| (last(level) + period, level)).min_by_key(|(at, _)| *at);
        if first.is_some() {
            return first.filter(|_| may_answer()); // RFC 9002 §6.2.2.1: blocked until more comes
        }
        // A client keeps probing: the server may be blocked by its anti-amplification limit.
        let has_keys = self.space(Level::Handshake).keys.is_some();
        let level = if has_keys { Level::Handshake } else { Level::Initial };
        let sent = self.space(level).space.sent.next() + u64::from(has_keys) > 0;
        let since = silent_since.filter(|_| sent)?;
        Some((last(level).max(since) + period, level))
    }

    /// The probe timer of a level fired.
    pub fn on_probe_timer(&mut self, now: Instant, level: Level) {
        self.pto_count += 1;
        Level::LONG.into_iter().for_each(|level| self.space_mut(level).probe(now));
        self.space_mut(level).ping = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::Space;

    fn ms(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    fn in_flight(space: &mut Space, at: Instant) {
        space.sent.push(crate::tests::losses::packet(at));
        space.last_eliciting_at = at;
    }

    #[test]
    fn a_client_probes_with_nothing_in_flight_and_a_server_does_not() {
        let mut client = Handshake::default();
        let pto = Duration::from_millis(100);
        assert_eq!(client.probe_at(pto, || true, Some(ms(5))), None, "nothing was sent");
        client.space_mut(Level::Initial).space.sent.push_settled();
        assert_eq!(client.probe_at(pto, || true, Some(ms(5))), Some((ms(105), Level::Initial)));
        assert_eq!(client.probe_at(pto, || true, None), None);
    }

    #[test]
    fn the_probe_timer_backs_off_and_stops_when_no_answer_may_leave() {
        let mut server = Handshake::default();
        let pto = Duration::from_millis(100);
        in_flight(&mut server.space_mut(Level::Handshake).space, ms(10));
        assert_eq!(server.probe_at(pto, || true, None), Some((ms(110), Level::Handshake)));
        assert_eq!(server.probe_at(pto, || false, None), None);
        server.on_probe_timer(ms(110), Level::Handshake);
        assert_eq!(server.probe_at(pto, || true, None), Some((ms(310), Level::Handshake)));
        server.on_acked();
        assert_eq!(server.probe_at(pto, || true, None), Some((ms(210), Level::Handshake)));
        assert_eq!(server.drop_keys(Level::Handshake), 1200);
        assert_eq!(server.probe_at(pto, || true, None), None);
    }
}
