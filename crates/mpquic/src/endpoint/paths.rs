//! Paths that come and go.

use super::Endpoint;
use crate::cids::PER_PATH;
use crate::error::{Error, TransportError};
use crate::event::{Closed, Event};
use crate::path::{MAX_NETS, PathStatus};
use crate::wire::{Frame, NewCid};
use forecast::Forecast;
use scheduler::PathEvent;
use units::{Instant, PathId};

/// PATH_ABANDON error code of an application that wants it (draft-ietf-quic-multipath-21 §4.3).
const APPLICATION_ABANDON: u64 = 0x3e;

impl Endpoint {
    // ---- what the application asks for -------------------------------------------------------

    /// Client: opens a path over `net`. It carries data after [`Event::PathEstablished`].
    pub fn add_path(&mut self, now: Instant, net: PathId) -> Result<(), Error> {
        if self.has_path(net) {
            return Err(Error::Path(net.0));
        }
        self.open_path(now, net)
    }

    /// Client: the interface behind `net` has another address, or another network, now. A new path
    /// over it takes over: the old one carries nothing more, and goes when the new one is validated.
    pub fn replace_path(&mut self, now: Instant, net: PathId) -> Result<(), Error> {
        let old = self.paths.id_over(net).ok_or(Error::Path(net.0))?;
        self.open_path(now, net)?;
        if let Some(old) = self.paths.get_mut(old) {
            old.replaced = true;
        }
        self.reinject_flight(old);
        Ok(())
    }

    /// Whether a path over `net` is there, validated or not.
    pub fn has_path(&self, net: PathId) -> bool {
        self.paths.id_over(net).is_some()
    }

    fn open_path(&mut self, now: Instant, net: PathId) -> Result<(), Error> {
        if !self.config.is_client() {
            return Err(Error::NotClient);
        }
        if !self.is_connected() || !self.handshake.confirmed {
            return Err(Error::NotOpen);
        }
        if !self.paths.multipath {
            return Err(Error::NoMultipath);
        }
        if self.handshake.peer.disable_active_migration {
            return Err(Error::NoMigration); // RFC 9000 §9
        }
        if net.0 >= MAX_NETS {
            return Err(Error::Path(net.0));
        }
        let Some(id) = self.paths.ids.next_allowed() else {
            self.control.push_once(Frame::PathsBlocked { maximum: self.paths.ids.peers() });
            return Err(Error::PathLimit);
        };
        if self.cids.peer.current(id).is_none() {
            self.control.push_once(Frame::PathCidsBlocked { path: id, next_sequence: 0 });
            return Err(Error::PathLimit);
        }
        self.paths.ids.take(id);
        let path = self.paths.add(id, net);
        // The client chose the address: RFC 9000 §8.1 does not limit what it sends there.
        path.came_bytes = u64::from(u32::MAX);
        path.begin_challenge(&mut self.rng);
        self.restart_idle(now);
        Ok(())
    }

    /// Gives the path over `net` up, and one that it was to replace; what was in flight there goes on
    /// the others.
    pub fn abandon_path(&mut self, now: Instant, net: PathId) -> Result<(), Error> {
        let others = self.paths.values().any(|path| path.net != net && path.is_open());
        if !self.paths.multipath || !others || !self.has_path(net) {
            return Err(Error::Path(net.0));
        }
        let own = self.paths.ids_of(|path| path.net == net);
        own.into_iter().for_each(|id| self.leave_path(now, id, APPLICATION_ABANDON));
        Ok(())
    }

    /// Asks the path over `net` for a sign of life at once: something outside says that it may work
    /// again.
    pub fn probe_path(&mut self, now: Instant, net: PathId) {
        if let Some(path) = self.paths.over_mut(net).filter(|path| path.is_open()) {
            path.ask(now);
        }
    }

    /// What is known ahead of a path; replaces what was known before, unless that was issued
    /// later. During an outage as likely as the scheduler heeds, nothing leaves on the path, its
    /// timers stand still, and what it had in flight when the outage began is retransmitted on
    /// the others. A path that is opened over `net` later begins with it.
    pub fn set_forecast(&mut self, net: PathId, forecast: Forecast) {
        self.paths.set_forecast(net, forecast);
    }

    // ---- coming and going --------------------------------------------------------------------

    pub(super) fn on_path_response(&mut self, now: Instant, id: u32, data: [u8; 8]) {
        if self.paths.answers_other_way(id, data) {
            return self.move_path(now, id);
        }
        let Some(path) = self.paths.get_mut(id) else { return };
        if path.on_response(data) {
            let net = path.net;
            path.cc.on_handshake(path.rtt.smoothed());
            self.trace.path_event(now, id, Event::PathEstablished(net));
            self.scheduling.dispatch.on_path_event(now, net, PathEvent::Established);
            self.retire_older(now, id, net);
        }
    }

