//! The only place that reads clocks.

use rustix::time::{ClockId, Timespec, clock_gettime};
use units::Instant;

const NANOS: u64 = 1_000_000_000;

/// Nanoseconds of `CLOCK_MONOTONIC`, which all processes of a machine share.
pub fn monotonic_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * NANOS + time.tv_nsec as u64
}

/// Time since an epoch on `CLOCK_MONOTONIC`.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    epoch_ns: u64,
}

impl Clock {
    /// `epoch_ns` on `CLOCK_MONOTONIC` is [`Instant::ZERO`].
    pub fn since(epoch_ns: u64) -> Self {
        Self { epoch_ns }
    }

    /// A clock that begins now.
    pub fn start() -> Self {
        Self::since(monotonic_ns())
    }

    /// Now; [`Instant::ZERO`] before the epoch.
    pub fn now(self) -> Instant {
        Instant::from_nanos(monotonic_ns().saturating_sub(self.epoch_ns))
    }

    /// A moment on `CLOCK_MONOTONIC`, in ns.
    pub fn to_monotonic_ns(self, at: Instant) -> u64 {
        self.epoch_ns.saturating_add(at.as_nanos())
    }

    /// How long to sleep until `at`; zero when it has passed.
    pub(crate) fn until(self, at: Instant) -> Timespec {
        let nanos = self.to_monotonic_ns(at).saturating_sub(monotonic_ns());
        Timespec { tv_sec: (nanos / NANOS) as i64, tv_nsec: (nanos % NANOS) as _ }
    }
}
