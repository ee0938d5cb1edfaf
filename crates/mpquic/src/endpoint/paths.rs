//! Paths that come and go.

use super::Endpoint;
use crate::error::Error;
use crate::event::Event;
use crate::path::MAX_NETS;
use crate::wire::Frame;
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
            self.control.ask(Frame::PathsBlocked { maximum: self.paths.ids.peers() });
            return Err(Error::PathLimit);
        };
        if self.cids.peer.current(id).is_none() {
            self.control.ask(Frame::PathCidsBlocked { path: id, next_sequence: 0 });
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
    /// the others. The path's congestion control receives the boundaries. A path that is opened over
    /// `net` later begins with this forecast.
    pub fn set_forecast(&mut self, net: PathId, forecast: Forecast) {
        self.paths.set_forecast(net, forecast);
    }

    // ---- coming and going --------------------------------------------------------------------

    pub(super) fn on_path_response(&mut self, now: Instant, id: u32, data: [u8; 8]) {
        if self.paths.answers_other_way(id, data) {
            return self.move_path(now, id);
        }
        let Some(path) = self.paths.get_mut(id) else { return };
        path.on_former_response(data);
        if path.on_response(data, &mut self.rng) {
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
        self.trace.forget_path(id);
        if let Some(keys) = &mut self.keys {
            keys.order.forget(id);
        }
        let maximum = self.paths.ids.end(id);
        self.control.push(Frame::MaxPathId { maximum });
        self.give_cids(maximum);
    }
}
