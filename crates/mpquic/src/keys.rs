//! Keys of 1-RTT packets and their update (RFC 9001 §6).

use crate::crypto;
use crate::error::TransportError;
use crate::key_order::KeyOrder;
use rustls::quic::{DirectionalKeys, HeaderProtectionKey, Keys, PacketKey, PacketKeySet, Secrets};
use units::{Duration, Instant};

/// Packets that the limit keeps back for the end of the connection.
const CLOSING_PACKETS: u64 = 32;

pub(crate) struct OneRtt {
    local_header: Box<dyn HeaderProtectionKey>,
    pub remote_header: Box<dyn HeaderProtectionKey>,
    local: Box<dyn PacketKey>,
    remote: Box<dyn PacketKey>,
    /// Keys before the last update, for packets that are late, and when the first packet with the
    /// new ones came: the old ones are kept until then, and for a while after (RFC 9001 §6.1, §6.5).
    previous: Option<(Box<dyn PacketKey>, Option<Instant>)>,
    next: PacketKeySet,
    secrets: Secrets,
    pub phase: bool,
    /// Packets sealed with these keys, and time of the first.
    sealed: u64,
    phase_began: Instant,
    /// A packet of this phase was acknowledged: the next update is allowed (RFC 9001 §6.1).
    phase_acked: bool,
    /// Packets that may be sealed with one key, and forged ones that may come (RFC 9001 §6.6).
    pub limits: (u64, u64),
    pub order: KeyOrder,
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
            limits,
            order: KeyOrder::default(),
        }
    }

    /// Updates the keys. `first`: the peer's packet with the new ones, if that is what asks for it: when
    /// it came, of which path, with which number.
    pub fn rotate(&mut self, now: Instant, first: Option<(Instant, u32, u64)>) {
        self.order.on_update();
        if let Some((_, path, number)) = first {
            let _in_order = self.order.on_present(path, number); // `open` has looked
        }
        let answered = first.map(|(at, ..)| at);
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
pub(crate) enum Opened {
    Payload(usize),
    /// With the next keys: the peer has updated them.
    Updated(usize),
    Forged,
}

impl OneRtt {
    /// Decrypts a packet of the given phase (RFC 9001 §6.3: which keys are tried).
    ///
    /// # Errors
    /// KEY_UPDATE_ERROR: it has older keys than one before it (RFC 9001 §6.4).
    pub fn open(
        &mut self,
        packet: &mut [u8],
        header_len: usize,
        place: (u32, u64),
        (phase, now, keep): (bool, Instant, Duration),
    ) -> Result<Opened, TransportError> {
        let (path, number) = place;
        if phase == self.phase {
            let len = crypto::open(packet, header_len, self.remote.as_ref(), place);
            if let (Some(_), Some((_, since))) = (len, &mut self.previous) {
                since.get_or_insert(now);
            }
            let Some(len) = len else { return Ok(Opened::Forged) };
            self.order.on_present(path, number)?;
            return Ok(Opened::Payload(len));
        }
        if self.previous.as_ref().is_some_and(|(_, since)| since.is_some_and(|at| at + keep <= now))
        {
            self.previous = None;
        }
        if let Some((previous, _)) = &self.previous {
            let mut copy = packet.to_vec();
            if let Some(len) = crypto::open(&mut copy, header_len, previous.as_ref(), place) {
                packet.copy_from_slice(&copy);
                self.order.on_older(path, number)?;
                return Ok(Opened::Payload(len));
            }
        }
        let len = crypto::open(packet, header_len, self.next.remote.as_ref(), place);
        let Some(len) = len else { return Ok(Opened::Forged) };
        self.order.check_next(path, number)?;
        Ok(Opened::Updated(len))
    }
}

/// What the limits of the AEAD ask for (RFC 9001 §6.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wear {
    /// Nothing.
    Fresh,
    /// An update, which is allowed and well before the limit.
    Worn,
    /// The end of the connection: the peer let us seal this many without an acknowledgement that
    /// allows an update.
    Out,
}

