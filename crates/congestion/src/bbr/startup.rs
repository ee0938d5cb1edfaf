//! STARTUP: double the rate each round, until three rounds bring no more bandwidth.

use super::{Bbr, Mode};
use units::Instant;

impl Bbr {
    /// Looks for a full pipe at the end of each round.
    pub(super) fn check_full_pipe(&mut self, app_limited: bool) {
        if self.rounds.started && !app_limited {
            self.full_pipe.on_round(self.max_bandwidth.get());
        }
    }

    /// Back to the mode that PROBE_RTT interrupted (tcp_bbr.c `bbr_reset_mode`).
    pub(super) fn resume(&mut self, now: Instant) {
        if self.full_pipe.reached {
            self.enter_probe_bw(now);
        } else {
            self.mode = Mode::Startup;
        }
    }
}
