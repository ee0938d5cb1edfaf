//! PROBE_RTT: once in ten seconds, almost nothing in flight, so that the queue empties and the
//! minimum RTT shows.

use super::{Bbr, MIN_WINDOW_PACKETS, Mode};
use crate::AckSample;
use units::{Duration, Instant};

/// Time with four packets in flight (tcp_bbr.c `bbr_probe_rtt_mode_ms`).
const PROBE_RTT_TIME: Duration = Duration::from_millis(200);

/// The state of a dip, and what it makes of the bandwidth samples.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProbeRtt {
    /// When the dip may end; `None` until no more than four packets are in flight.
    done_at: Option<Instant>,
    /// A whole round has passed since then.
    round_done: bool,
    /// Packets that left when this range of bytes had been delivered left during the dip.
    dip: Option<(u64, u64)>,
}

impl ProbeRtt {
    /// The sampled packet left during a dip, so its rate says nothing about the path. Linux marks
    /// the connection app-limited instead (tcp_bbr.c `bbr_update_min_rtt`); a controller here
    /// cannot, but it knows by the delivered bytes which packets that would have marked.
    pub(super) fn covers(&self, prior_delivered_bytes: u64) -> bool {
        self.dip.is_some_and(|(from, to)| (from..=to).contains(&prior_delivered_bytes))
    }
}

impl Bbr {
    /// Renews the minimum RTT, and dips for it when it has expired
    /// (tcp_bbr.c `bbr_update_min_rtt`).
    pub(super) fn update_min_rtt(&mut self, now: Instant, ack: &AckSample) {
        let expired = self.min_rtt.expired(now);
        self.min_rtt.update(now, ack.rtt, ack.ack_delayed);
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.save_window();
            self.mode = Mode::ProbeRtt;
            let dip = Some((ack.delivered_bytes, ack.delivered_bytes));
            self.probe_rtt = ProbeRtt { done_at: None, round_done: false, dip };
        }
        if self.mode == Mode::ProbeRtt {
            self.dip(now, ack);
        }
        if ack.acked_bytes > 0 {
            self.idle_restart = false;
        }
    }

    fn dip(&mut self, now: Instant, ack: &AckSample) {
        if let Some((_, to)) = &mut self.probe_rtt.dip {
            *to = ack.delivered_bytes.saturating_add(ack.in_flight_bytes);
        }
        if self.probe_rtt.done_at.is_none() {
            if ack.in_flight_bytes <= MIN_WINDOW_PACKETS * self.mss_bytes {
                self.probe_rtt.done_at = Some(now + PROBE_RTT_TIME);
                self.rounds.restart(ack.delivered_bytes);
            }
            return;
        }
        self.probe_rtt.round_done |= self.rounds.started;
        if self.probe_rtt.round_done {
            self.check_probe_rtt_done(now);
        }
    }

    /// Ends the dip when its time is over (tcp_bbr.c `bbr_check_probe_rtt_done`).
    pub(super) fn check_probe_rtt_done(&mut self, now: Instant) {
        if self.probe_rtt.done_at.is_none_or(|done_at| now <= done_at) {
            return;
        }
        self.min_rtt.renew(now);
        self.restore_window();
        self.resume(now);
    }
}
