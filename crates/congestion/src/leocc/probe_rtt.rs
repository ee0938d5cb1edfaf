//! The pipe is emptied to half a BDP: at a reconfiguration, and when the minimum RTT is old.

use super::{LeoCc, Mode};
use crate::AckSample;
use crate::bbr::dip::Dip;
use crate::bbr::full_pipe::FullPipe;
use crate::bbr::gain::Gain;
use units::{Duration, Instant};

/// leocc.c `leocc_probe_rtt_mode_ms`.
const PROBE_RTT_TIME: Duration = Duration::from_millis(200);
/// leocc.c `leocc_probe_rtt_cwnd_gain`.
const PROBE_RTT_GAIN: Gain = Gain::of_256ths(256 / 2);

impl LeoCc {
    /// leocc.c `leocc_update_min_rtt`.
    pub(super) fn update_min_rtt(&mut self, now: Instant, ack: &AckSample) {
        let expired = self.min_rtt.expired(now);
        self.min_rtt.update(now, ack.rtt, ack.ack_delayed);
        if !self.idle_restart && self.mode == Mode::Cruise && (expired || self.triggered) {
            self.save_window();
            self.mode = Mode::ProbeRtt;
            self.dip = Dip::begin(ack.delivered_bytes);
        }
        if self.mode == Mode::ProbeRtt {
            self.keep_dipping(now, ack);
        }
        if ack.acked_bytes > 0 {
            self.idle_restart = false;
        }
    }

    fn keep_dipping(&mut self, now: Instant, ack: &AckSample) {
        self.dip.extend(ack.delivered_bytes, ack.in_flight_bytes);
        let Some(done_at) = self.dip.done_at else {
            if ack.in_flight_bytes <= self.probe_rtt_window_bytes() {
                self.dip.done_at = Some(now + PROBE_RTT_TIME);
                self.rounds.restart(ack.delivered_bytes);
            }
            return;
        };
        self.dip.round_done |= self.rounds.started;
        if self.dip.round_done && now > done_at {
            if let Some(rtt) = ack.rtt {
                self.min_rtt.replace(now, rtt); // the newest sample, larger or not
            }
            self.check_probe_rtt_done(now);
        }
    }

    /// leocc.c `leocc_check_probe_rtt_done`, `leocc_reset_mode`.
    pub(super) fn check_probe_rtt_done(&mut self, now: Instant) {
        if self.dip.done_at.is_none_or(|done_at| now <= done_at) {
            return;
        }
        self.restore_window();
        if !self.triggered && self.full_pipe.reached {
            return self.enter_cruise(now);
        }
        self.full_pipe = FullPipe::default();
        self.mode = Mode::Startup;
        if self.triggered {
            self.max_bandwidth.reset(self.rounds.count, self.seen_rate);
        }
    }

    pub(super) fn probe_rtt_window_bytes(&self) -> u64 {
        self.bdp_bytes(self.max_bandwidth.get(), PROBE_RTT_GAIN).max(self.min_window_bytes())
    }
}
