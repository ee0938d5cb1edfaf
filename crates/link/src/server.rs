//! When the service of a packet ends: the capacity, integrated from the start of service.
//!
//! Work is counted in bits per second × nanoseconds: a byte is 8 × 10^9 of it at every rate, and
//! integers hold it exactly.

use trace::{Cursor, OPPORTUNITY_BYTES, Opportunities, OpportunityCursor, Steps};
use units::{Bitrate, Duration, Instant, Window};

const WORK_PER_BYTE: u64 = 8 * 1_000_000_000;
const NEVER: u64 = u64::MAX;

/// What a link can carry.
#[derive(Debug)]
pub(crate) enum Capacity {
    Constant(Bitrate),
    Steps(Cursor<Bitrate>),
    /// `left_bytes` of the opportunity under the cursor are unused.
    Opportunities {
        cursor: OpportunityCursor,
        left_bytes: u64,
    },
}

impl Capacity {
    /// A series that always has the same value becomes constant: it is faster, and a loop of zeros
    /// must not be searched for the end of a service.
    pub(crate) fn from_steps(steps: Steps<Bitrate>) -> Self {
        let first = steps.value_at(Instant::ZERO);
        if steps.values().iter().all(|&rate| rate == first) {
            return Self::Constant(first);
        }
        Self::Steps(steps.into_cursor())
    }

    pub(crate) fn from_opportunities(opportunities: Opportunities) -> Self {
        let cursor = opportunities.into_cursor();
        Self::Opportunities { cursor, left_bytes: OPPORTUNITY_BYTES }
    }
}

/// Serves one packet after the other.
#[derive(Debug)]
pub(crate) struct Server {
    capacity: Capacity,
    /// Windows [start, end) without capacity, sorted.
    holds: Vec<Window>,
    /// Work between the exact end of the last service and the nanosecond it was rounded up to.
    spare_work: u64,
    /// Since when the packet in service has been served by this capacity (opportunities aside).
    since: Instant,
    /// The work that it needed then.
    work: u64,
}

impl Server {
    pub(crate) fn new(capacity: Capacity, holds: Vec<Window>) -> Self {
        Self { capacity, holds, spare_work: 0, since: Instant::ZERO, work: 0 }
    }

    /// When a packet of `bytes` whose service starts at `start` has been served;
    /// [`Instant::FAR_FUTURE`]: never. `continues`: it was waiting when the previous service ended,
    /// so the fraction of a nanosecond left then is its own.
    pub(crate) fn finish(&mut self, start: Instant, bytes: u64, continues: bool) -> Instant {
        if let Capacity::Opportunities { cursor, left_bytes } = &mut self.capacity {
            return finish_opportunities(cursor, left_bytes, &self.holds, start, bytes);
        }
        let work = bytes.saturating_mul(WORK_PER_BYTE);
        let spare = if continues { self.spare_work } else { 0 };
        if work <= spare {
            self.spare_work = spare - work;
            return start;
        }
        self.serve(start, work - spare)
    }

    /// Another capacity from `now` on. The packet in service, if there is one, keeps the work that it
    /// has had; returns when the rest will have been done, [`Instant::FAR_FUTURE`]: never.
    pub(crate) fn change(&mut self, now: Instant, to: Capacity, in_service: bool) -> Instant {
        let missing = if in_service { self.missing_work(now) } else { 0 };
        self.capacity = to;
        self.spare_work = 0;
        if let Capacity::Opportunities { cursor, left_bytes } = &mut self.capacity {
            cursor.seek(after(now));
            if !in_service {
                return Instant::FAR_FUTURE;
            }
            let bytes = missing.div_ceil(WORK_PER_BYTE);
            return finish_opportunities(cursor, left_bytes, &self.holds, after(now), bytes);
        }
        if in_service { self.serve(now, missing) } else { Instant::FAR_FUTURE }
    }

