//! Time.

use super::Endpoint;
use crate::error::{Code, TransportError};
use crate::event::Closed;
use crate::handshake::Level;
use crate::lifetime::idle_period;
use crate::path::{Due, Running};
use units::Instant;

/// PATH_ABANDON error code of a path that does not work (draft-ietf-quic-multipath-21 §4.3).
const UNSTABLE_OR_POOR: u64 = 0x3e76;

impl Endpoint {
    /// When [`Endpoint::on_timeout`] has to be called at the latest.
    pub fn poll_timeout(&self) -> Option<Instant> {
        if self.lifetime.is_over() {
            return None;
        }
        let first = self.lifetime.ends_at().unwrap_or_else(|| {
            let first = self.lifetime.idle.at().min(self.scheduling.timer());
            let first = self.handshake_timer().map_or(first, |at| first.min(at));
            first.min(self.paths.timer(self.running()))
        });
        (first != Instant::FAR_FUTURE).then_some(first)
    }

    /// When something of the handshake is due.
    fn handshake_timer(&self) -> Option<Instant> {
        if self.handshake.confirmed {
            return None;
        }
        let probe_at = self.handshake_probe().map(|(at, _)| at);
        self.handshake.timer(self.may_answer(), probe_at)
    }

    /// When the handshake's probe timer fires, and for which level.
    fn handshake_probe(&self) -> Option<(Instant, Level)> {
        let pto = self.paths.get(0)?.rtt.pto();
        let since = self.config.is_client().then(|| self.lifetime.idle.since());
        self.handshake.probe_at(pto, || self.may_answer(), since)
    }

    /// The anti-amplification limit leaves room for an answer.
    pub(super) fn may_answer(&self) -> bool {
        self.paths.get(0).is_some_and(|path| {
            path.amplification_left() >= self.config.datagram_bytes.max(1200) as u64
        })
    }

    /// What the timers of paths depend on.
    fn running(&self) -> Running {
        let confirmed = self.handshake.confirmed;
        let reads = self.config.is_client() && confirmed && !self.streams.recv.is_empty();
        let period = Some(self.config.keep_alive).filter(|period| reads && !period.is_zero());
        Running { confirmed, keep_alive: period }
    }

    /// Fires every timer that is due.
    pub fn on_timeout(&mut self, now: Instant) {
        if !self.lifetime.is_open() {
            if self.lifetime.ends_at().is_some_and(|until| until <= now) {
                self.die(now, None);
            }
            return;
        }
        if self.lifetime.idle.at() <= now {
            return self.die(now, Some(Closed::IdleTimeout)); // RFC 9000 §10.1
        }
        self.update_rest(now);
        self.detect_losses(now);
        if let Some((_, level)) = self.handshake_probe().filter(|(at, _)| *at <= now) {
            self.handshake.on_probe_timer(now, level);
        }
        for id in self.paths.ids_of(|_| true) {
            self.on_path_timer(now, id);
        }
        self.scheduling.on_timer(now);
    }

    fn on_path_timer(&mut self, now: Instant, id: u32) {
        let due = self.paths.due(now, id, self.running());
        match due {
            Some(Due::Drained) => return self.drop_path(id),
            Some(Due::Unvalidated) => return self.on_no_answer(now, id),
            _ => {}
        }
        let no_cid = self.cids.peer.current(id).is_none();
        self.paths.postpone_challenges(now, id, no_cid);
        match due {
            Some(Due::Failed) => self.fail_path(now, id),
            Some(Due::Probe) => self.on_probe_timer(now, id),
            Some(Due::KeepAlive) => {
                if let Some(path) = self.paths.get_mut(id) {
                    path.probes = 1;
                    path.space.last_eliciting_at = now;
                }
            }
            _ => {}
        }
    }

    /// The validation of a path was never answered.
    fn on_no_answer(&mut self, now: Instant, id: u32) {
        if self.paths.challenge_goes_on(now, id, self.config.is_client()) {
            return;
        }
        self.leave_path(now, id, UNSTABLE_OR_POOR);
        if !self.paths.has_any() {
            // There is no path left to tell the peer on (RFC 9000 §9).
            let error = TransportError::new(Code::NoViablePath, "no path answers");
            self.drain(now, Closed::Error(error));
        }
    }

    pub(super) fn restart_idle(&mut self, now: Instant) {
        let period = idle_period(
            self.config.idle_timeout,
            self.handshake.peer_idle_timeout(),
            self.paths.longest_pto(),
        );
        self.lifetime.idle.restart(now, period);
    }
}
