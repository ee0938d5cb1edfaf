//! PROBE_RTT: once in a while, half a BDP in flight, so that the queue empties and the minimum RTT
//! shows.

use super::cycle::Feedback;
use super::{Ack, BbrV2V3, Mode};
use crate::bbr::dip::Dip;
use crate::bbr::gain::Gain;
use units::Instant;

impl BbrV2V3 {
    /// Renews the minimum RTT, and dips for it when it has stood for long
    /// (tcp_bbr2.c `bbr_update_min_rtt`).
    pub(super) fn update_min_rtt(&mut self, now: Instant, ack: &Ack<'_>) {
        let sample = ack.sample;
        let window = self.settings.probe_rtt_window;
        let expired = self.min_rtt.update(now, sample.rtt, sample.ack_delayed, window);
        let enabled = !self.settings.probe_rtt_time.is_zero();
        if expired && enabled && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.save_window();
            self.mode = Mode::ProbeRtt;
            self.cycle.feedback = Feedback::Stopping;
            self.rounds.restart(sample.delivered_bytes);
            self.dip = Dip::begin(sample.delivered_bytes);
        }
        if self.mode == Mode::ProbeRtt {
            self.keep_dipping(now, ack);
        }
        if sample.acked_bytes > 0 {
            self.idle_restart = false;
        }
    }

    fn keep_dipping(&mut self, now: Instant, ack: &Ack<'_>) {
        let sample = ack.sample;
        self.dip.extend(sample.delivered_bytes, sample.in_flight_bytes);
        if self.dip.done_at.is_none() {
            if sample.in_flight_bytes <= self.probe_rtt_window_bytes() {
                self.dip.done_at = Some(now + self.settings.probe_rtt_time);
                self.rounds.restart(sample.delivered_bytes);
            }
            return;
        }
        self.dip.round_done |= self.rounds.started;
        if self.dip.round_done {
            self.check_probe_rtt_done(now);
        }
    }

    /// Ends the dip when its time is over (tcp_bbr2.c `bbr_check_probe_rtt_done`).
    pub(super) fn check_probe_rtt_done(&mut self, now: Instant) {
        if self.dip.done_at.is_none_or(|done_at| now <= done_at) {
            return;
        }
        self.min_rtt.renew(now);
        self.restore_window();
        self.resume(now);
    }

    /// tcp_bbr2.c `bbr_probe_rtt_cwnd`.
    pub(super) fn probe_rtt_window_bytes(&self) -> u64 {
        let gain = self.settings.probe_rtt_gain;
        if gain == Gain::of_256ths(0) {
            return self.min_window_bytes();
        }
        self.bdp_bytes(self.bandwidth(), gain).max(self.min_window_bytes())
    }
}
