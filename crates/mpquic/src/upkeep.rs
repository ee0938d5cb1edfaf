use crate::error::TransportError;
use units::{Duration, Instant};

/// A round trip counts as this long at least, so that a short one does not allow any number.
const LEAST_PERIOD: Duration = Duration::from_millis(100);
/// Changes within a round trip that an honest peer may need whatever its paths, and for each path that
/// we let it use.
const ALLOWED: u64 = 256;
const ALLOWED_PER_PATH: u64 = 16;

/// How many frames about paths and connection IDs the peer sends. Those that change something are
/// bounded, because an honest peer needs few (RFC 9000 §21.9, §21.12). Those that change nothing cost no
/// more than to read them, and are only counted: a link that held back the probes of an outage delivers
/// hundreds of repetitions at once, all from an honest peer.
#[derive(Debug, Default)]
pub(crate) struct Upkeep {
    since: Instant,
    count: u64,
    idle: u64,
}

impl Upkeep {
    /// One came; `changed`: it did change something. `rtt` is the longest round trip, `paths` how many
    /// the peer may have.
    ///
    /// # Errors
    /// More changes came within a round trip than any honest peer needs.
    pub fn on_frame(
        &mut self,
        now: Instant,
        (rtt, paths): (Duration, u64),
        changed: bool,
    ) -> Result<(), TransportError> {
        if !changed {
            self.idle += 1;
            return Ok(());
        }
        if now >= self.since + rtt.max(LEAST_PERIOD) {
            (self.since, self.count) = (now, 0);
        }
        self.count += 1;
        if self.count > ALLOWED.saturating_add(ALLOWED_PER_PATH.saturating_mul(paths)) {
            return Err(TransportError::violation("too many frames about paths in a round trip"));
        }
        Ok(())
    }

    /// How many changed nothing, in all.
    pub const fn idle(&self) -> u64 {
        self.idle
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_round_trip_allows_is_bounded_and_begins_anew_with_the_next() {
        let mut upkeep = Upkeep::default();
        let rtt = Duration::from_millis(300);
        let mut frames = |at: u64, count: usize| {
            let now = Instant::from_millis(at);
            (0..count).filter(|_| upkeep.on_frame(now, (rtt, 4), true).is_ok()).count()
        };
        assert_eq!(frames(1000, 1000), 320);
        assert_eq!(frames(1299, 1000), 0);
        assert_eq!(frames(1300, 1000), 320);
        assert_eq!(upkeep.idle(), 0);
    }

    #[test]
    fn what_changes_nothing_is_counted_alone() {
        let mut upkeep = Upkeep::default();
        let mut frame =
            |changed| upkeep.on_frame(Instant::from_millis(1), (Duration::ZERO, 0), changed);
        assert!((0..100_000).all(|_| frame(false).is_ok()));
        assert!((0..ALLOWED).all(|_| frame(true).is_ok()));
        assert!(frame(false).is_ok() && frame(true).is_err());
        assert_eq!(upkeep.idle(), 100_001);
    }

    #[test]
    fn a_short_round_trip_allows_no_more_than_a_tenth_of_a_second_does() {
        let mut upkeep = Upkeep::default();
        let short = Duration::from_micros(50);
        let mut taken = 0;
        for micros in 0..90_000_u64 {
            let now = Instant::from_nanos((1_000_000 + micros) * 1000);
            taken += u64::from(upkeep.on_frame(now, (short, 0), true).is_ok());
        }
        assert_eq!((taken, upkeep.idle()), (ALLOWED, 0));
    }
}
