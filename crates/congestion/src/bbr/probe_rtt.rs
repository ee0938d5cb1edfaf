//! PROBE_RTT: once in ten seconds, almost nothing in flight, so that the queue empties and the
//! minimum RTT shows.

use super::dip::Dip;
use super::{Bbr, MIN_WINDOW_PACKETS, Mode};
use crate::AckSample;
use units::{Duration, Instant};

/// Time with four packets in flight (tcp_bbr.c `bbr_probe_rtt_mode_ms`).
const PROBE_RTT_TIME: Duration = Duration::from_millis(200);

impl Bbr {
    /// Renews the minimum RTT, and dips for it when it has expired
    /// (tcp_bbr.c `bbr_update_min_rtt`).
    pub(super) fn update_min_rtt(&mut self, now: Instant, ack: &AckSample) {
        let expired = self.min_rtt.expired(now);
        self.min_rtt.update(now, ack.rtt, ack.ack_delayed);
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
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
        if self.dip.done_at.is_none() {
            if ack.in_flight_bytes <= MIN_WINDOW_PACKETS * self.mss_bytes {
                self.dip.done_at = Some(now + PROBE_RTT_TIME);
                self.rounds.restart(ack.delivered_bytes);
            }
            return;
        }
        self.dip.round_done |= self.rounds.started;
        if self.dip.round_done {
            self.check_probe_rtt_done(now);
        }
    }

    /// Ends the dip when its time is over (tcp_bbr.c `bbr_check_probe_rtt_done`).
    pub(super) fn check_probe_rtt_done(&mut self, now: Instant) {
        if self.dip.done_at.is_none_or(|done_at| now <= done_at) {
            return;
        }
        self.min_rtt.renew(now);
        self.restore_window();
        self.resume(now);
    }
}
