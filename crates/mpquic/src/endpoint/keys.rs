//! Keys of 1-RTT packets and their update (RFC 9001 §6).

use super::Endpoint;
use crate::crypto;
use crate::error::{Code, Error, TransportError};
use crate::event::Event;
use rustls::quic::{DirectionalKeys, HeaderProtectionKey, Keys, PacketKey, PacketKeySet, Secrets};
use units::{Duration, Instant};

/// Packets that the limit keeps back for the end of the connection.
const CLOSING_PACKETS: u64 = 32;

pub(super) struct OneRtt {
    pub local_header: Box<dyn HeaderProtectionKey>,
    pub remote_header: Box<dyn HeaderProtectionKey>,
    pub local: Box<dyn PacketKey>,
    remote: Box<dyn PacketKey>,
    /// Keys before the last update, for packets that are late, and when the first packet with the
    /// new ones came: the old ones are kept until then, and for a while after (RFC 9001 §6.1, §6.5).
    previous: Option<(Box<dyn PacketKey>, Option<Instant>)>,
    next: PacketKeySet,
    secrets: Secrets,
    pub phase: bool,
    /// Packets sealed with these keys, and time of the first.
    pub sealed: u64,
    phase_began: Instant,
    /// A packet of this phase was acknowledged: the next update is allowed (RFC 9001 §6.1).
    pub phase_acked: bool,
    forgeries: u64,
    /// Packets that may be sealed with one key, and forged ones that may come (RFC 9001 §6.6).
    pub limits: (u64, u64),
}

impl OneRtt {
    pub fn new(keys: Keys, mut secrets: Secrets) -> Self {
        let DirectionalKeys { header: local_header, packet: local } = keys.local;
        let DirectionalKeys { header: remote_header, packet: remote } = keys.remote;
        let next = secrets.next_packet_keys();
        let limits = (local.confidentiality_limit(), remote.integrity_limit());
        Self {
            local_header,
            remote_header,
            local,
            remote,
            previous: None,
            next,
            secrets,
            phase: false,
            sealed: 0,
            phase_began: Instant::ZERO,
            phase_acked: false,
            forgeries: 0,
            limits,
        }
    }

    fn rotate(&mut self, now: Instant, answered: Option<Instant>) {
        let next = std::mem::replace(&mut self.next, self.secrets.next_packet_keys());
        self.local = next.local;
        let old = std::mem::replace(&mut self.remote, next.remote);
        self.previous = Some((old, answered));
        self.phase = !self.phase;
        self.sealed = 0;
        self.phase_began = now;
        self.phase_acked = false;
    }

    /// Notes an acknowledged packet. One that left in the very moment of the update may have had
    /// the old keys.
    pub fn on_acked(&mut self, sent_at: Instant) {
        self.phase_acked |= sent_at > self.phase_began;
    }
}

/// What became of a packet's payload.
pub(super) enum Opened {
    Payload(usize),
    /// With the next keys: the peer has updated them.
    Updated(usize),
    Forged,
}

impl OneRtt {
    /// Decrypts a packet of the given phase (RFC 9001 §6.3: which keys are tried).
    pub fn open(
        &mut self,
        packet: &mut [u8],
        header_len: usize,
        place: (u32, u64),
        (phase, now, keep): (bool, Instant, Duration),
    ) -> Opened {
        if phase == self.phase {
            let len = crypto::open(packet, header_len, self.remote.as_ref(), place);
            if let (Some(_), Some((_, since))) = (len, &mut self.previous) {
                since.get_or_insert(now);
            }
            return len.map_or(Opened::Forged, Opened::Payload);
        }
        if self.previous.as_ref().is_some_and(|(_, since)| since.is_some_and(|at| at + keep <= now))
        {
            self.previous = None;
        }
        if let Some((previous, _)) = &self.previous {
            let mut copy = packet.to_vec();
            if let Some(len) = crypto::open(&mut copy, header_len, previous.as_ref(), place) {
                packet.copy_from_slice(&copy);
                return Opened::Payload(len);
            }
        }
        let len = crypto::open(packet, header_len, self.next.remote.as_ref(), place);
        len.map_or(Opened::Forged, Opened::Updated)
    }
}

impl Endpoint {
    /// Updates the keys of the connection (RFC 9001 §6.1): possible once the handshake is confirmed
    /// and a packet with the present keys was acknowledged.
    pub fn update_keys(&mut self, now: Instant) -> Result<(), Error> {
        let allowed = self.confirmed && self.one_rtt.as_ref().is_some_and(|keys| keys.phase_acked);
        if !allowed {
            return Err(Error::NotOpen);
        }
        self.rotate_keys(now, None);
        Ok(())
    }

    /// How long late packets with the keys before an update may come (RFC 9001 §6.5).
    pub(super) fn key_retention(&self) -> Duration {
        self.longest_pto() * 3
    }

    /// `answered`: when the peer is known to have the new keys, too, if it is.
    pub(super) fn rotate_keys(&mut self, now: Instant, answered: Option<Instant>) {
        if let Some(keys) = &mut self.one_rtt {
            keys.rotate(now, answered);
            self.totals.key_updates += 1;
            self.events.push_back(Event::KeysUpdated);
        }
    }

    /// Limits of the AEAD (RFC 9001 §6.6): an update well before the first, the end at the second.
    pub(super) fn check_key_limits(&mut self, now: Instant) {
        let Some(keys) = &self.one_rtt else { return };
        let limit = keys.limits.0;
        if keys.sealed > limit / 2 && keys.phase_acked && self.confirmed {
            self.rotate_keys(now, None);
        } else if keys.sealed + CLOSING_PACKETS >= limit {
            // The peer let us seal this many without an acknowledgement that allows an update.
            let error = TransportError::new(Code::AeadLimitReached, "too many packets with a key");
            self.fail(now, error);
        }
    }

    pub(super) fn on_forgery(&mut self) -> Result<(), TransportError> {
        let Some(keys) = &mut self.one_rtt else { return Ok(()) };
        keys.forgeries += 1;
        if keys.forgeries > keys.limits.1 {
            return Err(TransportError::new(Code::AeadLimitReached, "too many forged packets"));
        }
        Ok(())
    }
}
