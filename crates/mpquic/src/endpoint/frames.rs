//! What the frames of a packet do.

use super::Endpoint;
use crate::arrival::Arrival;
use crate::error::TransportError;
use crate::event::{Closed, Event};
use crate::handshake::Level;
use crate::wire::{Frame, Reader};
use units::{Duration, Instant};

/// Our own limit for holding an acknowledgement back (RFC 9000 §18.2: the default).
const MAX_ACK_DELAY: Duration = Duration::from_millis(25);

impl Endpoint {
    pub(super) fn on_handshake_payload(
        &mut self,
        arrival: &Arrival,
        (level, number): (Level, u64),
        payload: &[u8],
    ) -> Result<(), TransportError> {
        let mut reader = Reader::new(payload);
        let mut eliciting = false;
        let mut any = false;
        while !reader.is_empty() {
            let frame = Frame::decode(&mut reader)?;
            any = true;
            eliciting |= frame.is_ack_eliciting();
            match frame {
                Frame::Ack { path: None, ack } => {
                    self.on_handshake_ack(arrival.now, level, &ack)?
                }
                Frame::Crypto { offset, data } => {
                    self.on_crypto(arrival.now, level, offset, data)?
                }
                Frame::ConnectionClose { error_code, frame_type: Some(kind), reason } => {
                    self.on_peer_close(arrival.now, error_code, Some(kind), reason);
                    return Ok(());
                }
                frame if frame.is_allowed_in_handshake() => {}
                _ => {
                    return Err(TransportError::violation(
                        "a frame that the handshake does not allow",
                    ));
                }
            }
        }
        if !any {
            return Err(TransportError::violation("an empty packet")); // RFC 9000 §12.4
        }
        // RFC 9000 §13.2.1: acknowledged at once.
        let space = self.handshake.space_mut(level);
        if space.keys.is_some() {
            // (not dropped by what the packet said)
            space.space.received.on_packet(arrival.now, number, eliciting, Duration::ZERO);
        }
        Ok(())
    }

    pub(super) fn on_payload(
        &mut self,
        arrival: &Arrival,
        (id, number): (u32, u64),
        payload: &[u8],
    ) -> Result<(), TransportError> {
        let mut reader = Reader::new(payload);
        let mut eliciting = false;
        if reader.is_empty() {
            return Err(TransportError::violation("an empty packet")); // RFC 9000 §12.4
        }
        while !reader.is_empty() {
            let frame = Frame::decode(&mut reader)?;
            eliciting |= frame.is_ack_eliciting();
            if frame.is_multipath() && !self.paths.multipath {
                return Err(TransportError::violation("a multipath frame without multipath"));
            }
            self.on_frame(arrival, id, frame)?;
        }
        if self.control.is_flooded() {
            return Err(TransportError::violation("too many requests"));
        }
        if let Some(path) = self.paths.get_mut(id) {
            path.space.received.on_packet(arrival.now, number, eliciting, MAX_ACK_DELAY);
        }
        Ok(())
    }

    fn on_frame(
        &mut self,
        arrival: &Arrival,
        id: u32,
        frame: Frame<'_>,
    ) -> Result<(), TransportError> {
        let now = arrival.now;
        match frame {
            Frame::Ack { path, ack } => self.on_path_ack(now, path.unwrap_or(0), &ack)?,
            Frame::Crypto { offset, data } => self.on_crypto(now, Level::OneRtt, offset, data)?,
            Frame::Stream { id: stream, offset, data, fin } => {
                let came = (now, arrival.net, self.paths.slowest_rtt());
                let events = &mut self.trace.events;
                let fresh = self.streams.on_data(came, (stream, offset, fin), data, events)?;
                if let Some(path) = self.paths.get_mut(id) {
                    path.stats.unique_bytes += fresh;
                }
            }
            Frame::ResetStream { .. }
            | Frame::StopSending { .. }
            | Frame::MaxData { .. }
            | Frame::MaxStreamData { .. }
            | Frame::MaxStreams { .. }
            | Frame::StreamDataBlocked { .. } => {
                let answer = self.streams.on_frame(&frame, &mut self.trace.events)?;
                self.control.extend(answer);
            }
            Frame::Datagram { data } => self.on_datagram_frame(data)?,
            Frame::ConnectionClose { error_code, frame_type, reason } => {
                self.on_peer_close(now, error_code, frame_type, reason);
            }
            Frame::HandshakeDone if self.config.is_client() => self.on_confirmed(now),
            // RFC 9000 §19.20, §19.7: only servers send these.
            Frame::HandshakeDone => {
                return Err(TransportError::violation("HANDSHAKE_DONE from a client"));
            }
            Frame::NewToken { .. } if !self.config.is_client() => {
                return Err(TransportError::violation("NEW_TOKEN from a client"));
            }
            Frame::PathChallenge { data } => {
                self.paths.on_challenge(id, arrival.net, data);
            }
            Frame::PathResponse { data } => self.on_path_response(now, id, data),
            Frame::NewConnectionId { .. }
            | Frame::RetireConnectionId { .. }
            | Frame::PathAbandon { .. }
            | Frame::PathStatus { .. }
            | Frame::MaxPathId { .. }
            | Frame::PathsBlocked { .. }
            | Frame::PathCidsBlocked { .. } => self.on_upkeep(now, &frame)?,
            _ => {}
        }
        Ok(())
    }

    fn on_datagram_frame(&mut self, data: &[u8]) -> Result<(), TransportError> {
        if data.len() as u64 >= self.config.max_datagram_bytes {
            return Err(TransportError::violation("a DATAGRAM longer than allowed")); // RFC 9221 §3
        }
        if self.datagrams.receive(data) {
            self.trace.event(Event::DatagramReceived);
        }
        Ok(())
    }

    fn on_peer_close(&mut self, now: Instant, code: u64, frame_type: Option<u64>, reason: &[u8]) {
        let reason = String::from_utf8_lossy(reason).into_owned();
        let why = match frame_type {
            Some(_) => Closed::PeerTransport(code, reason),
            None => Closed::PeerApplication(code, reason),
        };
        self.drain(now, why);
    }

    /// Whether a payload ends the connection.
    pub(super) fn has_close(&self, payload: &[u8]) -> bool {
        let mut reader = Reader::new(payload);
        while !reader.is_empty() {
            match Frame::decode(&mut reader) {
                Ok(Frame::ConnectionClose { .. }) => return true,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
        false
    }
}
