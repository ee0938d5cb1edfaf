//! The only place that reads clocks.

use rustix::time::{ClockId, Timespec, clock_gettime};
use units::Instant;

const NANOS: u64 = 1_000_000_000;

/// Time since an epoch on `CLOCK_MONOTONIC`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    epoch_ns: u64,
}

impl Clock {
    /// `epoch_ns` on `CLOCK_MONOTONIC` is [`Instant::ZERO`].
    pub(crate) fn new(epoch_ns: u64) -> Self {
        Self { epoch_ns }
    }

    /// Now; [`Instant::ZERO`] before the epoch.
    pub(crate) fn now(self) -> Instant {
        Instant::from_nanos(read(ClockId::Monotonic).saturating_sub(self.epoch_ns))
    }

    /// How long to sleep until `at`.
    pub(crate) fn until(self, at: Instant) -> Timespec {
        let due = self.epoch_ns.saturating_add(at.as_nanos());
        let nanos = due.saturating_sub(read(ClockId::Monotonic));
        Timespec { tv_sec: (nanos / NANOS) as i64, tv_nsec: (nanos % NANOS) as _ }
    }

    /// The epoch in nanoseconds since 1970, as the wall clock stands now.
    pub(crate) fn wall_epoch_ns(self) -> u64 {
        let wall = read(ClockId::Realtime).saturating_add(self.epoch_ns);
        wall.saturating_sub(read(ClockId::Monotonic))
    }
}

/// Seconds of processor that the calling thread has used.
pub(crate) fn thread_cpu_s() -> f64 {
    read(ClockId::ThreadCPUTime) as f64 / NANOS as f64
}

fn read(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * NANOS + time.tv_nsec as u64
}
