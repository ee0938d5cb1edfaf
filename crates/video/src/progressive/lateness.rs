use units::Duration;

/// The last three latenesses of VLC's clock, and what they raise its delay by (videolan/vlc, `clock.c`).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lateness {
    last: [Duration; 3],
    /// The place of the next one.
    place: usize,
}

impl Lateness {
    /// Notes a lateness; none if it is zero.
    pub fn note(&mut self, late: Duration) {
        if !late.is_zero() {
            self.last[self.place] = late;
            self.place = (self.place + 1) % self.last.len();
        }
    }

    /// What the delay is to be raised by (`input_clock_GetJitter`).
    pub fn median(&self) -> Duration {
        let mut sorted = self.last;
        sorted.sort_unstable();
        sorted[1]
    }

    /// The delay was raised: all were late by so much less (`input_clock_SetJitter`, which begins with the
    /// second oldest).
    pub fn lower(&mut self, raise: Duration) {
        let before = std::mem::take(self);
        for n in 1..=before.last.len() {
            let late = before.last[(before.place + n) % before.last.len()];
            self.note(late.saturating_sub(raise));
        }
    }
}
