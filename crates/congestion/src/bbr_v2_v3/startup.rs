//! STARTUP: double the rate each round, until the bandwidth stands or too much is lost.

use super::version::Plateau;
use super::{Ack, BbrV2V3, Mode, Repair};
use crate::bbr::gain::Gain;
use units::Instant;

impl BbrV2V3 {
    pub(super) fn check_full_pipe(&mut self, ack: &Ack<'_>) {
        let Some(rate) = ack.rate.filter(|_| !ack.app_limited) else { return };
        match self.version.plateau {
            Plateau::OfTheSamples => self.full_pipe.on_sample(rate.rate, self.rounds.started),
            Plateau::OfTheMaximum if self.rounds.started => {
                self.full_pipe.on_round(self.max_bandwidth.get());
            }
            Plateau::OfTheMaximum => {}
        }
    }

    /// Many losses in a round of STARTUP that is being repaired, and too many of its packets: the
    /// pipe is full (tcp_bbr2.c `bbr2_check_loss_too_high_in_startup`).
    pub(super) fn check_startup_loss(&mut self, ack: &Ack<'_>) {
        if self.full_pipe.reached {
            return;
        }
        self.loss_events += u64::from(ack.sample.lost_bytes > 0);
        if !self.signals.round_started {
            return;
        }
        let enough = self.loss_events >= self.settings.full_loss_count;
        let enabled = self.settings.full_loss_count > 0 && self.repair == Repair::LossEpisode;
        if enabled && enough && self.sample_is_too_high(ack) {
            self.full_pipe.reached = true;
            let bdp = self.in_flight_target(Gain::UNIT);
            self.bounds.in_flight_hi = match self.version.plateau {
                Plateau::OfTheMaximum => bdp, // tcp_bbr2.c bbr2_handle_queue_too_high_in_startup
                Plateau::OfTheSamples => bdp.max(self.signals.delivered_bytes), // tcp_bbr.c v3
            };
        }
        self.loss_events = 0;
    }

    /// Back to the mode that PROBE_RTT interrupted (tcp_bbr2.c `bbr2_exit_probe_rtt`): STARTUP
    /// only if the pipe was never full.
    pub(super) fn resume(&mut self, now: Instant) {
        self.bounds.reset_lower();
        if self.full_pipe.reached {
            self.start_down(now);
            self.start_cruise();
        } else {
            self.mode = Mode::Startup;
        }
    }
}
