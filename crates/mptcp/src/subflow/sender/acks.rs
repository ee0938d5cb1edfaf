//! What an acknowledgement does: losses, loss episodes, their undoing, and the window.

use super::{CaState, Effects, SubflowSender};
use crate::segment::Segment;
use congestion::{AckSample, LossSample, Phase, RateSample};
use recovery::{AckOutcome, DeliverySample, LossOutcome, Prr, UndoPoint};
use units::{Bitrate, Instant};

impl SubflowSender {
    pub fn on_ack(&mut self, now: Instant, segment: &Segment) -> Effects {
        let mut effects = Effects::default();
        let prior_in_flight_bytes = self.board.in_flight_bytes();
        let (ack, sacks, echo) = (segment.ack, segment.sacks.ascending(), segment.echo);
        let newest = ack.checked_sub(1).and_then(|seq| self.board.get(seq)).map(|p| p.data);
        effects.delivered = newest.map(|piece| (piece.dsn + piece.bytes, segment.data_ack));
        let outcome = self.board.on_ack(now, ack, sacks, echo, &mut self.rtt);
        effects.acked_bytes = outcome.payload_bytes;
        self.delivered_bytes += outcome.payload_bytes;
        if segment.duplicate {
            self.board.on_duplicate();
        }
        if outcome.advanced {
            self.backoff = 0;
            effects.undone = self.undo_if_spurious(now, segment.echo);
        }
        self.restart_rto(now, &outcome);
        if outcome.delivered_packets > 0 || self.reorder_at != Instant::FAR_FUTURE {
            self.find_losses(now, &mut effects);
        }
        self.end_episode(now);
        self.end_probe(now, segment, &outcome);
        self.update_window(now, &outcome, &effects, prior_in_flight_bytes);
        if prior_in_flight_bytes > 0 {
            self.paced = Some(self.rate_of_window());
        }
        self.schedule_probe(now);
        effects.phase = self.phase_change();
        effects
    }

    /// The timer runs again from every cumulative acknowledgement, and from SACKs of what left
    /// before the head did last: others would keep it from firing for a lost head
    /// (`tcp_clean_rtx_queue`, `FLAG_SET_XMIT_TIMER`).
    fn restart_rto(&mut self, now: Instant, outcome: &AckOutcome) {
        let Some(head) = self.board.get(self.board.una()) else {
            self.rto_at = Instant::FAR_FUTURE;
            return;
        };
        let older_than_head = outcome.newest_rtt.is_some_and(|rtt| rtt > now - head.sent_at);
        if outcome.advanced || older_than_head {
            self.rto_at = now + self.rto();
        }
    }

    /// What the congestion control does, if that is new.
    pub(super) fn phase_change(&mut self) -> Option<Phase> {
        let phase = Some(self.cc.phase());
        (self.phase != phase).then(|| self.phase = phase).and(phase)
    }

    /// An acknowledgement of something older than the retransmissions may come late because those
    /// before it were lost; so within an episode it counts only when no retransmission is out
    /// (`tcp_try_undo_partial`).
    fn undo_if_spurious(&mut self, now: Instant, echo: Instant) -> bool {
        if self.ca == CaState::Open || !self.undo.is_spurious(echo) {
            return false;
        }
        let partial = self.ca == CaState::Recovery && self.board.una() < self.recovery_end;
        if partial && self.board.has_retransmission_out() {
            return false;
        }
        self.stats.lost_packets -= self.board.unmark_lost();
        if self.ca == CaState::Recovery {
            self.board.on_reordered(); // tcp_check_sack_reordering: it was late, not lost
        }
        self.cc.on_spurious(now);
        self.ca = CaState::Open;
        self.prr = None;
        self.undo = UndoPoint::default();
        self.stats.undone += 1;
        true
    }

    /// RACK, and the loss episode that it may begin.
    pub(super) fn find_losses(&mut self, now: Instant, effects: &mut Effects) {
        let in_recovery = self.ca != CaState::Open;
        let (lost, timer) = self.board.detect_losses(now, &self.rtt, in_recovery);
        self.reorder_at = timer.unwrap_or(Instant::FAR_FUTURE);
        if lost.packets == 0 {
            return;
        }
        self.stats.lost_packets += lost.packets;
        effects.lost_bytes += lost.bytes;
        let new_episode = self.ca == CaState::Open;
        if new_episode {
            effects.recovery = Some(lost.packets);
        }
        self.report_loss(now, &lost, new_episode);
    }

