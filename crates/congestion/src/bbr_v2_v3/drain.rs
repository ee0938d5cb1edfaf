//! DRAIN: send below the bandwidth until the queue that STARTUP built is gone.

use super::{BbrV2V3, Mode};
use crate::bbr::gain::Gain;
use units::Instant;

impl BbrV2V3 {
    /// From STARTUP to DRAIN when the pipe is full, and on to PROBE_BW when no more than one BDP is
    /// in flight (tcp_bbr2.c `bbr_check_drain`, `bbr2_check_drain`).
    pub(super) fn check_drain(&mut self, now: Instant, in_flight_bytes: u64) {
        if self.mode == Mode::Startup && self.full_pipe.reached {
            self.mode = Mode::Drain;
            self.ssthresh_bytes = self.in_flight_target(Gain::UNIT);
            self.signals.reset();
        }
        if self.mode == Mode::Drain && in_flight_bytes <= self.in_flight_target(Gain::UNIT) {
            self.start_down(now);
        }
    }
}
