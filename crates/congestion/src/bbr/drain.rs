//! DRAIN: send below the bandwidth until the queue that STARTUP built is gone.

use super::gain::Gain;
use super::{Bbr, Mode};
use units::Instant;

impl Bbr {
    /// From STARTUP to DRAIN when the pipe is full, and on to PROBE_BW when no more than one BDP is
    /// in flight (tcp_bbr.c `bbr_check_drain`).
    pub(super) fn check_drain(&mut self, now: Instant, in_flight_bytes: u64) {
        if self.mode == Mode::Startup && self.full_pipe.reached {
            self.mode = Mode::Drain;
            self.ssthresh_bytes = self.in_flight_target(Gain::UNIT);
        }
        if self.mode == Mode::Drain && in_flight_bytes <= self.in_flight_target(Gain::UNIT) {
            self.enter_probe_bw(now);
        }
    }
}
