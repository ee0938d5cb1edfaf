//! What tests and fuzz targets see and do that no user can.

#![allow(missing_docs, reason = "not there in a build for use")]

use super::Endpoint;
use super::close::Life;
use super::receive::Arrival;
#[cfg(test)]
use crate::Role;
#[cfg(test)]
use crate::wire::ConnectionId;
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
        if self.local_cids.active(id) > 0
            && matches!(self.life, Life::Open)
            && let Err(error) =
                self.on_opened(&arrival, (id, number), (payload, payload.len() + 30))
        {
            self.fail(now, error);
        }
    }

    /// A client that says this in its transport parameters and calls itself so, whatever it is.
    #[cfg(test)]
    pub(crate) fn offer(&mut self, params: &crate::wire::Params, extra: &[u8], cid: ConnectionId) {
        use rustls::quic::{ClientConnection, Version};
        let Role::Client { tls, server_name } = &self.config.role else { return };
        self.local = params.clone();
        let params = [&params.encode()[..], extra].concat();
        let tls = ClientConnection::new(tls.clone(), Version::V1, server_name.clone(), params);
        self.handshake.restart(tls.expect("the configuration served before").into(), cid);
        self.local_cids.add(0, cid);
        self.drive_tls(Instant::ZERO).expect("a hello");
    }

    /// As if the peer had said so in its transport parameters.
    #[cfg(test)]
    pub(crate) fn hear_that_migration_is_refused(&mut self) {
        self.peer.disable_active_migration = true;
    }

    /// What it would offer by itself.
    #[cfg(test)]
    pub(crate) fn offered(&self) -> crate::wire::Params {
        self.local.clone()
    }

    /// IDs of the paths that were not given up.
    pub fn path_ids(&self) -> Vec<u32> {
        let left = self.paths.values().filter(|path| path.drains_until.is_none());
        left.map(|path| path.id).collect()
    }

    /// Whether the path over `net` is a backup.
    pub fn is_backup(&self, net: PathId) -> Option<bool> {
        let path = self.paths.get(&self.id_of(net)?)?;
        Some(path.local_backup || path.peer_backup)
    }

    /// The state of every path and timer, for the message of a test that fails.
    pub fn timers(&self) -> String {
        let delay = self.max_ack_delay();
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
                path.pto_at(delay, || self.others_work(path.id)),
                path.fails_at(delay),
                path.space.received.ack_at,
                path.challenge.and(path.challenge_at),
                path.in_flight,
            )
        });
        format!("{}next {:?}, {:?}", paths.collect::<String>(), self.poll_timeout(), self.totals)
    }
}
