//! What tests and fuzz targets see and do that no user can.

#![allow(missing_docs, reason = "not there in a build for use")]

use super::Endpoint;
use crate::arrival::Arrival;
#[cfg(test)]
use crate::config::Role;
#[cfg(test)]
use crate::wire::{AckFrame, ConnectionId, Frame, Params, begin_short};
#[cfg(test)]
use rustls::quic::{ClientConnection, Version};
use units::{Instant, PathId};

impl Endpoint {
    /// What a packet of the peer's does once it is decrypted: lets a test be a peer that says
    /// whatever it likes. A packet for a path that was never given a connection ID is nobody's.
    pub fn handle_payload(
        &mut self,
        now: Instant,
        net: PathId,
        (id, number): (u32, u64),
        payload: &[u8],
    ) {
        let arrival = Arrival::new(now, net, None, payload.len() + 30);
        if self.cids.local.active(id) > 0
            && self.lifetime.is_open()
            && let Err(error) =
                self.on_opened(&arrival, (id, number), (payload, payload.len() + 30))
        {
            self.fail(now, error);
        }
    }

    /// IDs of the paths that were not given up.
    pub fn path_ids(&self) -> Vec<u32> {
        self.paths.ids_of(|path| path.drains_until.is_none()).into_vec()
    }

    /// Whether the path over `net` is a backup.
    pub fn is_backup(&self, net: PathId) -> Option<bool> {
        let path = self.paths.get(self.paths.id_over(net)?)?;
        Some(path.local_backup || path.peer_backup)
    }

    /// The state of every path and timer, for the message of a test that fails.
    pub fn timers(&self) -> String {
        let paths = self.paths.values().map(|path| {
            format!(
                "{} on {:?}: {:?}, validated {}, drains {:?}, rests {:?}, loss {:?}, PTO {:?}, \
                 fails {:?}, ACK {:?}, challenge {:?}, {} B in flight\n",
                path.id,
                path.net,
                path.health,
                path.validated,
                path.drains_until,
                path.rest_until,
                path.space.loss_at,
                path.pto_at(|| self.paths.others_work(path.id)),
                path.fails_at(),
                path.space.received.ack_at,
                path.challenge.and(path.challenge_at),
                path.in_flight,
            )
        });
        format!(
            "{}next {:?}, {:?}",
            paths.collect::<String>(),
            self.poll_timeout(),
            self.trace.totals
        )
    }
}

#[cfg(test)]
impl Endpoint {
    /// A client that says this in its transport parameters and calls itself so, whatever it is.
    pub(crate) fn offer(&mut self, params: &Params, extra: &[u8], cid: ConnectionId) {
        let Role::Client { tls, server_name } = &self.config.role else { return };
        let bytes = [&params.encode()[..], extra].concat();
        let tls = ClientConnection::new(tls.clone(), Version::V1, server_name.clone(), bytes);
        let tls = tls.expect("the configuration served before").into();
        self.handshake.restart(tls, params.clone(), cid);
        self.cids.local.add(0, cid);
        self.drive_tls(Instant::ZERO).expect("a hello");
    }

    /// A PING with these further bits in its first byte, and a number that is not used otherwise.
    pub(crate) fn ping_with(&mut self, bits: u8) -> Vec<u8> {
        let cid = self.cids.peer.current(0).expect("an ID");
        let keys = self.keys.as_mut().expect("keys");
        let number: u32 = 1 << 20;
        let mut out = Vec::new();
        begin_short(&mut out, &cid, keys.phase, 4);
        out[0] |= bits;
        let number_at = out.len();
        out.extend(number.to_be_bytes());
        Frame::Ping.encode(&mut out);
        assert!(keys.seal(&mut out, (0, number_at, 4), (0, number.into())));
        out
    }

    /// What it would offer by itself.
    pub(crate) fn offered(&self) -> Params {
        self.handshake.local.clone()
    }

    /// As if the peer had said so in its transport parameters.
    pub(crate) fn hear_that_migration_is_refused(&mut self) {
        self.handshake.peer.disable_active_migration = true;
    }

    /// Sends a frame that an honest endpoint would not.
    pub(crate) fn inject(&mut self, frame: Frame<'static>) {
        self.control.push(frame);
    }

    /// The peer acknowledges all that is in flight.
    pub(crate) fn acknowledge_all(&mut self, now: Instant) {
        for id in self.path_ids() {
            let Some(path) = self.paths.get(id) else { continue };
            let mut ranges: Vec<_> =
                path.space.sent.iter().map(|(number, _)| number..=number).collect();
            ranges.reverse();
            if !ranges.is_empty() {
                let ack = AckFrame { delay: 0, ranges, ecn: None };
                self.on_path_ack(now, id, &ack).expect("that was sent");
            }
        }
    }

    /// Paths looked at for connection IDs that they lack.
    pub(crate) fn looked_at(&self) -> u64 {
        self.cids.looked_at
    }

    /// So many forged packets came before.
    pub(crate) fn set_forgeries(&mut self, count: u64) {
        self.lifetime.forgeries.0 = count;
    }

    /// Other limits than those of the AEAD, whose would take days to reach.
    pub(crate) fn set_key_limits(&mut self, sealed: u64, forged: u64) {
        if let Some(keys) = &mut self.keys {
            keys.limits = (sealed, forged);
        }
    }
}
