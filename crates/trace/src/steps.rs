use crate::{Fault, TraceError};
use units::{Duration, Instant};

/// A value that is constant from each time to the next: the last one holds to the end, or the whole
/// series repeats after a period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steps<T> {
    times: Vec<Instant>,
    values: Vec<T>,
    period: Option<Duration>,
}

impl<T: Copy> Steps<T> {
    /// A series from its times (strictly increasing, the first one 0) and as many values;
    /// `period`, if given, must be later than the last time.
    ///
    /// # Errors
    /// [`TraceError::Entry`] with the first entry that breaks a rule.
    pub fn new(
        times: Vec<Instant>,
        values: Vec<T>,
        period: Option<Duration>,
    ) -> Result<Self, TraceError> {
        let at = |index, fault| Err(TraceError::Entry { index, fault });
        if times.len() != values.len() {
            let shorter = times.len().min(values.len());
            return at(shorter, Fault::Lengths { times: times.len(), values: values.len() });
        }
        let (Some(first), Some(last)) = (times.first().copied(), times.last().copied()) else {
            return at(0, Fault::Empty);
        };
        if first != Instant::ZERO {
            return at(0, Fault::FirstNotZero { found: first });
        }
        if let Some(index) = times.windows(2).position(|pair| pair[0] >= pair[1]) {
            let (previous, found) = (times[index], times[index + 1]);
            return at(index + 1, Fault::NotIncreasing { previous, found });
        }
        if let Some(period) = period.filter(|&period| Instant::ZERO + period <= last) {
            return at(times.len() - 1, Fault::PeriodTooShort { period, last });
        }
        Ok(Self { times, values, period })
    }

    /// The same value at all times.
    pub fn constant(value: T) -> Self {
        Self { times: vec![Instant::ZERO], values: vec![value], period: None }
    }

    /// The same series, repeating after `period`.
    ///
    /// # Errors
    /// When `period` is not later than the last time.
    pub fn repeating(self, period: Duration) -> Result<Self, TraceError> {
        Self::new(self.times, self.values, Some(period))
    }

    /// The same series with each value turned into another one (a unit, say).
    pub fn map<U: Copy>(&self, change: impl FnMut(T) -> U) -> Steps<U> {
        let values = self.values.iter().copied().map(change).collect();
        Steps { times: self.times.clone(), values, period: self.period }
    }

    /// When the values begin to hold, first 0, strictly increasing; one period of them.
    pub fn times(&self) -> &[Instant] {
        &self.times
    }

    /// The values, one for each time.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// After how long the series repeats; `None` when the last value holds to the end.
    pub fn period(&self) -> Option<Duration> {
        self.period
    }

    /// The value at `now`, by binary search. In time order, [`Cursor::value_at`](crate::Cursor::value_at) is faster.
    pub fn value_at(&self, now: Instant) -> T {
        self.values[self.locate(now).0]
    }

    /// Which entry holds at `now`, and when that turn of the loop began (nanoseconds).
    pub(crate) fn locate(&self, now: Instant) -> (usize, u64) {
        let now = now.as_nanos();
        let lap_start = match self.period_nanos() {
            Some(period) => now / period * period,
            None => 0,
        };
        let later = self.times.partition_point(|time| time.as_nanos() <= now - lap_start);
        (later - 1, lap_start) // the first time is 0, so at least one is not later
    }

    /// The period in nanoseconds, never 0.
    pub(crate) fn period_nanos(&self) -> Option<u64> {
        self.period.map(|period| period.as_nanos())
    }

    /// When entry `index` of the turn that began at `lap_start` stops to hold (nanoseconds);
    /// `u64::MAX`: never.
    pub(crate) fn end_of(&self, index: usize, lap_start: u64) -> u64 {
        match (self.times.get(index + 1), self.period_nanos()) {
            (Some(next), _) => lap_start.saturating_add(next.as_nanos()),
            (None, Some(period)) => lap_start.saturating_add(period),
            (None, None) => u64::MAX,
        }
    }
}
