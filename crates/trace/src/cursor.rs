use crate::{Opportunities, Steps};
use units::Instant;

impl<T: Copy> Steps<T> {
    /// A reader for times that mostly increase.
    pub fn into_cursor(self) -> Cursor<T> {
        Cursor::new(self)
    }
}

/// Reads a [`Steps`] in time order: amortised O(1) forwards, O(log n) for a jump either way.
#[derive(Clone, Debug)]
pub struct Cursor<T> {
    steps: Steps<T>,
    index: usize,
    lap_start: u64,
    /// The entry holds in [start, end), in nanoseconds; `u64::MAX` if it has no end.
    start: u64,
    end: u64,
}

impl<T: Copy> Cursor<T> {
    pub(crate) fn new(steps: Steps<T>) -> Self {
        let end = steps.end_of(0, 0);
        Self { steps, index: 0, lap_start: 0, start: 0, end }
    }

    /// The series that is read.
    pub fn steps(&self) -> &Steps<T> {
        &self.steps
    }

    /// The value at `now`.
    pub fn value_at(&mut self, now: Instant) -> T {
        let nanos = now.as_nanos();
        if nanos < self.start || nanos >= self.end {
            self.seek(now);
        }
        self.steps.values()[self.index]
    }

    /// When the entry last read by [`Cursor::value_at`] stops to hold; `None`: never.
    pub fn next_change(&self) -> Option<Instant> {
        (self.end != u64::MAX).then_some(Instant::from_nanos(self.end))
    }

    fn seek(&mut self, now: Instant) {
        if now.as_nanos() >= self.end {
            self.step();
        }
        if now.as_nanos() < self.start || now.as_nanos() >= self.end {
            (self.index, self.lap_start) = self.steps.locate(now);
            self.start = self.lap_start + self.steps.times()[self.index].as_nanos();
            self.end = self.steps.end_of(self.index, self.lap_start);
        }
    }

    /// Moves to the entry after this one; stays where it is at the end of a series without loop.
    fn step(&mut self) {
        if self.end == u64::MAX {
            return;
        }
        self.start = self.end;
        self.index += 1;
        if self.index == self.steps.times().len() {
            self.index = 0;
            self.lap_start = self.end;
        }
        self.end = self.steps.end_of(self.index, self.lap_start);
    }
}

impl Opportunities {
    /// A reader in time order.
    pub fn into_cursor(self) -> OpportunityCursor {
        OpportunityCursor::new(self)
    }
}

/// Reads [`Opportunities`] in time order, loop after loop.
#[derive(Clone, Debug)]
pub struct OpportunityCursor {
    opportunities: Opportunities,
    index: usize,
    lap_start: u64,
    time: u64,
}

impl OpportunityCursor {
    pub(crate) fn new(opportunities: Opportunities) -> Self {
        let mut cursor = Self { opportunities, index: 0, lap_start: 0, time: 0 };
        cursor.settle();
        cursor
    }

    /// When the opportunity under the cursor is.
    pub fn time(&self) -> Instant {
        Instant::from_nanos(self.time)
    }

    /// The place of that opportunity: places grow with time, also among those at the same time.
    pub fn position(&self) -> (u64, usize) {
        (self.lap_start, self.index)
    }

    /// Moves to the opportunity after this one (which may be at the same time).
    pub fn advance(&mut self) {
        self.index += 1;
        if self.index == self.opportunities.times_ms().len() {
            self.index = 0;
            self.lap_start = self.lap_start.saturating_add(self.opportunities.period_nanos());
        }
        self.settle();
    }

    /// Moves to the first opportunity that is not before `now`, forwards or backwards.
    pub fn seek(&mut self, now: Instant) {
        let (now, period) = (now.as_nanos(), self.opportunities.period_nanos());
        // A turn of the loop owns (start, start + period]; what stands at 0 of the next turn
        // comes after its last ones.
        let lap = now.saturating_sub(1) / period;
        self.lap_start = lap * period;
        let offset = now - self.lap_start;
        self.index = self.opportunities.first_not_before(offset);
        self.settle();
    }

    fn settle(&mut self) {
        let offset = self.opportunities.nanos(self.index);
        self.time = self.lap_start.saturating_add(offset);
    }
}
