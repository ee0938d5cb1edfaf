use super::gain::Gain;
use units::Instant;

/// Where in the cycle of gains the path is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cycle {
    pub(super) phase: usize,
    pub(super) since: Instant,
}

impl Cycle {
    pub(super) fn gain(&self) -> Gain {
        Gain::CYCLE[self.phase]
    }

    /// The phase that probes for more.
    pub(super) fn probes(&self) -> bool {
        self.phase == 0
    }

    pub(super) fn advance(&mut self, now: Instant) {
        self.phase = (self.phase + 1) % Gain::CYCLE.len();
        self.since = now;
    }
}
