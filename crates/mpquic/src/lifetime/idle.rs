//! The idle timer (RFC 9000 §10.1).

use units::{Duration, Instant};

/// When the connection ends because nothing was heard.
#[derive(Debug)]
pub(crate) struct Idle {
    since: Instant,
    at: Instant,
    /// An ack-eliciting packet left since something came.
    armed: bool,
}

impl Default for Idle {
    fn default() -> Self {
        Self { since: Instant::ZERO, at: Instant::FAR_FUTURE, armed: false }
    }
}

impl Idle {
    pub fn restart(&mut self, now: Instant, period: Duration) {
        self.since = now;
        self.at = now + period;
    }

    /// An authentic packet came: the next ack-eliciting one that leaves restarts the timer again.
    pub const fn on_heard(&mut self) {
        self.armed = false;
    }

    /// A packet left; true: the timer has to be restarted, once until something comes.
    pub const fn on_sent(&mut self, eliciting: bool) -> bool {
        let restarts = eliciting && !self.armed;
        self.armed |= eliciting;
        restarts
    }

    /// When it was started.
    pub const fn since(&self) -> Instant {
        self.since
    }

    /// When it fires.
    pub const fn at(&self) -> Instant {
        self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_eliciting_packet_after_silence_restarts_it_once() {
        let mut idle = Idle::default();
        assert_eq!(idle.at(), Instant::FAR_FUTURE);
        assert!(!idle.on_sent(false));
        assert!(idle.on_sent(true) && !idle.on_sent(true));
        idle.on_heard();
        assert!(idle.on_sent(true));
        idle.restart(Instant::from_millis(5), Duration::from_millis(30));
        assert_eq!((idle.since(), idle.at()), (Instant::from_millis(5), Instant::from_millis(35)));
    }
}
