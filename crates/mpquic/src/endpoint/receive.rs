//! Datagrams that come.

use super::Endpoint;
use crate::arrival::Arrival;
use crate::cids::LOCAL_LEN;
use crate::crypto;
use crate::ecn::Ecn;
use crate::error::{Code, TransportError};
use crate::event::Closed;
use crate::handshake::Level;
use crate::keys::Opened;
use crate::path::MAX_NETS;
use crate::wire::{
    ConnectionId, Header, Kind, MIN_INITIAL_BYTES, WireError, parse, version_negotiation,
};
use std::ops::Range;
use units::{Duration, Instant, PathId};

/// Reserved bits of the first byte (RFC 9000 §17.2, §17.3.1).
const RESERVED_LONG: u8 = 0x0c;
const RESERVED_SHORT: u8 = 0x18;
const KEY_PHASE: u8 = crate::wire::KEY_PHASE_BIT;

impl Endpoint {
    /// A datagram came on `path`.
    pub fn handle(&mut self, now: Instant, path: PathId, mut datagram: Vec<u8>, ecn: Option<Ecn>) {
        self.handle_in_place(now, path, &mut datagram, ecn);
    }

    /// The memory of a datagram that this end sent, for one that it will send: where both ends are in one
    /// program, an allocation for each packet is a good part of what a packet costs.
    pub fn reuse(&mut self, datagram: Vec<u8>) {
        self.spare.give(datagram);
    }

    /// The same with a datagram that lies in a buffer of the caller's; it is decrypted there.
    pub fn handle_in_place(
        &mut self,
        now: Instant,
        path: PathId,
        datagram: &mut [u8],
        ecn: Option<Ecn>,
    ) {
        if !self.lifetime.is_open() {
            return self.handle_late(now, datagram, path);
        }
        if path.0 >= MAX_NETS {
            self.trace.totals.dropped_packets += 1;
            return;
        }
        self.scheduling.turn.end();
        let mut arrival = Arrival::of(now, path, ecn, datagram);
        let mut start = 0;
        while start < datagram.len() && self.lifetime.is_open() {
            let header = match parse(&datagram[start..], LOCAL_LEN) {
                Ok(header) => header,
                Err(error) => {
                    if !(start == 0 && self.is_reset(&arrival)) {
                        self.on_unreadable(&arrival, datagram, start, error);
                    }
                    return;
                }
            };
            let end = start + header.len;
            let packet = &mut datagram[start..end];
            if let Err(error) = self.on_packet(&arrival, &header, packet, start == 0) {
                self.fail(now, error);
            }
            start = end;
            if self.paths.values().next().is_some() {
                arrival.uncounted_bytes = 0; // a datagram counts once, however many packets it has
            }
        }
    }

    fn on_unreadable(
        &mut self,
        arrival: &Arrival,
        datagram: &[u8],
        start: usize,
        error: WireError,
    ) {
        let trigger = match error {
            WireError::Version(_) => "unsupported",
            _ => "invalid",
        };
        self.trace.packet_dropped(arrival, datagram.len() - start, trigger);
        let idle_server = !self.config.is_client() && !self.handshake.is_started();
        if start == 0 && idle_server && matches!(error, WireError::Version(_)) {
            let answer = || Some((arrival.net, version_negotiation(datagram, 0x15)?));
            let waiting = self.handshake.version_answer.take();
            self.handshake.version_answer = waiting.or_else(answer);
        }
    }

    /// While closing or draining only the peer's own end of the connection matters.
    fn handle_late(&mut self, now: Instant, datagram: &mut [u8], net: PathId) {
        self.lifetime.on_datagram_while_closing();
        let arrival = Arrival::new(now, net, None, datagram.len());
        if let Ok(header) = parse(datagram, LOCAL_LEN)
            && header.kind == Kind::Short
            && let Some(id) = self.cids.local.path_of(&header.dcid)
            && let Ok(Some((_, _, payload))) = self.open_short(&arrival, &header, datagram, id)
            && self.has_close(&datagram[payload])
        {
            self.drain(now, Closed::Local);
        }
    }

