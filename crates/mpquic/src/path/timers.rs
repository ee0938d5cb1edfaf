//! When something of a path is due.

use super::candidate::{CHALLENGE_TRIES, LEAST_BYTES};
use super::{Health, Path, Paths};
use units::{Duration, Instant};

/// Silence before a path counts as failed, at least.
const FAILURE_FLOOR: Duration = Duration::from_millis(500);
/// Probes of a suspected path are no further apart than this while another path works, and those of a
/// path that failed no closer.
const PROBE_CEILING: Duration = Duration::from_millis(250);
/// Probes of a path that failed are no further apart than this, so that it is used again soon after an
/// outage of any length. It deviates from the doubling of RFC 9002 §6.2.1, and costs a packet or two
/// every half a second.
const FAILED_PROBE_CEILING: Duration = Duration::from_millis(500);

/// What the timers of paths depend on beside them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Running {
    /// The handshake is confirmed: probe timers run (RFC 9002 §6.2.1).
    pub confirmed: bool,
    /// Silence after which a path is asked for a sign of life, if anybody waits for data.
    pub keep_alive: Option<Duration>,
}

/// A timer of a path that fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// It was given up, and its last packets had their time.
    Drained,
    /// Its validation was never answered.
    Unvalidated,
    /// It was silent for too long.
    Failed,
    /// The probe timer (RFC 9002 §6.2).
    Probe,
    /// Nobody has heard of it for long.
    KeepAlive,
}

impl Path {
    /// Probe timeout with the peer's ACK delay (RFC 9002 §6.2.1).
    pub fn pto(&self) -> Duration {
        self.rtt.pto() + self.peer_ack_delay
    }

    /// When the probe timer fires.
    pub fn pto_at(&self, others_work: impl FnOnce() -> bool) -> Option<Instant> {
        let waits = self.space.is_eliciting() || self.health == Health::Failed;
        if !waits || self.rest_until.is_some() || !self.is_open() {
            return None;
        }
        let pto = self.pto();
        if self.health == Health::Failed {
            let period = pto.clamp(PROBE_CEILING, FAILED_PROBE_CEILING);
            return Some(self.space.last_eliciting_at + period);
        }
        if self.pto_count == 0 {
            return Some(self.space.last_eliciting_at + pto);
        }
        let backed_off = pto * (1 << self.pto_count.min(10)); // RFC 9002 §6.2.1
        let ceiling = if others_work() { pto.max(PROBE_CEILING) } else { backed_off };
        let period = backed_off.min(ceiling);
        Some(self.space.last_eliciting_at + period)
    }

    /// When a silent path counts as failed.
    pub fn fails_at(&self) -> Option<Instant> {
        if self.health == Health::Failed || self.rest_until.is_some() || !self.is_open() {
            return None;
        }
        self.silent_since.map(|since| since + self.patience())
    }

    /// The silence after which it counts as failed.
    fn patience(&self) -> Duration {
        (self.pto() * 3).max(FAILURE_FLOOR)
    }

    /// When it is asked for a sign of life (`Config::keep_alive`). With something in flight the probe
    /// timer does.
    fn keep_alive_at(&self, period: Option<Duration>) -> Option<Instant> {
        let silent = self.is_open() && self.is_awake() && !self.space.is_eliciting();
        let since = self.heard_at.max(self.space.last_eliciting_at);
        period.filter(|_| silent).map(|period| since + period)
    }

    /// When its challenge is due, or given up.
    fn challenge_timer(&self) -> Option<Instant> {
        // One that never left waits for credit of the address: `postpone_challenges` counts its tries.
        let waits = self.amplification_left() < LEAST_BYTES;
        let since = self.challenge_at.or(waits.then_some(Instant::ZERO));
        self.challenge.and(since).filter(|_| self.is_awake())
    }

    /// When the challenge of another way, or of the former one, is due, or given up.
    fn candidate_timer(&self) -> Option<Instant> {
        let ways = self.candidate.iter().chain(&self.former);
        ways.filter(|_| self.is_awake()).map(|way| way.at).min()
    }

    fn gave_up(&self, now: Instant) -> bool {
        let late = self.challenge_at.is_some_and(|at| at <= now);
        self.challenge.is_some() && late && self.challenge_tries >= CHALLENGE_TRIES
    }
}

impl Paths {
    /// Acknowledgements alone never show whether they arrive (RFC 9000 §13.2.4). Where the peer has been
    /// silent for longer than a working path would be, they ask for one: else a path that died would
    /// take the acknowledgements of all others with it. Long ones do once in a round trip: what the
    /// peer has is not repeated.
    pub fn asks_with_acks(&self, now: Instant, id: u32) -> bool {
        let Some(path) = self.get(id).filter(|path| path.is_usable()) else { return false };
        let silent = now - path.heard_at.max(path.space.last_eliciting_at);
        let is_long = path.space.received.is_long()
            && now - path.space.last_eliciting_at >= path.rtt.smoothed();
        !path.space.is_eliciting() && (is_long || silent > path.patience())
    }

    /// When something of any path is due; [`Instant::FAR_FUTURE`]: never.
    pub fn timer(&self, running: Running) -> Instant {
        self.values().fold(Instant::FAR_FUTURE, |first, path| self.timer_of(path, running, first))
    }

    /// When something of a path is due, or `first` if that is before. Asked after each packet.
    fn timer_of(&self, path: &Path, running: Running, first: Instant) -> Instant {
        let mut first = first;
        let mut rings = |at: Option<Instant>| first = at.map_or(first, |at| first.min(at));
        rings(path.drains_until);
        rings(path.rest_until);
        rings(path.space.loss_at);
        if running.confirmed {
            rings(path.pto_at(|| self.others_work(path.id)));
            rings(path.fails_at());
        }
        if path.space.received.ack_at.is_some() && self.values().any(Path::is_awake) {
            rings(path.space.received.ack_at);
        }
        if path.challenge.is_some() {
            rings(path.challenge_timer());
        }
        rings(path.candidate_timer());
        rings(path.keep_alive_at(running.keep_alive));
        if path.rest_until.is_none() {
            rings(path.feed.outage().map(|outage| outage.window.start));
        }
        first
    }

    /// Which timer of a path fired.
    pub fn due(&self, now: Instant, id: u32, running: Running) -> Option<Due> {
        let path = self.get(id)?;
        if let Some(until) = path.drains_until {
            return (until <= now).then_some(Due::Drained);
        }
        if path.gave_up(now) {
            return Some(Due::Unvalidated);
        }
        let is_due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if running.confirmed && is_due(path.fails_at()) {
            Some(Due::Failed)
        } else if running.confirmed && is_due(path.pto_at(|| self.others_work(id))) {
            Some(Due::Probe)
        } else {
            is_due(path.keep_alive_at(running.keep_alive)).then_some(Due::KeepAlive)
        }
    }
}
