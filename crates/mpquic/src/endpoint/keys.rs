//! Key updates (RFC 9001 §6).

use super::Endpoint;
use crate::error::{Code, Error, TransportError};
use crate::event::Event;
use crate::keys::{OneRtt, Wear};
use units::Instant;

impl Endpoint {
    /// Updates the keys of the connection (RFC 9001 §6.1): possible once the handshake is confirmed
    /// and a packet with the present keys was acknowledged.
    pub fn update_keys(&mut self, now: Instant) -> Result<(), Error> {
        let acked = self.keys.as_ref().is_some_and(OneRtt::may_update);
        if !self.handshake.confirmed || !acked {
            return Err(Error::NotOpen);
        }
        self.rotate_keys(now, None);
        Ok(())
    }

    /// `first`: the peer's packet with the new keys, if that is what asks for it: when it came, of
    /// which path, with which number.
    pub(super) fn rotate_keys(&mut self, now: Instant, first: Option<(Instant, u32, u64)>) {
        if let Some(keys) = &mut self.keys {
            keys.rotate(now, first);
            self.trace.totals.key_updates += 1;
            self.trace.event(Event::KeysUpdated);
        }
    }

    /// Limits of the AEAD (RFC 9001 §6.6): an update well before the first, the end at the second.
    pub(super) fn check_key_limits(&mut self, now: Instant) {
        let Some(keys) = &self.keys else { return };
        match keys.wear(self.handshake.confirmed) {
            Wear::Fresh => {}
            Wear::Worn => self.rotate_keys(now, None),
            Wear::Out => {
                let reason = "too many packets with a key";
                self.fail(now, TransportError::new(Code::AeadLimitReached, reason));
            }
        }
    }
}
