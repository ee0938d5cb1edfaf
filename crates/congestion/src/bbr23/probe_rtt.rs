//! PROBE_RTT: once in a while, half a BDP in flight, so that the queue empties and the minimum RTT
//! shows.

use super::probe_bw::Feedback;
use super::{Ack, Bbr23, Mode};
use crate::bbr::gain::Gain;
use units::Instant;

/// The state of a dip, and what it makes of the bandwidth samples.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProbeRtt {
    /// When the dip may end; `None` until no more than its window is in flight.
    done_at: Option<Instant>,
    /// A whole round has passed since then.
    round_done: bool,
    /// Packets that left when this range of bytes had been delivered left during the dip.
    dip: Option<(u64, u64)>,
}

impl ProbeRtt {
    /// The sampled packet left during a dip, so its rate says nothing about the path. Linux marks
    /// the connection app-limited instead; a controller here cannot, but it knows by the delivered
    /// bytes which packets that would have marked.
    pub(super) fn covers(&self, prior_delivered_bytes: u64) -> bool {
        self.dip.is_some_and(|(from, to)| (from..=to).contains(&prior_delivered_bytes))
    }
}

impl Bbr23 {
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
            let dip = Some((sample.delivered_bytes, sample.delivered_bytes));
            self.probe_rtt = ProbeRtt { done_at: None, round_done: false, dip };
        }
        if self.mode == Mode::ProbeRtt {
            self.dip(now, ack);
        }
        if sample.acked_bytes > 0 {
            self.idle_restart = false;
        }
    }

    fn dip(&mut self, now: Instant, ack: &Ack<'_>) {
        let sample = ack.sample;
        if let Some((_, to)) = &mut self.probe_rtt.dip {
            *to = sample.delivered_bytes.saturating_add(sample.in_flight_bytes);
        }
        if self.probe_rtt.done_at.is_none() {
            if sample.in_flight_bytes <= self.probe_rtt_window_bytes() {
                self.probe_rtt.done_at = Some(now + self.settings.probe_rtt_time);
                self.rounds.restart(sample.delivered_bytes);
            }
            return;
        }
        self.probe_rtt.round_done |= self.rounds.started;
        if self.probe_rtt.round_done {
            self.check_probe_rtt_done(now);
        }
    }

    /// Ends the dip when its time is over (tcp_bbr2.c `bbr_check_probe_rtt_done`).
    pub(super) fn check_probe_rtt_done(&mut self, now: Instant) {
        if self.probe_rtt.done_at.is_none_or(|done_at| now <= done_at) {
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
