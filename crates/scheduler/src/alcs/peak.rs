//! The largest recent RTT: what a path does now is what it may do again before an outage.

use units::{Duration, Instant};

/// Samples count for one to two of these.
const WINDOW: Duration = Duration::from_secs(1);

/// Largest value of the present window and of the one before.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Peak {
    since: Instant,
    present: Duration,
    before: Duration,
}

impl Peak {
    pub fn observe(&mut self, now: Instant, rtt: Duration) {
        let elapsed = now - self.since;
        if elapsed >= WINDOW {
            self.before = if elapsed < WINDOW * 2 { self.present } else { Duration::ZERO };
            self.present = Duration::ZERO;
            self.since = now;
        }
        self.present = self.present.max(rtt);
    }

    pub fn largest(&self) -> Duration {
        self.present.max(self.before)
    }
}
