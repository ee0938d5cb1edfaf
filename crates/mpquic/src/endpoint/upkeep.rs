//! Frames of the peer about paths and connection IDs. What one costs depends on the paths that are
//! there, and not on those that ever were.

use super::Endpoint;
use crate::cids::PER_PATH;
use crate::error::TransportError;
use crate::event::Event;
use crate::path::PathStatus;
use crate::wire::{Frame, NewCid};
use units::Instant;

impl Endpoint {
    pub(super) fn on_upkeep(
        &mut self,
        now: Instant,
        frame: &Frame<'_>,
    ) -> Result<(), TransportError> {
        let changed = match *frame {
            Frame::NewConnectionId { path, ref new } => {
                self.on_new_cid(path.unwrap_or(0), new, path)?
            }
            Frame::RetireConnectionId { path, sequence } => {
                self.on_retired_cid(path.unwrap_or(0), sequence)?
            }
            Frame::PathAbandon { path, error_code } => {
                self.on_path_abandon(now, path, error_code)?
            }
            Frame::PathStatus { path, sequence, backup } => {
                self.on_path_status(path, PathStatus { sequence, backup })?
            }
            Frame::MaxPathId { maximum } => self.on_max_path_id(maximum)?,
            Frame::PathsBlocked { maximum } => {
                self.check_blocked(maximum, 0)?;
                false
            }
            Frame::PathCidsBlocked { path, next_sequence } => {
                self.check_blocked(path, next_sequence)?;
                false
            }
            _ => false,
        };
        let paths = u64::from(self.handshake.local.initial_max_path_id.unwrap_or(0)) + 1;
        let rtt = self.paths.slowest_rtt();
        self.control.upkeep.on_frame(now, (rtt, paths), changed)
    }

    fn on_new_cid(
        &mut self,
        id: u32,
        new: &NewCid,
        named: Option<u32>,
    ) -> Result<bool, TransportError> {
        if !self.paths.ids.is_allowed(id) {
            let reason = "a connection ID for a path beyond the limit";
            return Err(TransportError::violation(reason));
        }
        if self.paths.ids.is_over(id) {
            return Ok(false);
        }
        let known = self.cids.peer.has(id, new.sequence);
        if self.config.is_client() && !self.paths.ids.is_below_next(id) {
            self.trace.event(Event::PathLimitsRaised);
        }
        for sequence in self.cids.peer.add(id, new)? {
            self.control.push(Frame::RetireConnectionId { path: named, sequence });
        }
        Ok(!known)
    }

    fn on_retired_cid(&mut self, id: u32, sequence: u64) -> Result<bool, TransportError> {
        if self.paths.ids.is_over(id) {
            return Ok(false);
        }
        let retired = self.cids.local.retire(id, sequence)?;
        if retired {
            self.give_cids(id);
        }
        Ok(retired)
    }

    fn on_path_abandon(
        &mut self,
        now: Instant,
        id: u32,
        error_code: u64,
    ) -> Result<bool, TransportError> {
        if !self.paths.ids.is_allowed(id) {
            return Err(TransportError::violation("abandoned a path beyond the limit"));
        }
        let open = self.paths.get(id).is_some_and(|path| path.drains_until.is_none());
        let fresh = self.paths.ids.take(id);
        if fresh {
            // Given up before anything of it came: draft-ietf-quic-multipath-21 §3.4.
            self.control.push(Frame::PathAbandon { path: id, error_code });
            self.drop_path(id);
        } else {
            self.leave_path(now, id, error_code);
        }
        // Without any path left the connection waits for the client to open another, until it is idle for
        // too long (draft-ietf-quic-multipath-21 §3.4 lets a server wait): the peer may not know yet that
        // we gave up the path that it counts on.
        Ok(fresh || open)
    }

    fn on_max_path_id(&mut self, maximum: u32) -> Result<bool, TransportError> {
        // draft-ietf-quic-multipath-21 §4.6
        if Some(maximum) < self.handshake.peer.initial_max_path_id {
            return Err(TransportError::violation("fewer paths than at first"));
        }
        let raised = self.paths.ids.raise(maximum);
        if raised {
            self.give_all_cids();
            if self.config.is_client() {
                self.trace.event(Event::PathLimitsRaised);
            }
        }
        Ok(raised)
    }

    /// What the peer says that it waits for can be (draft-ietf-quic-multipath-21 §4.7).
    fn check_blocked(&self, id: u32, next_sequence: u64) -> Result<(), TransportError> {
        if !self.paths.ids.is_allowed(id) {
            return Err(TransportError::violation("blocked beyond the limit"));
        }
        let unknown = next_sequence > self.cids.local.next_sequence(id);
        if unknown && !self.paths.ids.is_over(id) {
            return Err(TransportError::violation("blocked by an ID that is not next"));
        }
        Ok(())
    }

    /// Gives the peer connection IDs for all paths that it may use.
    pub(super) fn give_all_cids(&mut self) {
        let live: Vec<u32> = self.paths.ids.live().collect();
        live.into_iter().for_each(|id| self.give_cids(id));
    }

    /// Gives the peer connection IDs for a path, if it may use that and lacks some.
    pub(super) fn give_cids(&mut self, id: u32) {
        if self.paths.ids.is_live(id) {
            let wanted = self.handshake.peer.active_connection_id_limit.min(PER_PATH);
            let frames = self.cids.give(id, wanted, &self.config.reset_key, &mut self.rng);
            self.control.extend(frames);
        }
    }
}
