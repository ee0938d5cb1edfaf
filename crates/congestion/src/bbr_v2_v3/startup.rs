//! STARTUP: double the rate each round, until the bandwidth stands or too much is lost.

use super::version::Plateau;
use super::{Ack, BbrV2V3, Mode, Repair};
use crate::bbr::gain::Gain;
use units::Bitrate;

/// Rounds without growth that fill the pipe (tcp_bbr2.c `bbr_full_bw_cnt`).
const FLAT_ROUNDS: u32 = 3;

/// Looks for a bandwidth that no longer grows by a quarter (tcp_bbr2.c `bbr_full_bw_thresh`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullPipe {
    /// The pipe was full once: STARTUP is over for good.
    pub(super) reached: bool,
    /// It is full now: a probe is over (version 3).
    pub(super) now: bool,
    bandwidth: Bitrate,
    flat_rounds: u32,
}

impl FullPipe {
    /// Forgets what was measured (tcp_bbr.c v3 `bbr_reset_full_bw`).
    pub(super) fn restart(&mut self) {
        self.restart_from(Bitrate::ZERO);
    }

    pub(super) fn restart_from(&mut self, bandwidth: Bitrate) {
        self.bandwidth = bandwidth;
        self.flat_rounds = 0;
        self.now = false;
    }

    /// A timeout, in version 2: what was measured may have been the gap
    /// (tcp_bbr2.c `bbr2_set_state`).
    pub(super) fn forget_bandwidth(&mut self) {
        self.bandwidth = Bitrate::ZERO;
    }

    fn grows(&self, bandwidth: Bitrate) -> bool {
        bandwidth >= self.bandwidth.scaled(5, 4) // tcp_bbr2.c bbr_full_bw_thresh: +25 %
    }

    /// Version 2: the maximum at the end of a round (tcp_bbr2.c `bbr_check_full_bw_reached`).
    pub(super) fn on_round(&mut self, max_bandwidth: Bitrate) {
        if self.reached {
            return;
        }
        if self.grows(max_bandwidth) {
            self.restart_from(max_bandwidth);
        } else {
            self.count_flat_round();
        }
    }

    /// Version 3: each sample (tcp_bbr.c v3 `bbr_check_full_bw_reached`).
    pub(super) fn on_sample(&mut self, bandwidth: Bitrate, round_started: bool) {
        if self.now {
            return;
        }
        if self.grows(bandwidth) {
            self.restart_from(bandwidth);
        } else if round_started {
            self.count_flat_round();
        }
    }

    fn count_flat_round(&mut self) {
        self.flat_rounds += 1;
        self.now = self.flat_rounds >= FLAT_ROUNDS;
        self.reached |= self.now;
    }
}

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
    pub(super) fn resume(&mut self, now: units::Instant) {
        self.bounds.reset_lower();
        if self.full_pipe.reached {
            self.start_down(now);
            self.start_cruise();
        } else {
            self.mode = Mode::Startup;
        }
    }
}
