//! Time.

use super::Endpoint;
use super::close::Life;
use super::handshake::Level;
use crate::error::{Code, TransportError};
use crate::event::Closed;
use crate::path::{LEAST_BYTES, Path};
use units::{Duration, Instant};

impl Endpoint {
    /// When [`Endpoint::on_timeout`] has to be called at the latest.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let first = match self.life {
            Life::Over => return None,
            Life::Closing { until, .. } | Life::Draining { until } => until,
            Life::Open => {
                let paths = self.paths.values().filter_map(|path| self.path_timer(path));
                let timers = paths.chain(self.handshake_timers());
                let timers =
                    timers.chain([self.idle.at(), self.dispatch.wake_at(), self.paced_until]);
                timers.min().unwrap_or(Instant::FAR_FUTURE)
            }
        };
        (first != Instant::FAR_FUTURE).then_some(first)
    }

    /// When something of the handshake is due.
    fn handshake_timers(&self) -> Option<Instant> {
        if self.confirmed {
            return None;
        }
        let spaces = [Level::Initial, Level::Handshake].into_iter();
        let spaces = spaces.map(|level| &self.handshake.space(level).space);
        let timers = spaces.flat_map(|space| {
            let ack_at = space.received.ack_at.filter(|_| self.may_answer());
            [space.loss_at, ack_at]
        });
        timers.flatten().chain(self.handshake_timer().map(|(at, _)| at)).min()
    }

    /// The anti-amplification limit leaves room for an answer.
    pub(super) fn may_answer(&self) -> bool {
        self.paths.get(&0).is_some_and(|path| {
            path.amplification_left() >= self.config.datagram_bytes.max(1200) as u64
        })
    }

    fn path_timer(&self, path: &Path) -> Option<Instant> {
        let delay = self.max_ack_delay();
        let others = || self.others_work(path.id);
        let outage = path.feed.outage();
        // One that never left waits for credit of the address: `postpone_challenge` counts its tries.
        let waits = path.amplification_left() < LEAST_BYTES;
        let since = path.challenge_at.or(waits.then_some(Instant::ZERO));
        let challenge = path.challenge.and(since);
        let due = [
            path.drains_until,
            path.rest_until,
            path.space.loss_at,
            path.pto_at(delay, others).filter(|_| self.confirmed),
            path.fails_at(delay).filter(|_| self.confirmed),
            path.space.received.ack_at.filter(|_| self.paths.values().any(Path::is_awake)),
            challenge.filter(|_| path.is_awake()),
            Self::rebind_timer(path),
            self.keep_alive_at(path),
            outage.map(|outage| outage.window.start).filter(|_| path.rest_until.is_none()),
        ];
        due.into_iter().flatten().min()
    }

    /// Fires every timer that is due.
    pub fn on_timeout(&mut self, now: Instant) {
        match self.life {
            Life::Over => return,
            Life::Closing { until, .. } | Life::Draining { until } => {
                if until <= now {
                    self.die(now, None);
                }
                return;
            }
            Life::Open => {}
        }
        if self.idle.at() <= now {
            return self.die(now, Some(Closed::IdleTimeout)); // RFC 9000 §10.1
        }
        self.update_rest(now);
        self.detect_losses(now);
        if let Some((_, level)) = self.handshake_timer().filter(|(at, _)| *at <= now) {
            self.on_handshake_timer(now, level);
        }
        let ids: Vec<u32> = self.paths.values().map(|path| path.id).collect();
        ids.into_iter().for_each(|id| self.on_path_timer(now, id));
        self.dispatch.on_timer(now);
        if self.paced_until <= now {
            self.paced_until = Instant::FAR_FUTURE;
        }
    }

    fn on_path_timer(&mut self, now: Instant, id: u32) {
        let delay = self.max_ack_delay();
        let Some(path) = self.paths.get(&id) else { return };
        if path.drains_until.is_some() {
            if path.drains_until.is_some_and(|until| until <= now) {
                self.drop_path(id);
            }
            return;
        }
        if Self::challenge_gave_up(path, now) {
            self.leave_path(now, id, super::paths::UNSTABLE_OR_POOR);
            if !self.has_any_path() {
                // There is no path left to tell the peer on (RFC 9000 §9).
                let error = TransportError::new(Code::NoViablePath, "no path answers");
                self.drain(now, Closed::Error(error));
            }
            return;
        }
        self.postpone_challenge(now, id);
        self.on_rebind_timer(now, id);
        let Some(path) = self.paths.get(&id) else { return };
        if !self.confirmed {
            return;
        }
        let fails = path.fails_at(delay).is_some_and(|at| at <= now);
        let probes = path.pto_at(delay, || self.others_work(id)).is_some_and(|at| at <= now);
        let keeps_alive = self.keep_alive_at(path).is_some_and(|at| at <= now);
        if fails {
            self.fail_path(now, id);
        } else if probes {
            self.on_probe_timer(now, id);
        } else if keeps_alive && let Some(path) = self.paths.get_mut(&id) {
            path.probes = 1;
            path.space.last_eliciting_at = now;
        }
    }

    /// When a client asks a path for a sign of life (`Config::keep_alive`). Of a path with something
    /// in flight the probe timer does.
    fn keep_alive_at(&self, path: &Path) -> Option<Instant> {
        let waits = self.is_client && self.confirmed && !self.streams.recv.is_empty();
        let silent = path.is_open() && path.is_awake() && !path.space.is_eliciting();
        let wanted = waits && silent && !self.config.keep_alive.is_zero();
        let since = path.heard_at.max(path.space.last_eliciting_at);
        wanted.then(|| since + self.config.keep_alive)
    }

    /// The probe timer of the handshake (RFC 9002 §6.2.1, §6.2.2.1).
    fn handshake_timer(&self) -> Option<(Instant, Level)> {
        if self.confirmed {
            return None;
        }
        let path = self.paths.get(&0)?;
        let period = path.rtt.pto() * (1 << self.handshake.pto_count.min(10));
        let levels = [Level::Initial, Level::Handshake];
        let in_flight =
            levels.into_iter().filter(|level| self.handshake.space(*level).space.is_eliciting());
        let first = in_flight
            .map(|level| (self.handshake.space(level).space.last_eliciting_at + period, level));
        let first = first.min_by_key(|(at, _)| *at);
        if first.is_some() && !self.may_answer() {
            return None; // blocked until the client sends more: RFC 9002 §6.2.2.1
        }
        // A client keeps probing: the server may be blocked by its anti-amplification limit.
        first.or_else(|| {
            let level = if self.handshake.space(Level::Handshake).keys.is_some() {
                Level::Handshake
            } else {
                Level::Initial
            };
            let space = &self.handshake.space(level).space;
            let probes =
                self.is_client && space.sent.next() + u64::from(level == Level::Handshake) > 0;
            probes.then_some((space.last_eliciting_at.max(self.idle.since()) + period, level))
        })
    }

    fn on_handshake_timer(&mut self, now: Instant, level: Level) {
        self.handshake.pto_count += 1;
        for level in [Level::Initial, Level::Handshake] {
            let frames: Vec<_> = {
                let space = &mut self.handshake.space_mut(level).space;
                space.last_eliciting_at = now;
                // What was retransmitted already is in a later packet: each is asked once.
                let fresh = space.sent.iter_mut().filter(|(_, packet)| !packet.requeued);
                let frames = fresh.flat_map(|(_, packet)| {
                    packet.requeued = true;
                    packet.frames.clone()
                });
                frames.collect()
            };
            for frame in frames {
                if let crate::space::SentFrame::Crypto(range) = frame {
                    self.on_crypto_lost(level, range);
                }
            }
        }
        self.handshake.space_mut(level).ping = true;
    }

    // ---- idle --------------------------------------------------------------------------------

    fn idle_period(&self) -> Duration {
        let ours = self.config.idle_timeout;
        let peers = Duration::from_millis(self.peer.max_idle_timeout_ms);
        let both = [ours, peers].into_iter().filter(|period| !period.is_zero());
        match both.min() {
            // RFC 9000 §10.1: not before three probe timeouts.
            Some(period) => period.max(self.longest_pto() * 3),
            None => Duration::MAX, // ends at `Instant::FAR_FUTURE`: never
        }
    }

    pub(super) fn restart_idle(&mut self, now: Instant) {
        self.idle.restart(now, self.idle_period());
    }
}