    fn on_packet(
        &mut self,
        arrival: &Arrival,
        header: &Header,
        packet: &mut [u8],
        first: bool,
    ) -> Result<(), TransportError> {
        match header.kind {
            Kind::VersionNegotiation => self.on_version_negotiation(arrival.now, header),
            Kind::Retry => self.on_retry(arrival, header, packet),
            Kind::ZeroRtt => self.trace.packet_dropped(arrival, packet.len(), "unsupported"),
            Kind::Initial => return self.on_long(arrival, header, packet, (Level::Initial, first)),
            Kind::Handshake => {
                return self.on_long(arrival, header, packet, (Level::Handshake, first));
            }
            Kind::Short => return self.on_short(arrival, header, packet, first),
        }
        Ok(())
    }

    /// Nothing but a list without our version ends the attempt (RFC 9000 §6.2).
    fn on_version_negotiation(&mut self, now: Instant, header: &Header) {
        if self.config.is_client() && self.handshake.is_turned_away(header) {
            self.die(now, Some(Closed::VersionMismatch));
        }
    }

    fn on_retry(&mut self, arrival: &Arrival, header: &Header, packet: &[u8]) {
        if self.config.is_client() && self.handshake.on_retry(header, packet) {
            self.cids.peer.set_first(header.scid, None);
        } else {
            self.trace.packet_dropped(arrival, packet.len(), "rejected");
        }
    }

    fn on_long(
        &mut self,
        arrival: &Arrival,
        header: &Header,
        packet: &mut [u8],
        (level, first): (Level, bool),
    ) -> Result<(), TransportError> {
        if !self.may_be_ours(arrival, header, (level, packet))? {
            if !(first && self.is_reset(arrival)) {
                self.trace.packet_dropped(arrival, packet.len(), "connection_unknown");
            }
            return Ok(());
        }
        let space = self.handshake.space(level);
        let Some(keys) = &space.keys else {
            let _ = first && self.is_reset(arrival); // these keys are over, or not there yet
            return Ok(());
        };
        let remote = (keys.remote.header.as_ref(), keys.remote.packet.as_ref());
        let opened =
            crypto::unprotect(packet, header.number_at, remote.0).and_then(|(len, low)| {
                let number = crate::wire::decode_number(space.space.received.largest(), low, len);
                let at = header.number_at + len;
                let plain = crypto::open(packet, at, remote.1, (0, number))?;
                Some((number, at..at + plain))
            });
        let Some((number, payload)) = opened else {
            let limit = keys.remote.packet.integrity_limit();
            if first && self.is_reset(arrival) {
                return Ok(());
            }
            self.trace.packet_dropped(arrival, packet.len(), "decryption_failure");
            return self.lifetime.forgeries.count(limit);
        };
        if packet[0] & RESERVED_LONG != 0 {
            return Err(TransportError::new(Code::ProtocolViolation, "reserved bits"));
        }
        if self.handshake.space(level).space.received.is_duplicate(number) {
            self.note_copy(arrival, 0);
            self.trace.packet_dropped(arrival, packet.len(), "duplicate");
            return Ok(());
        }
        if self.config.is_client() && !self.handshake.peer_known {
            self.handshake.learn_peer(header.scid);
            self.cids.peer.set_first(header.scid, None);
        }
        let newest = self.handshake.space(level).space.received.largest();
        self.note_way(arrival, 0, newest.is_none_or(|newest| number > newest));
        self.on_authentic(arrival);
        self.handshake.space_mut(level).space.received.count(arrival.ecn);
        if level == Level::Handshake && !self.config.is_client() {
            // RFC 9000 §8.1: the address is proven; RFC 9001 §4.9.1: Initial keys are over.
            if let Some(path) = self.paths.get_mut(0) {
                path.validated = true;
            }
            self.drop_keys(Level::Initial);
            self.cids.local.drop_path(u32::MAX);
        }
        let payload = &packet[payload];
        let origin = self.origin(level, 0);
        self.trace.packet_received(arrival.now, (origin, number), (payload, packet.len()));
        self.on_handshake_payload(arrival, (level, number), payload)
    }

