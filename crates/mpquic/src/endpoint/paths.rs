//! Paths that come, go, fail and rest.

use super::Endpoint;
use super::frames::violation;
use super::status::PathStatus;
use crate::cids::PER_PATH;
use crate::crypto;
use crate::error::{Error, TransportError};
use crate::event::{Closed, Event};
use crate::path::{Health, Path};
use crate::wire::{Frame, NewCid};
use forecast::{Feed, Forecast};
use scheduler::PathEvent;
use units::{Duration, Instant, PathId};

/// PATH_ABANDON error codes (draft-ietf-quic-multipath-21 §4.3).
const APPLICATION_ABANDON: u64 = 0x3e;
pub(super) const UNSTABLE_OR_POOR: u64 = 0x3e76;
/// Paths of the caller's that a scheduler can distinguish.
pub(super) const MAX_NET_PATHS: u8 = 64;

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
        let old = self.id_of(net).ok_or(Error::Path(net.0))?;
        self.open_path(now, net)?;
        if let Some(old) = self.paths.get_mut(&old) {
            old.replaced = true;
        }
        self.reinject_flight(old);
        Ok(())
    }

    /// Whether a path over `net` is there, validated or not.
    pub fn has_path(&self, net: PathId) -> bool {
        self.id_of(net).is_some()
    }

    fn open_path(&mut self, now: Instant, net: PathId) -> Result<(), Error> {
        if !self.is_client {
            return Err(Error::NotClient);
        }
        if !self.is_connected() || !self.confirmed {
            return Err(Error::NotOpen);
        }
        if !self.multipath {
            return Err(Error::NoMultipath);
        }
        if self.peer.disable_active_migration {
            return Err(Error::NoMigration); // RFC 9000 §9
        }
        if net.0 >= MAX_NET_PATHS {
            return Err(Error::Path(net.0));
        }
        let Some(id) = self.path_ids.next_allowed() else {
            self.ask_once(Frame::PathsBlocked { maximum: self.path_ids.peers() });
            return Err(Error::PathLimit);
        };
        if self.peer_cids.current(id).is_none() {
            self.ask_once(Frame::PathCidsBlocked { path: id, next_sequence: 0 });
            return Err(Error::PathLimit);
        }
        self.path_ids.take(id);
        let mut path = self.new_path(id, net);
        // The client chose the address: RFC 9000 §8.1 does not limit what it sends there.
        path.came_bytes = u64::from(u32::MAX);
        self.paths.insert(path);
        self.challenge_path(id);
        self.restart_idle(now);
        Ok(())
    }

    fn ask_once(&mut self, frame: Frame<'static>) {
        if !self.control.contains(&frame) {
            self.control.push_back(frame);
        }
    }

    /// Gives the path over `net` up, and one that it was to replace; what was in flight there goes on
    /// the others.
    pub fn abandon_path(&mut self, now: Instant, net: PathId) -> Result<(), Error> {
        let others = self.paths.values().any(|path| path.net != net && path.is_open());
        if !self.multipath || !others || !self.has_path(net) {
            return Err(Error::Path(net.0));
        }
        let own = self.paths.values().filter(|path| path.net == net);
        let own: Vec<u32> = own.map(|path| path.id).collect();
        own.into_iter().for_each(|id| self.leave_path(now, id, APPLICATION_ABANDON));
        Ok(())
    }

    /// Asks the path over `net` for a sign of life at once: something outside says that it may work
    /// again.
    pub fn probe_path(&mut self, now: Instant, net: PathId) {
        let path = self.id_of(net).and_then(|id| self.paths.get_mut(&id));
        if let Some(path) = path.filter(|path| path.is_open()) {
            path.ask(now);
        }
    }

    /// What is known ahead of a path; replaces what was known before, unless that was issued
    /// later. During an outage as likely as the scheduler heeds, nothing leaves on the path, its
    /// timers stand still, and what it had in flight when the outage began is retransmitted on
    /// the others. A path that is opened over `net` later begins with it.
    pub fn set_forecast(&mut self, net: PathId, forecast: Forecast) {
        let least = self.dispatch.capabilities().least_probability;
        let feed = self.feeds.entry(net).or_insert_with(|| Feed::new(least));
        if !feed.update(forecast) {
            return;
        }
        let feed = feed.clone();
        if let Some(path) = self.id_of(net).and_then(|id| self.paths.get_mut(&id)) {
            path.feed = feed;
        }
    }

    // ---- coming and going --------------------------------------------------------------------

    pub(super) fn on_path_response(&mut self, now: Instant, id: u32, data: [u8; 8]) {
        if self.rebind(now, id, data) {
            return;
        }
        let Some(path) = self.paths.get_mut(&id).filter(|path| path.challenge == Some(data)) else {
            return;
        };
        path.challenge = None;
        if !path.validated {
            path.validated = true;
            let net = path.net;
            path.cc.on_handshake(path.rtt.smoothed());
            self.tell_of_path(now, id, Event::PathEstablished(net));
            self.dispatch.on_path_event(now, net, PathEvent::Established);
            self.retire_older(now, id, net);
        }
    }

    /// A path was validated: those before it over the same interface have no more say.
    fn retire_older(&mut self, now: Instant, id: u32, net: PathId) {
        let mut older = Vec::new();
        for path in self.paths.values_mut() {
            if path.net == net && path.id != id && path.drains_until.is_none() {
                path.replaced = true;
                older.push(path.id);
            }
        }
        if self.is_client {
            older.into_iter().for_each(|old| self.leave_path(now, old, APPLICATION_ABANDON));
        }
    }

    pub(super) fn is_path_over(&self, id: u32) -> bool {
        self.path_ids.was_used(id) && !self.paths.contains(id)
    }

    pub(super) fn leave_path(&mut self, now: Instant, id: u32, error_code: u64) {
        let drain = now + self.longest_pto() * 3;
        let Some(path) = self.paths.get_mut(&id).filter(|path| path.drains_until.is_none()) else {
            return;
        };
        path.drains_until = Some(drain);
        path.challenge = None;
        let net = path.net;
        self.control.push_back(Frame::PathAbandon { path: id, error_code });
        self.tell_of_path(now, id, Event::PathAbandoned(net, error_code));
        self.dispatch.on_path_event(now, net, PathEvent::Closed);
        self.give_up_flight(id);
    }

    /// The path's last packets had their time.
    pub(super) fn drop_path(&mut self, id: u32) {
        if let Some(path) = self.paths.remove(id) {
            let past = self.past_stats.entry(path.net).or_default();
            *past = path.stats.after(past);
        }
        self.local_cids.drop_path(id);
        self.peer_cids.drop_path(id);
        self.statuses.forget(id);
        let maximum = self.path_ids.grant();
        self.control.push_back(Frame::MaxPathId { maximum });
        self.give_cids();
    }

    /// Gives the peer connection IDs for the paths that it may use.
    pub(super) fn give_cids(&mut self) {
        let wanted = self.peer.active_connection_id_limit.min(PER_PATH);
        let last = if self.multipath { self.path_ids.last() } else { 0 };
        for id in 0..=last {
            if self.is_path_over(id) {
                continue; // over
            }
            while self.local_cids.active(id) < wanted {
                let cid = self.new_cid();
                let sequence = self.local_cids.add(id, cid);
                let token = crypto::reset_token(&self.config.reset_key, &cid);
                let new = NewCid { sequence, retire_prior_to: 0, cid, token };
                let path = (id > 0).then_some(id);
                self.control.push_back(Frame::NewConnectionId { path, new });
            }
        }
    }

    pub(super) fn on_new_cid(
        &mut self,
        id: u32,
        new: &NewCid,
        named: Option<u32>,
    ) -> Result<(), TransportError> {
        if !self.path_ids.is_allowed(id) {
            return Err(violation("a connection ID for a path beyond the limit"));
        }
        if self.is_path_over(id) {
            return Ok(()); // over
        }
        if self.is_client && !self.path_ids.is_below_next(id) {
            self.events.push_back(Event::PathLimitsRaised);
        }
        for sequence in self.peer_cids.add(id, new)? {
            self.control.push_back(Frame::RetireConnectionId { path: named, sequence });
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
                if !self.path_ids.is_allowed(path) && !self.path_ids.was_used(path) {
                    return Err(violation("abandoned a path beyond the limit"));
                }
                if self.path_ids.take(path) {
                    // Given up before anything of it came: draft-ietf-quic-multipath-21 §3.4.
                    self.control.push_back(Frame::PathAbandon { path, error_code });
                    self.drop_path(path);
                } else {
                    self.leave_path(now, path, error_code);
                }
                if !self.has_any_path() {
                    let why =
                        Closed::PeerTransport(error_code, "the last path was abandoned".into());
                    self.drain(now, why);
                }
            }
            Frame::PathStatus { path, sequence, backup } => {
                self.on_path_status(path, PathStatus { sequence, backup })?;
            }
            // draft-ietf-quic-multipath-21 §4.6, §4.7
            Frame::MaxPathId { maximum } if Some(maximum) < self.peer.initial_max_path_id => {
                return Err(violation("fewer paths than at first"));
            }
            Frame::PathsBlocked { maximum: path } | Frame::PathCidsBlocked { path, .. }
                if !self.path_ids.is_allowed(path) =>
            {
                return Err(violation("blocked beyond the limit"));
            }
            Frame::PathCidsBlocked { path, next_sequence }
                if next_sequence > self.local_cids.next_sequence(path)
                    && !self.is_path_over(path) =>
            {
                return Err(violation("blocked by an ID that is not next"));
            }
            Frame::MaxPathId { maximum } if self.path_ids.raise(maximum) => {
                self.give_cids();
                if self.is_client {
                    self.events.push_back(Event::PathLimitsRaised);
                }
            }
            _ => {}
        }
        Ok(())
    }

    // ---- failing -----------------------------------------------------------------------------

    /// Whether a path is left that was not given up.
    pub(super) fn has_any_path(&self) -> bool {
        self.paths.values().any(|path| path.drains_until.is_none())
    }

    pub(super) fn others_work(&self, id: u32) -> bool {
        self.paths.values().any(|path| path.id != id && path.is_usable())
    }

    /// The probe timer of a path fired (RFC 9002 §6.2).
    pub(super) fn on_probe_timer(&mut self, now: Instant, id: u32) {
        let others = self.others_work(id);
        let Some(path) = self.paths.get_mut(&id) else { return };
        path.pto_count += 1;
        path.stats.probe_timeouts += 1;
        path.ecn.on_probe_timeout(path.pto_count);
        path.space.last_eliciting_at = now;
        path.probes = if others { 1 } else { 2 }; // RFC 9002 §6.2.4: one or two packets
        if path.health == Health::Good {
            path.health = Health::Suspected;
            if !others {
                self.ask_failed_paths(now);
            }
        }
        if self.config.reinjection.on_failure && others {
            self.reinject_flight(id);
        } else {
            self.reinject_oldest(id);
        }
    }

    /// The last path that worked is suspected: one that failed may be back by now, and must not wait
    /// for a probe timer that has backed off.
    fn ask_failed_paths(&mut self, now: Instant) {
        let failed = |path: &&mut Path| path.is_awake() && path.health == Health::Failed;
        for path in self.paths.values_mut().filter(failed) {
            path.ask(now);
        }
    }

    /// A path answers again: what others that do not had in flight need not wait for their timers.
    pub(super) fn relieve_suspected_paths(&mut self) {
        let suspected = |path: &&Path| path.is_open() && path.health == Health::Suspected;
        let ids: Vec<u32> = self.paths.values().filter(suspected).map(|path| path.id).collect();
        if self.config.reinjection.on_failure {
            ids.into_iter().for_each(|id| self.reinject_flight(id));
        }
    }

    /// What the probe of an only path carries: its oldest data.
    fn reinject_oldest(&mut self, id: u32) {
        let Some(path) = self.paths.get_mut(&id) else { return };
        let oldest = path.space.sent.iter_mut().filter(|(_, packet)| !packet.given_up);
        let frames: Vec<_> = oldest.take(2).flat_map(|(_, packet)| packet.frames.clone()).collect();
        self.send_again(id, frames);
    }

    /// What is in flight on a path is retransmitted on the others; it stays in flight here.
    pub(super) fn reinject_flight(&mut self, id: u32) {
        self.release_queue(id);
        let Some(path) = self.paths.get_mut(&id) else { return };
        let mut frames = Vec::new();
        for (_, packet) in path.space.sent.iter_mut() {
            if !packet.requeued && !packet.given_up {
                (packet.requeued, packet.copied) = (true, true);
                frames.extend(packet.frames.iter().cloned());
            }
        }
        self.send_again(id, frames);
    }

    /// The flight of a path counts no longer, and is retransmitted.
    pub(super) fn give_up_flight(&mut self, id: u32) -> u64 {
        self.reinject_flight(id);
        let Some(path) = self.paths.get_mut(&id) else { return 0 };
        path.space.sent.give_up();
        std::mem::take(&mut path.in_flight)
    }

    /// Silence for too long.
    pub(super) fn fail_path(&mut self, now: Instant, id: u32) {
        let in_flight = self.give_up_flight(id);
        let Some(path) = self.paths.get_mut(&id) else { return };
        path.health = Health::Failed;
        path.silent_since = None;
        path.probes = 1;
        path.cc.on_timeout(now, in_flight, false);
        let net = path.net;
        self.tell_of_path(now, id, Event::PathFailed(net));
        self.log_metrics(now, id);
        self.dispatch.on_path_event(now, net, PathEvent::Failed);
    }

    // ---- resting -----------------------------------------------------------------------------

    /// Puts paths to rest before and during foreseen outages, and wakes them.
    pub(super) fn update_rest(&mut self, now: Instant) {
        let foretold = |path: &Path| path.feed.outage().is_some() || path.rest_until.is_some();
        if !self.paths.values().any(foretold) {
            return;
        }
        let packet_bytes = self.config.datagram_bytes as u64;
        let (mut hit, mut resting) = (Vec::new(), Vec::new());
        for path in self.paths.values_mut() {
            path.feed.advance(now);
            let outage = path.feed.outage().map(|outage| outage.window);
            let under_way = outage.filter(|outage| outage.start <= now);
            let until = match (outage, under_way) {
                (_, Some(outage)) => Some(outage.end),
                (Some(_), None) => {
                    let view = path.view(now, packet_bytes);
                    self.dispatch.rests_until(now, &view)
                }
                (None, None) => None,
            };
            let was = std::mem::replace(&mut path.rest_until, until);
            if under_way.is_some() && !path.outage_noted {
                hit.push(path.id);
            }
            path.outage_noted = under_way.is_some();
            if was.is_none() && until.is_some() {
                resting.push(path.id);
            }
            if was.is_some() && until.is_none() && path.is_open() {
                path.space.last_eliciting_at = now;
                path.silent_since = None;
                path.probes = 1; // shows at once whether it is back, and what was lost
            }
        }
        resting.into_iter().for_each(|id| self.release_queue(id));
        if self.config.reinjection.on_failure {
            hit.into_iter().for_each(|id| self.reinject_flight(id));
        }
    }

    /// Longest probe timeout of any path: what draining and key retention are measured by.
    pub(super) fn longest_pto(&self) -> Duration {
        let ptos = self.paths.values().map(|path| path.pto(self.max_ack_delay()));
        ptos.max().unwrap_or(Duration::from_secs(1))
    }
}