    /// The work that the packet in service, planned to end after `now`, still needs at `now`.
    fn missing_work(&mut self, now: Instant) -> u64 {
        if let Capacity::Opportunities { cursor, left_bytes } = &self.capacity {
            // All opportunities after `now` up to the last one planned are its own.
            let mut walk = cursor.clone();
            walk.seek(after(now));
            let mut bytes = 0;
            while walk.position() <= cursor.position() {
                let held = next_hold(&self.holds, walk.time());
                if held.is_none_or(|hold| hold.start > walk.time()) {
                    bytes += OPPORTUNITY_BYTES;
                }
                walk.advance();
            }
            return (bytes - left_bytes) * WORK_PER_BYTE;
        }
        let (mut at, end) = (self.since.as_nanos(), now.as_nanos());
        let mut missing = self.work;
        while at < end {
            let (rate, until) = self.segment(at);
            let until = until.min(end);
            missing -= rate * (until - at); // less than it needs, for it ends later
            at = until;
        }
        missing
    }

    fn serve(&mut self, start: Instant, work: u64) -> Instant {
        (self.since, self.work) = (start, work);
        Instant::from_nanos(self.finish_work(start.as_nanos(), work))
    }

    /// The packet in service was taken away; what was planned for it counts for nothing.
    pub(crate) fn abort(&mut self) {
        self.spare_work = 0;
        if let Capacity::Opportunities { cursor, left_bytes } = &mut self.capacity {
            cursor.seek(Instant::ZERO); // the next service looks for its opportunities anew
            *left_bytes = OPPORTUNITY_BYTES;
        }
    }

    fn finish_work(&mut self, start: u64, mut work: u64) -> u64 {
        let mut now = start;
        loop {
            let (rate, until) = self.segment(now);
            if let Some(whole) = work.checked_div(rate) {
                let rest = work - whole * rate;
                let nanos = whole + u64::from(rest > 0);
                if nanos <= until - now {
                    self.spare_work = if rest > 0 { rate - rest } else { 0 };
                    return now + nanos;
                }
                work -= rate * (until - now); // fewer than `nanos`, so less than `work`
            }
            if until == NEVER {
                return NEVER;
            }
            now = until;
        }
    }

    /// The rate at `now` and until when it holds.
    fn segment(&mut self, now: u64) -> (u64, u64) {
        let at = Instant::from_nanos(now);
        let (rate, mut until) = match &mut self.capacity {
            Capacity::Constant(rate) => (rate.as_bps(), NEVER),
            Capacity::Steps(cursor) => {
                let rate = cursor.value_at(at).as_bps();
                (rate, cursor.next_change().map_or(NEVER, Instant::as_nanos))
            }
            Capacity::Opportunities { .. } => (0, NEVER), // served elsewhere
        };
        if let Some(Window { start, end }) = next_hold(&self.holds, at) {
            if start <= at {
                return (0, end.as_nanos());
            }
            until = until.min(start.as_nanos());
        }
        (rate, until)
    }
}

fn after(now: Instant) -> Instant {
    now + Duration::from_nanos(1)
}

/// When a packet of `bytes` has been served by opportunities that are not before its `start`.
fn finish_opportunities(
    cursor: &mut OpportunityCursor,
    left_bytes: &mut u64,
    holds: &[Window],
    start: Instant,
    bytes: u64,
) -> Instant {
    let mut missing = bytes;
    if cursor.time() < start {
        cursor.seek(start);
        *left_bytes = OPPORTUNITY_BYTES;
    }
    loop {
        let now = cursor.time();
        match next_hold(holds, now) {
            Some(hold) if hold.start <= now => {
                cursor.seek(hold.end);
                *left_bytes = OPPORTUNITY_BYTES;
            }
            _ => {
                let taken = missing.min(*left_bytes);
                missing -= taken;
                *left_bytes -= taken;
                if missing == 0 {
                    return now;
                }
                cursor.advance();
                *left_bytes = OPPORTUNITY_BYTES;
            }
        }
    }
}

/// The window that `now` is in, or else the next one.
fn next_hold(holds: &[Window], now: Instant) -> Option<Window> {
    if holds.is_empty() {
        return None;
    }
    holds.get(holds.partition_point(|hold| hold.end <= now)).copied()
}