impl OneRtt {
    /// Encrypts what is at `place` of `out`; false: the AEAD refuses.
    pub fn seal(
        &mut self,
        out: &mut Vec<u8>,
        place: (usize, usize, usize),
        (path, number): (u32, u64),
    ) -> bool {
        let pair = (self.local.as_ref(), self.local_header.as_ref());
        let sealed = crypto::seal(out, place, pair, (path, number));
        self.sealed += u64::from(sealed);
        sealed
    }

    /// An update is allowed (RFC 9001 §6.1) once the handshake is confirmed, too.
    pub const fn may_update(&self) -> bool {
        self.phase_acked
    }

    /// How near the limits are. `confirmed`: the handshake is.
    pub const fn wear(&self, confirmed: bool) -> Wear {
        let limit = self.limits.0;
        if self.sealed > limit / 2 && self.phase_acked && confirmed {
            Wear::Worn
        } else if self.sealed + CLOSING_PACKETS >= limit {
            Wear::Out
        } else {
            Wear::Fresh
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;

    fn keys() -> OneRtt {
        let [client, _] = crate::tests::one_rtt::keys();
        client
    }

    #[test]
    fn limits_ask_for_an_update_first_and_for_the_end_last() {
        let mut keys = keys();
        keys.limits = (100, 2);
        keys.sealed = 51;
        assert_eq!(keys.wear(true), Wear::Fresh, "no packet of the phase was acknowledged");
        keys.on_acked(Instant::from_millis(1));
        assert_eq!((keys.wear(true), keys.wear(false)), (Wear::Worn, Wear::Fresh));
        keys.rotate(Instant::from_millis(5), None);
        assert_eq!((keys.wear(true), keys.may_update()), (Wear::Fresh, false));
        keys.on_acked(Instant::from_millis(5));
        assert!(!keys.may_update(), "it may have left with the old keys");
        keys.sealed = 100 - CLOSING_PACKETS;
        assert_eq!(keys.wear(true), Wear::Out);
    }

    /// A packet of the peer's: path 0, header of one byte.
    fn sealed(keys: &mut OneRtt, number: u64) -> Vec<u8> {
        let mut out = vec![0x41; 9]; // a number of two bytes
        out.extend((number as u16).to_be_bytes());
        out.extend([1; 30]);
        let pair = (keys.local.as_ref(), keys.local_header.as_ref());
        assert!(crypto::seal(&mut out, (0, 9, 2), pair, (0, number)));
        out
    }

    fn open(keys: &mut OneRtt, packet: &[u8], phase: bool) -> Result<(), TransportError> {
        let mut packet = packet.to_vec();
        let (len, number) = crypto::unprotect(&mut packet, 9, keys.remote_header.as_ref()).unwrap();
        let (now, keep) = (Instant::from_millis(1), Duration::from_millis(100));
        let opened = keys.open(&mut packet, 9 + len, (0, number), (phase, now, keep))?;
        match opened {
            Opened::Payload(_) => {}
            Opened::Updated(_) => keys.rotate(now, Some((now, 0, number))),
            Opened::Forged => panic!("number {number} does not decrypt"),
        }
        Ok(())
    }

    /// RFC 9001 §6.4.
    #[test]
    fn old_keys_after_new_ones_are_an_error_and_late_packets_are_not() {
        let [mut peer, mut keys] = crate::tests::one_rtt::keys();
        let old: Vec<Vec<u8>> = (0..10).map(|number| sealed(&mut peer, number)).collect();
        peer.rotate(Instant::ZERO, None);
        let new: Vec<Vec<u8>> = (0..10).map(|number| sealed(&mut peer, number)).collect();
        open(&mut keys, &old[2], false).unwrap();
        open(&mut keys, &new[5], true).unwrap();
        open(&mut keys, &old[4], false).unwrap();
        open(&mut keys, &new[7], true).unwrap();
        let error = open(&mut keys, &old[6], false).unwrap_err();
        assert_eq!(error.code, Code::KeyUpdate);
        let error = open(&mut keys, &new[3], true).unwrap_err();
        assert_eq!(error.code, Code::KeyUpdate);
    }
}