    /// Whether a long header may belong to this connection; the first Initial makes the server's.
    fn may_be_ours(
        &mut self,
        arrival: &Arrival,
        header: &Header,
        (level, packet): (Level, &[u8]),
    ) -> Result<bool, TransportError> {
        let small = arrival.datagram_len < MIN_INITIAL_BYTES;
        if level == Level::Initial && !self.config.is_client() && small {
            return Ok(false); // RFC 9000 §14.1
        }
        if self.config.is_client() && !header.token.is_empty() {
            return Ok(false); // RFC 9000 §17.2.2: servers have none to show
        }
        if !self.config.is_client() && !self.handshake.is_started() {
            if level != Level::Initial || header.dcid.as_slice().len() < 8 {
                return Ok(false); // RFC 9000 §7.2
            }
            if self.config.retried.is_some_and(|retried| retried.retry_scid != header.dcid) {
                return Ok(false); // not the packet that the token was in
            }
            if !opens_as_first(header, packet) {
                return Ok(false); // no state for what is damaged or made up
            }
            self.start_server(arrival.now, arrival.net, (header.dcid, header.scid))?;
        }
        self.count_arrival(arrival, 0);
        let known = self.cids.local.path_of(&header.dcid).is_some();
        let same_peer = !self.handshake.peer_known || self.is_peer(&header.scid);
        Ok(known && same_peer)
    }

    fn is_peer(&self, scid: &ConnectionId) -> bool {
        self.cids.peer.current(0).as_ref() == Some(scid) || self.handshake.confirmed
    }

    /// Where an authentic packet that is no copy came from; clients know where the server is.
    fn note_way(&mut self, arrival: &Arrival, id: u32, newest: bool) {
        if !self.config.is_client() {
            let can_ask = self.handshake.complete;
            self.paths.note_way(arrival, (id, newest), can_ask, &mut self.rng);
        }
    }

    /// Where a copy came from.
    fn note_copy(&mut self, arrival: &Arrival, id: u32) {
        if !self.config.is_client() {
            let can_ask = self.handshake.complete;
            self.paths.note_copy(arrival, id, can_ask, &mut self.rng);
        }
    }

    /// Counts towards what may be sent to an address that is not proven (RFC 9000 §8.1).
    fn count_arrival(&mut self, arrival: &Arrival, id: u32) {
        if let Some(path) = self.paths.get_mut(id)
            && path.net == arrival.net
            && !path.validated
        {
            path.came_bytes += arrival.uncounted_bytes as u64;
        }
    }

    fn on_short(
        &mut self,
        arrival: &Arrival,
        header: &Header,
        packet: &mut [u8],
        first: bool,
    ) -> Result<(), TransportError> {
        let id = self.cids.local.path_of(&header.dcid).filter(|id| *id != u32::MAX);
        // Before the handshake is complete nothing may be processed (RFC 9001 §5.7).
        let opened = match id.filter(|_| self.handshake.complete) {
            Some(id) => self.open_short(arrival, header, packet, id)?,
            None => None,
        };
        let Some((id, number, payload)) = opened else {
            if first && self.is_reset(arrival) {
                return Ok(());
            }
            self.trace.packet_dropped(arrival, packet.len(), "decryption_failure");
            let limit = self.keys.as_ref().map_or(u64::MAX, |keys| keys.limits.1);
            return self.lifetime.forgeries.count(limit);
        };
        if packet[0] & RESERVED_SHORT != 0 {
            return Err(TransportError::new(Code::ProtocolViolation, "reserved bits"));
        }
        self.on_opened(arrival, (id, number), (&packet[payload], packet.len()))
    }

    /// Whether a datagram whose first packet cannot be read is a stateless reset, whatever its header
    /// looks like; that ends the connection (RFC 9000 §10.3.1).
    fn is_reset(&mut self, arrival: &Arrival) -> bool {
        let found = arrival.token.is_some_and(|token| self.cids.peer.is_reset(&token));
        if found {
            self.drain(arrival.now, Closed::StatelessReset);
        }
        found
    }

