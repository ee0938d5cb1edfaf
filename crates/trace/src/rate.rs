//! Capacity of a rate series, and its conversion to delivery opportunities.
//!
//! Work is counted in bits per second × nanoseconds, so that nothing is rounded on the way.

use crate::{Cursor, Fault, MOST_VALUES, OPPORTUNITY_BYTES, Opportunities, Steps, TraceError};
use units::{Bitrate, Duration, Instant};

const WORK_PER_BYTE: u128 = 8 * 1_000_000_000;
const NANOS_PER_MILLI: u64 = 1_000_000;
impl Steps<Bitrate> {
    /// Whole bytes that the rate carries from `from` to `to`.
    pub fn bytes_between(&self, from: Instant, to: Instant) -> u64 {
        let work = self.work_until(to).saturating_sub(self.work_until(from));
        u64::try_from(work / WORK_PER_BYTE).unwrap_or(u64::MAX)
    }

    /// The integral of the rate over [0, `to`).
    fn work_until(&self, to: Instant) -> u128 {
        let to = to.as_nanos();
        match self.period_nanos() {
            None => self.work_in_lap(to),
            Some(period) => {
                u128::from(to / period) * self.work_in_lap(period) + self.work_in_lap(to % period)
            }
        }
    }

    /// The integral of the rate over the first `offset` nanoseconds of one turn.
    fn work_in_lap(&self, offset: u64) -> u128 {
        let mut work = 0;
        for (index, (start, rate)) in self.times().iter().zip(self.values()).enumerate() {
            let end = self.end_of(index, 0).min(offset);
            let span = end.saturating_sub(start.as_nanos());
            work += u128::from(rate.as_bps()) * u128::from(span);
        }
        work
    }
}

impl Opportunities {
    /// The delivery opportunities of `rate` over [0, `length`), to the millisecond: one whenever
    /// [`OPPORTUNITY_BYTES`] more have become possible, what is left over carried on, so the number
    /// of them is exact. The last one is put at the end of the span, which is where a mahimahi
    /// trace starts again.
    ///
    /// # Errors
    /// When `length` is not a positive whole number of milliseconds, or the rate carries no
    /// opportunity in it, or more than 10^8.
    pub fn from_rate(rate: &Steps<Bitrate>, length: Duration) -> Result<Self, TraceError> {
        let fail = |fault| Err(TraceError::Entry { index: 0, fault });
        let millis = whole_millis(length)?;
        let count = rate.bytes_between(Instant::ZERO, Instant::ZERO + length) / OPPORTUNITY_BYTES;
        if count == 0 {
            return fail(Fault::NoCapacity);
        }
        if count > MOST_VALUES as u64 {
            return fail(Fault::TooMany { count });
        }
        let mut times_ms = Vec::with_capacity(count as usize);
        let (mut cursor, mut work) = (rate.clone().into_cursor(), 0);
        for end_ms in 1..=millis {
            work += work_in_milli(&mut cursor, end_ms - 1);
            while work >= u128::from(OPPORTUNITY_BYTES) * WORK_PER_BYTE {
                work -= u128::from(OPPORTUNITY_BYTES) * WORK_PER_BYTE;
                times_ms.push(end_ms);
            }
        }
        if let Some(last) = times_ms.last_mut() {
            *last = millis;
        }
        Self::new(times_ms)
    }
}

/// The work possible in the millisecond that starts at `start_ms`.
fn work_in_milli(cursor: &mut Cursor<Bitrate>, start_ms: u64) -> u128 {
    let mut now = Instant::from_millis(start_ms);
    let end = Instant::from_millis(start_ms + 1);
    let mut work = 0;
    while now < end {
        let rate = cursor.value_at(now);
        let until = cursor.next_change().map_or(end, |change| change.min(end));
        work += u128::from(rate.as_bps()) * u128::from((until - now).as_nanos());
        now = until;
    }
    work
}

/// A span as a positive whole number of milliseconds.
fn whole_millis(span: Duration) -> Result<u64, TraceError> {
    match span.as_nanos() {
        nanos if nanos > 0 && nanos % NANOS_PER_MILLI == 0 => Ok(nanos / NANOS_PER_MILLI),
        _ => Err(TraceError::Entry { index: 0, fault: Fault::BadSpacing { found: span } }),
    }
}
