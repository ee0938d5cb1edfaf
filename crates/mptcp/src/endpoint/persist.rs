//! Probes of a closed window (RFC 9293 §3.8.6.1; Linux `tcp_timer.c tcp_probe_timer`): the announcement that
//! it opened may be lost, and nobody would repeat it.

use super::Endpoint;
use crate::segment::Kind;
use recovery::{RTO_MAX, RTO_MIN};
use units::{Duration, Instant, PathId};

/// When the next probe leaves, and how many did in a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Persist {
    at: Instant,
    sent: u32,
}

impl Default for Persist {
    fn default() -> Self {
        Self { at: Instant::FAR_FUTURE, sent: 0 }
    }
}

impl Persist {
    pub const fn at(&self) -> Instant {
        self.at
    }
}

impl Endpoint {
    /// Starts the timer when only the window holds data back, and nothing is outstanding that would bring
    /// an acknowledgement; stops it otherwise.
    pub(super) fn check_persist(&mut self, now: Instant) {
        let next = self.send.next_new().filter(|_| self.send.is_empty());
        if next.is_none_or(|(dsn, bytes)| self.send.fits(dsn + bytes)) {
            self.persist = Persist::default();
        } else if self.persist.at == Instant::FAR_FUTURE {
            self.schedule_persist(now);
        }
    }

    /// Sends a probe, if one is due.
    pub(super) fn on_persist_timer(&mut self, now: Instant) {
        if self.persist.at > now {
            return;
        }
        if let Some(path) = self.prober() {
            self.push_segment(now, path, Kind::Probe, None);
            self.removals = self.gone(); // what the peer still holds of them may be what fills its memory
        }
        self.persist.sent += 1;
        self.schedule_persist(now);
    }

    /// After one retransmission timeout, doubled with each probe, at most 120 s (`tcp_probe0_when`).
    fn schedule_persist(&mut self, now: Instant) {
        let rto = self.prober().and_then(|path| self.sender(path)).map(|tx| tx.rto());
        let base: Duration = rto.unwrap_or(recovery::RTO_INITIAL).max(RTO_MIN);
        self.persist.at = now + (base * (1 << self.persist.sent.min(16))).min(RTO_MAX);
    }

    /// The established subflows in turn: one of them may be dead.
    pub(super) fn prober(&self) -> Option<PathId> {
        let alive = || self.established().filter(|one| !self.paths[one.path.index()].failed);
        let count = alive().count().max(1);
        alive().nth(self.persist.sent as usize % count).map(|one| one.path)
    }
}
