//! How long a queue the link can hold, where that is less than what headroom would put there.
//!
//! A drop-tail queue shorter than that overflows all the time: a loss or two each round trip, which headroom
//! does not heed and which stop whoever halves for each.

use units::{Duration, Instant};

/// As long as a delay counts, and a limit without a new sign of overflow.
const SPAN: Duration = Duration::from_secs(5);
/// What the queue is given to grow again when a limit has ended.
const REGROWTH: Duration = Duration::from_secs(1);

/// The longest queue seen of late, and the limit that follows from losses there.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ceiling {
    latest: Duration,
    longest: Option<(Duration, Instant)>,
    limit: Option<(Duration, Instant)>,
    /// Losses before then say nothing.
    heeds_from: Instant,
}

impl Ceiling {
    /// What was acknowledged had waited for so long.
    pub fn on_delay(&mut self, now: Instant, delay: Duration) {
        self.latest = delay;
        if self.longest.is_none_or(|(longest, at)| delay >= longest || now - at > SPAN) {
            self.longest = Some((delay, now));
        }
        if self.limit.is_some_and(|(_, at)| now - at > SPAN) {
            self.limit = None;
            self.heeds_from = now + REGROWTH;
        }
    }

    /// Something was lost while `wanted` was to be queued. Where the queue is as long as it ever was, and
    /// never gets as long as that, it overflows: half of it is for others. Under a limit the queue has to
    /// be longer than we make it, or the loss is a random one.
    pub fn on_lost(&mut self, now: Instant, wanted: Duration) {
        let Some((longest, _)) = self.longest else { return };
        let is_full = self.latest * 4 >= longest * 3 && longest < wanted / 10 * 9;
        let heeds = now >= self.heeds_from;
        if heeds && is_full && self.limit.is_none_or(|(limit, _)| longest * 2 >= limit * 3) {
            self.limit = Some((longest / 2, now));
        }
    }

    /// The part of the wanted queue that there is room for.
    pub fn limit(&self, wanted: Duration) -> Duration {
        self.limit.map_or(wanted, |(limit, _)| wanted.min(limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WANTED: Duration = Duration::from_millis(30);

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    #[test]
    fn a_queue_that_overflows_before_it_is_as_long_as_wanted_is_halved() {
        let mut ceiling = Ceiling::default();
        (0..25).for_each(|step| ceiling.on_delay(at(step), ms(step)));
        assert_eq!(ceiling.limit(WANTED), WANTED);
        ceiling.on_lost(at(25), WANTED);
        assert_eq!(ceiling.limit(WANTED), ms(12));
        // Somebody else fills it: the limit holds. Ours alone: it ends, and the queue is tried anew.
        ceiling.on_delay(at(4000), ms(24));
        ceiling.on_lost(at(4000), WANTED);
        ceiling.on_delay(at(8000), ms(12));
        assert_eq!(ceiling.limit(WANTED), ms(12));
        ceiling.on_delay(at(9500), ms(12));
        ceiling.on_lost(at(9600), WANTED);
        assert_eq!(ceiling.limit(WANTED), WANTED);
    }

    #[test]
    fn random_losses_do_not_count() {
        let mut long_enough = Ceiling::default();
        long_enough.on_delay(at(0), ms(29));
        long_enough.on_lost(at(1), WANTED);
        assert_eq!(long_enough.limit(WANTED), WANTED);
        let mut short = Ceiling::default();
        short.on_delay(at(0), ms(20));
        short.on_delay(at(10), ms(5));
        short.on_lost(at(11), WANTED); // the queue was nearly empty
        assert_eq!(short.limit(WANTED), WANTED);
    }
}
