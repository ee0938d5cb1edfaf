use crate::wire::MIN_INITIAL_BYTES;
use rand::Rng;
use units::{Duration, Instant, PathId};

/// Anti-amplification: this many times what came may leave on a path that is not validated
/// (RFC 9000 §8.1).
pub(crate) const AMPLIFICATION: u64 = 3;
/// Interval and number of retransmissions of a challenge (RFC 9000 §8.2.1 leaves both open):
/// together three initial probe timeouts (RFC 9000 §8.2.4).
pub(crate) const CHALLENGE_PERIOD: Duration = Duration::from_millis(333);
pub(crate) const CHALLENGE_TRIES: u32 = 9;
/// Smallest packet with a challenge, and less than three times the smallest 1-RTT packet.
pub(crate) const LEAST_BYTES: u64 = 60;

/// Another way that a path's packets come, and its validation (RFC 9000 §9.3).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub net: PathId,
    pub challenge: [u8; 8],
    /// When the challenge goes (again).
    pub at: Instant,
    tries: u32,
    came_bytes: u64,
    left_bytes: u64,
    /// The peer's challenge from there, to be answered there (RFC 9000 §8.2.2).
    pub response: Option<[u8; 8]>,
    /// Our latest challenge left in a full datagram: its answer says that such pass (RFC 9000 §8.2.1).
    pub in_full: bool,
    /// Nothing but copies came from there, after what they copy: it may be the peer, and somebody else
    /// is faster with copies of all that it sends.
    pub of_copies: bool,
}

impl Candidate {
    /// A packet of `bytes` came over `net`, which has to be challenged at once.
    pub fn new(now: Instant, net: PathId, bytes: u64, rng: &mut impl Rng) -> Self {
        let mut challenge = [0; 8];
        rng.fill_bytes(&mut challenge);
        Self {
            net,
            challenge,
            at: now,
            tries: 0,
            came_bytes: bytes,
            left_bytes: 0,
            response: None,
            in_full: false,
            of_copies: false,
        }
    }

    /// A copy of `bytes` came over `net`.
    pub fn of_copies(now: Instant, net: PathId, bytes: u64, rng: &mut impl Rng) -> Self {
        Self { of_copies: true, ..Self::new(now, net, bytes, rng) }
    }

    /// The way that a path has left, which was proven (RFC 9000 §9.3.3).
    pub fn former(now: Instant, net: PathId, rng: &mut impl Rng) -> Self {
        Self::new(now, net, u64::from(u32::MAX), rng)
    }

    /// Further bytes came from there.
    pub const fn on_came(&mut self, bytes: u64) {
        self.came_bytes += bytes;
    }

    /// What may be sent there (RFC 9000 §8.1).
    pub fn budget_bytes(&self) -> u64 {
        (self.came_bytes * AMPLIFICATION).saturating_sub(self.left_bytes)
    }

    /// Its challenge has to leave now, or an answer, and may.
    pub fn is_due(&self, now: Instant) -> bool {
        (self.challenge_is_due(now) || self.response.is_some())
            && self.budget_bytes() >= LEAST_BYTES
    }

    pub fn challenge_is_due(&self, now: Instant) -> bool {
        self.at <= now && self.tries < CHALLENGE_TRIES
    }

    /// All that was due left, in a datagram of `bytes`.
    pub fn on_sent(&mut self, now: Instant, bytes: u64) {
        self.left_bytes += bytes;
        self.response = None;
        if self.challenge_is_due(now) {
            self.in_full = bytes >= MIN_INITIAL_BYTES as u64;
            self.postpone(now);
        }
    }

    /// The challenge counts as tried.
    pub fn postpone(&mut self, now: Instant) {
        self.tries += 1;
        self.at = now + CHALLENGE_PERIOD;
    }

    /// It never answered.
    pub const fn gave_up(&self) -> bool {
        self.tries >= CHALLENGE_TRIES
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn what_leaves_is_three_times_what_came_and_nine_tries() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let now = Instant::from_millis(10);
        let mut candidate = Candidate::new(now, PathId(3), 40, &mut rng);
        assert!(candidate.is_due(now) && candidate.budget_bytes() == 120);
        candidate.on_sent(now, 100);
        assert!(!candidate.is_due(candidate.at), "20 bytes are left");
        candidate.on_came(100);
        assert!(candidate.is_due(candidate.at) && !candidate.is_due(now));
        (1..CHALLENGE_TRIES).for_each(|_| candidate.postpone(now));
        assert!(candidate.gave_up() && !candidate.is_due(candidate.at));
    }
}