    fn report_loss(&mut self, now: Instant, lost: &LossOutcome, new_episode: bool) {
        let prior_cwnd = self.cwnd_packets();
        self.cc.on_lost(
            now,
            &LossSample {
                lost_bytes: lost.bytes,
                in_flight_bytes: self.board.in_flight_bytes(),
                tx_in_flight_bytes: lost.tx_in_flight_bytes,
                lost_since_sent_bytes: lost.lost_since_sent_bytes,
                delivered_bytes: self.board.delivered_bytes(),
                new_episode,
            },
        );
        if new_episode {
            self.ca = CaState::Recovery;
            self.recovery_end = self.board.next();
            self.undo = UndoPoint::default();
            let target = (self.cc.window_bytes() / self.counted_bytes).max(1);
            self.prr = self.cc.reduces_by_prr().then(|| Prr::new(prior_cwnd, target));
            self.probe = None;
        }
    }

    fn end_episode(&mut self, now: Instant) {
        if self.ca != CaState::Open && self.board.una() >= self.recovery_end {
            self.ca = CaState::Open;
            self.prr = None;
            self.undo = UndoPoint::default();
            self.cc.on_recovered(now);
        }
    }

    /// A repaired tail loss counts as one (Linux `tcp_process_tlp_ack`).
    fn end_probe(&mut self, now: Instant, segment: &Segment, outcome: &AckOutcome) {
        let Some(probe) = self.probe else { return };
        if segment.ack < probe.end {
            return;
        }
        let answered_twice = segment.duplicate || outcome.delivered_packets == 0;
        if !probe.retransmission || answered_twice {
            self.probe = None;
        } else if segment.ack > probe.end {
            self.probe = None;
            if self.ca == CaState::Open {
                let lost = LossOutcome {
                    packets: 1,
                    bytes: self.counted_bytes,
                    tx_in_flight_bytes: self.board.in_flight_bytes() + self.counted_bytes,
                    lost_since_sent_bytes: self.counted_bytes,
                };
                self.report_loss(now, &lost, true);
                self.recovery_end = self.board.una();
                self.end_episode(now);
            }
        }
    }

    fn update_window(
        &mut self,
        now: Instant,
        outcome: &AckOutcome,
        effects: &Effects,
        prior_in_flight_bytes: u64,
    ) {
        if outcome.delivered_packets == 0 {
            return;
        }
        let in_flight = self.board.in_flight_packets();
        if let Some(prr) = &mut self.prr {
            let advanced = outcome.advanced && effects.lost_bytes == 0;
            prr.on_ack(outcome.delivered_packets, in_flight, advanced);
        }
        let window_limited = self.window_limited();
        let sample = AckSample {
            acked_bytes: outcome.delivered_bytes,
            lost_bytes: effects.lost_bytes,
            rtt: outcome.newest_rtt,
            ack_delayed: outcome.delivered_packets == 1 && in_flight == 0,
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min(),
            prior_in_flight_bytes,
            in_flight_bytes: self.board.in_flight_bytes(),
            delivered_bytes: self.board.delivered_bytes(),
            prior_delivered_bytes: outcome.prior_delivered_bytes,
            rate: outcome.sample.as_ref().map(rate_sample),
            window_limited,
            in_recovery: self.ca != CaState::Open,
        };
        self.cc.on_acked(now, &sample);
        if self.board.una() > self.limited_until {
            self.limited = false;
            self.limited_until = self.board.next();
            self.max_in_flight = in_flight;
        }
    }

    /// Linux `tcp_is_cwnd_limited`: the window was full in the last round trip, or in slow start
    /// at least half used.
    fn window_limited(&self) -> bool {
        let cwnd = self.cwnd_packets();
        self.limited || (cwnd < self.ssthresh_packets() && cwnd < 2 * self.max_in_flight)
    }
}

fn rate_sample(sample: &DeliverySample) -> RateSample {
    RateSample {
        rate: Bitrate::from_bytes_per(sample.delivered_bytes, sample.interval),
        delivered_bytes: sample.delivered_bytes,
        interval: sample.interval,
        app_limited: sample.app_limited,
        tx_in_flight_bytes: sample.tx_in_flight_bytes,
        lost_bytes: sample.lost_bytes,
    }
}