    /// An authentic 1-RTT packet.
    pub(super) fn on_opened(
        &mut self,
        arrival: &Arrival,
        (id, number): (u32, u64),
        (payload, packet_len): (&[u8], usize),
    ) -> Result<(), TransportError> {
        self.accept_path(arrival, id)?;
        let Some(path) = self.paths.get_mut(id) else { return Ok(()) };
        if path.space.received.is_duplicate(number) {
            self.note_copy(arrival, id);
            self.trace.packet_dropped(arrival, packet_len, "duplicate");
            return Ok(());
        }
        let newest = path.space.received.largest().is_none_or(|largest| number > largest);
        self.count_arrival(arrival, id);
        self.note_way(arrival, id, newest);
        self.on_authentic(arrival);
        if let Some(path) = self.paths.get_mut(id) {
            path.space.received.count(arrival.ecn);
            path.heard_at = arrival.now;
        }
        let origin = self.origin(Level::OneRtt, id);
        self.trace.packet_received(arrival.now, (origin, number), (payload, packet_len));
        self.on_payload(arrival, (id, number), payload)
    }

    /// Decrypts a 1-RTT packet: its path and number and where its payload is, if it is authentic. Takes
    /// the peer's key update with it.
    fn open_short(
        &mut self,
        arrival: &Arrival,
        header: &Header,
        packet: &mut [u8],
        id: u32,
    ) -> Result<Option<(u32, u64, Range<usize>)>, TransportError> {
        let remote_header = self.keys.as_ref().map(|keys| keys.remote_header.as_ref());
        let unprotected =
            remote_header.and_then(|key| crypto::unprotect(packet, header.number_at, key));
        let (Some((len, low)), Some(keys)) = (unprotected, &mut self.keys) else { return Ok(None) };
        let largest = self.paths.get(id).and_then(|path| path.space.received.largest());
        let number = crate::wire::decode_number(largest, low, len);
        let phase = packet[0] & KEY_PHASE != 0;
        let at = header.number_at + len;
        // RFC 9001 §6.5: how long the keys before an update are kept.
        let other_phase = phase != keys.phase;
        let keep = if other_phase { self.paths.longest_pto() * 3 } else { Duration::ZERO };
        let plain = match keys.open(packet, at, (id, number), (phase, arrival.now, keep))? {
            Opened::Payload(plain) => plain,
            Opened::Updated(plain) => {
                self.rotate_keys(arrival.now, Some((arrival.now, id, number)));
                plain
            }
            Opened::Forged => return Ok(None),
        };
        Ok(Some((id, number, at..at + plain)))
    }

    /// An authentic packet of a path that is not there yet: the client has opened it.
    fn accept_path(&mut self, arrival: &Arrival, id: u32) -> Result<(), TransportError> {
        if self.paths.contains(id) {
            return Ok(());
        }
        if self.config.is_client() || !self.paths.multipath || !self.paths.ids.take(id) {
            return Ok(()); // a path that is over
        }
        self.paths.add(id, arrival.net).begin_challenge(&mut self.rng);
        Ok(())
    }

    fn on_authentic(&mut self, arrival: &Arrival) {
        self.lifetime.idle.on_heard();
        self.restart_idle(arrival.now);
    }
}

/// Whether a first packet is what its connection ID says (RFC 9001 §5.2).
fn opens_as_first(header: &Header, packet: &[u8]) -> bool {
    let keys = crypto::initial_keys(&header.dcid, rustls::Side::Server).remote;
    let mut packet = packet.to_vec();
    let number = crypto::unprotect(&mut packet, header.number_at, keys.header.as_ref());
    number.is_some_and(|(len, low)| {
        let number = crate::wire::decode_number(None, low, len);
        crypto::open(&mut packet, header.number_at + len, keys.packet.as_ref(), (0, number))
            .is_some()
    })
}
