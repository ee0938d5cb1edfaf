use super::gain::Gain;
use units::Instant;

/// Where in the cycle of gains the path is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cycle {
    pub(crate) phase: usize,
    pub(crate) since: Instant,
}

impl Cycle {
    pub(crate) fn gain(&self) -> Gain {
        Gain::CYCLE[self.phase]
    }

    /// The phase that probes for more.
    pub(crate) fn probes(&self) -> bool {
        self.phase == 0
    }

    pub(crate) fn advance(&mut self, now: Instant) {
        self.phase = (self.phase + 1) % Gain::CYCLE.len();
        self.since = now;
    }
}