    /// A path was validated: those before it over the same interface have no more say.
    fn retire_older(&mut self, now: Instant, id: u32, net: PathId) {
        let older = self.paths.replace_older(id, net);
        if self.config.is_client() {
            older.into_iter().for_each(|old| self.leave_path(now, old, APPLICATION_ABANDON));
        }
    }

    pub(super) fn leave_path(&mut self, now: Instant, id: u32, error_code: u64) {
        let drain = now + self.paths.longest_pto() * 3;
        let Some(path) = self.paths.get_mut(id).filter(|path| path.drains_until.is_none()) else {
            return;
        };
        path.drains_until = Some(drain);
        path.challenge = None;
        let net = path.net;
        self.paths.restore_replaced();
        self.control.push(Frame::PathAbandon { path: id, error_code });
        self.trace.path_event(now, id, Event::PathAbandoned(net, error_code));
        self.scheduling.dispatch.on_path_event(now, net, PathEvent::Closed);
        self.give_up_flight(id);
    }

    /// The path's last packets had their time.
    pub(super) fn drop_path(&mut self, id: u32) {
        self.paths.remove(id);
        self.cids.drop_path(id);
        let maximum = self.paths.ids.grant();
        self.control.push(Frame::MaxPathId { maximum });
        self.give_cids();
    }

    /// Gives the peer connection IDs for the paths that it may use.
    pub(super) fn give_cids(&mut self) {
        let wanted = self.handshake.peer.active_connection_id_limit.min(PER_PATH);
        let last = if self.paths.multipath { self.paths.ids.last() } else { 0 };
        for id in 0..=last {
            if !self.paths.is_over(id) {
                let frames = self.cids.give(id, wanted, &self.config.reset_key, &mut self.rng);
                self.control.extend(frames);
            }
        }
    }

    pub(super) fn on_new_cid(
        &mut self,
        id: u32,
        new: &NewCid,
        named: Option<u32>,
    ) -> Result<(), TransportError> {
        if !self.paths.ids.is_allowed(id) {
            return Err(TransportError::violation("a connection ID for a path beyond the limit"));
        }
        if self.paths.is_over(id) {
            return Ok(()); // over
        }
        if self.config.is_client() && !self.paths.ids.is_below_next(id) {
            self.trace.event(Event::PathLimitsRaised);
        }
        for sequence in self.cids.peer.add(id, new)? {
            self.control.push(Frame::RetireConnectionId { path: named, sequence });
        }
        Ok(())
    }

    pub(super) fn on_multipath_frame(
        &mut self,
        now: Instant,
        frame: &Frame<'_>,
    ) -> Result<(), TransportError> {
        match *frame {
            Frame::PathAbandon { path, error_code } => {
                if !self.paths.ids.is_allowed(path) && !self.paths.ids.was_used(path) {
                    return Err(TransportError::violation("abandoned a path beyond the limit"));
                }
                if self.paths.ids.take(path) {
                    // Given up before anything of it came: draft-ietf-quic-multipath-21 §3.4.
                    self.control.push(Frame::PathAbandon { path, error_code });
                    self.drop_path(path);
                } else {
                    self.leave_path(now, path, error_code);
                }
                if !self.paths.has_any() {
                    let why =
                        Closed::PeerTransport(error_code, "the last path was abandoned".into());
                    self.drain(now, why);
                }
            }
            Frame::PathStatus { path, sequence, backup } => {
                self.on_path_status(path, PathStatus { sequence, backup })?;
            }
            // draft-ietf-quic-multipath-21 §4.6, §4.7
            Frame::MaxPathId { maximum }
                if Some(maximum) < self.handshake.peer.initial_max_path_id =>
            {
                return Err(TransportError::violation("fewer paths than at first"));
            }
            Frame::PathsBlocked { maximum: path } | Frame::PathCidsBlocked { path, .. }
                if !self.paths.ids.is_allowed(path) =>
            {
                return Err(TransportError::violation("blocked beyond the limit"));
            }
            Frame::PathCidsBlocked { path, next_sequence }
                if next_sequence > self.cids.local.next_sequence(path)
                    && !self.paths.is_over(path) =>
            {
                return Err(TransportError::violation("blocked by an ID that is not next"));
            }
            Frame::MaxPathId { maximum } if self.paths.ids.raise(maximum) => {
                self.give_cids();
                if self.config.is_client() {
                    self.trace.event(Event::PathLimitsRaised);
                }
            }
            _ => {}
        }
        Ok(())
    }
}
