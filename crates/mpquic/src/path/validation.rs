//! Whether the peer receives on a path (RFC 9000 §8.2).

use super::candidate::{CHALLENGE_PERIOD, CHALLENGE_TRIES, Candidate, LEAST_BYTES};
use super::{Path, Paths};
use rand::Rng;
use units::Instant;

/// Tries of a challenge that goes on until it is decided about again: enough for others to answer.
const FURTHER_TRIES: u32 = 3;

impl Path {
    /// Challenges the peer, at once and anew.
    pub fn begin_challenge(&mut self, rng: &mut impl Rng) {
        let mut data = [0; 8];
        rng.fill_bytes(&mut data);
        self.challenge = Some(data);
        (self.challenge_at, self.challenge_tries) = (None, 0);
    }

    /// A challenge has to leave now.
    /// (The last try's end is `on_timeout`'s, however often a driver asks before.)
    pub fn challenge_is_due(&self, now: Instant) -> bool {
        self.challenge.is_some()
            && self.challenge_at.is_none_or(|at| at <= now)
            && self.challenge_tries < CHALLENGE_TRIES
    }

    /// The challenge that leaves now.
    pub fn take_challenge(&mut self, now: Instant) -> Option<[u8; 8]> {
        let data = self.challenge.filter(|_| self.challenge_is_due(now))?;
        self.count_try(now);
        Some(data)
    }

    fn count_try(&mut self, now: Instant) {
        self.challenge_at = Some(now + CHALLENGE_PERIOD);
        self.challenge_tries += 1;
    }

    /// The peer answered where the path was before: it works, and has its answer.
    pub fn on_former_response(&mut self, data: [u8; 8]) {
        self.former = self.former.filter(|former| former.challenge != data);
    }

    /// The peer answered the challenge: whether that validates the path, which it was not. If the challenge
    /// was small the next one asks whether full datagrams pass (RFC 9000 §8.2.3).
    pub fn on_response(&mut self, data: [u8; 8], rng: &mut impl Rng) -> bool {
        if self.challenge != Some(data) {
            return false;
        }
        self.challenge = None;
        if !self.challenge_in_full {
            self.begin_challenge(rng);
        }
        !std::mem::replace(&mut self.validated, true)
    }

    fn postpone_challenge(&mut self, now: Instant, no_cid: bool) {
        let due = self.challenge.is_some() && self.challenge_at.is_none_or(|at| at <= now);
        if due && (no_cid || self.amplification_left() < LEAST_BYTES) {
            self.count_try(now);
        }
    }
}

fn postpone(way: &mut Option<Candidate>, now: Instant, no_cid: bool) {
    let Some(candidate) = way.as_mut().filter(|candidate| candidate.at <= now) else { return };
    if candidate.gave_up() {
        *way = None;
    } else if no_cid || candidate.budget_bytes() < LEAST_BYTES {
        candidate.postpone(now);
    }
}

impl Paths {
    /// Whether the challenge of a path goes on past its last try (RFC 9000 §8.2.4: an endpoint can wait;
    /// the idle timeout ends what never comes back). It does unless another path has shown lately that
    /// it works; those that seem to are asked. A server leaves it to the client, as long as that sends on
    /// the path: of two ends that give up different paths at the same time none would be left.
    pub fn challenge_goes_on(&mut self, now: Instant, id: u32, is_client: bool) -> bool {
        let lately = |path: &Path| now - path.heard_at < CHALLENGE_PERIOD * CHALLENGE_TRIES;
        let client_sends = !is_client && self.get(id).is_some_and(lately);
        let works = |path: &Path| path.id != id && path.is_usable() && lately(path);
        if !client_sends && self.values().any(works) {
            return false;
        }
        for path in self.values_mut() {
            if path.id == id {
                path.challenge_tries = CHALLENGE_TRIES - FURTHER_TRIES;
            } else if path.is_usable() && !client_sends {
                path.ask(now);
            }
        }
        true
    }

    /// Challenges that are due and cannot leave (anti-amplification; `no_cid`: no connection ID) count
    /// as tried.
    pub fn postpone_challenges(&mut self, now: Instant, id: u32, no_cid: bool) {
        if let Some(path) = self.get_mut(id).filter(|path| path.drains_until.is_none()) {
            path.postpone_challenge(now, no_cid);
            postpone(&mut path.candidate, now, no_cid);
            postpone(&mut path.former, now, no_cid);
        }
    }
}
