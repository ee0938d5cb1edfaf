//! How a path was used of late: what its rates are worth as a measure of what it can do.

use super::Settings;
use super::estimate::{SPAN, fills, has_queue};
use crate::PathView;
use units::{Duration, Instant};

/// As long as peaks count ([`Delivery::long_peak`](crate::Delivery::long_peak)).
const PEAKS: Duration = Duration::from_secs(2);

/// A peak is the most that came within this time: of a shorter burst it says too little.
const PEAK: Duration = Duration::from_millis(100);

/// How a path was used of late.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Use {
    /// When nothing was unacknowledged last.
    pub idle_at: Instant,
    /// When something was.
    busy_at: Instant,
    /// When it had had all that it could take for as long as a peak is measured over: its window or our
    /// bound was reached, or it had a queue.
    filled_at: Option<Instant>,
}

impl Use {
    /// The path as it is now.
    pub fn note(&mut self, now: Instant, path: &PathView, settings: &Settings) {
        if path.unacked_bytes == 0 {
            self.idle_at = now;
            return;
        }
        self.busy_at = now;
        let peak = path.delivery.peak;
        let is_full = !path.has_room || has_queue(path) || fills(path, peak, settings);
        if is_full && now >= self.idle_at + path.min_rtt + PEAK {
            self.filled_at = Some(now);
        }
    }

    /// What it was given since it was idle has not been acknowledged for long enough to measure a rate.
    pub fn was_idle(&self, now: Instant, path: &PathView) -> bool {
        path.unacked_bytes == 0 || now < self.idle_at + path.srtt + SPAN
    }

    /// The path was given what it could take while its last peak was measured. Else the peak is what there
    /// was to send.
    pub fn was_filled(&self) -> bool {
        self.filled_at.is_some_and(|at| at + PEAKS >= self.busy_at)
    }

    /// Its round trip without a queue of ours. On a path that was not filled that is what was measured last,
    /// which may have moved; after a while without use nobody knows, and it is tried again.
    pub fn base_rtt(&self, now: Instant, path: &PathView) -> Duration {
        let is_known = !self.was_filled() && now < self.busy_at + PEAKS;
        if is_known { path.srtt.max(path.min_rtt) } else { path.min_rtt }
    }
}
