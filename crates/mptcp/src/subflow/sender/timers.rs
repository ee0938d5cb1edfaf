//! Retransmission timer, tail loss probe, reordering timer.

use super::{CaState, Effects, Probe, SubflowSender};
use crate::segment::Payload;
use recovery::UndoPoint;
use units::{Duration, Instant};

impl SubflowSender {
    /// The next moment at which [`SubflowSender::on_timer`] or a paced packet is due.
    pub fn next_timer(&self) -> Instant {
        if self.rest_until != Instant::ZERO {
            let end = if self.is_idle() { Instant::FAR_FUTURE } else { self.rest_until };
            return self.reorder_at.min(self.rto_at).min(end);
        }
        let timers = self.rto_at.min(self.reorder_at).min(self.probe_at);
        let waits = !self.queue.is_empty() || self.board.lost_packets() > 0;
        if waits
            && self.cc.pacing_rate().is_some()
            && self.in_flight_packets() < self.cwnd_packets()
        {
            return timers.min(self.pacer.next());
        }
        timers
    }

    /// Probe after two smoothed RTTs without an acknowledgement (RFC 8985 §7.2; Linux adds 200 ms
    /// for a single packet, whose ACK may be delayed), only in the open state and once per flight.
    pub(super) fn schedule_probe(&mut self, now: Instant) {
        let wanted = self.ca == CaState::Open
            && self.probe.is_none()
            && self.board.in_flight_packets() > 0
            && self.board.sacked_packets() == 0
            && self.rtt.has_sample();
        self.probe_at = if wanted {
            let single = self.board.in_flight_packets() == 1;
            let extra = if single { recovery::RTO_MIN } else { Duration::ZERO };
            let at = now + self.rtt.srtt() * 2 + extra;
            if at < self.rto_at { at } else { Instant::FAR_FUTURE }
        } else {
            Instant::FAR_FUTURE
        };
    }

    /// Fires what is due. A packet that a probe sends goes out at once, whatever the window.
    pub fn on_timer(&mut self, now: Instant) -> (Effects, Option<Payload>) {
        let mut effects = Effects::default();
        let mut probe = None;
        if self.reorder_at <= now {
            self.reorder_at = Instant::FAR_FUTURE;
            self.find_losses(now, &mut effects);
            let in_flight = self.board.in_flight_packets();
            if let Some(prr) = self.prr.as_mut().filter(|_| effects.recovery.is_some()) {
                prr.on_ack(1, in_flight, false); // Linux tcp_rack_reo_timeout
            }
        }
        if self.probe_at <= now && now >= self.rest_until {
            probe = self.send_probe(now);
        }
        if self.rto_at <= now && now < self.rest_until {
            self.rto_at = Instant::FAR_FUTURE;
            self.rest_overdue = true;
        } else if self.rto_at <= now {
            self.time_out(now, &mut effects);
        }
        effects.phase = self.phase_change();
        (effects, probe)
    }

    fn send_probe(&mut self, now: Instant) -> Option<Payload> {
        self.probe_at = Instant::FAR_FUTURE;
        let new = !self.queue.is_empty();
        self.probe = Some(Probe { end: self.board.next() + u64::from(new), retransmission: !new });
        if new { self.send_new(now) } else { self.retransmit(now, self.board.next() - 1) }
    }

    /// The retransmission timer (RFC 6298 §5, Linux `tcp_enter_loss`).
    fn time_out(&mut self, now: Instant, effects: &mut Effects) {
        let repeated = self.ca == CaState::Loss && self.backoff > 0;
        let in_flight_bytes = self.board.in_flight_bytes();
        let lost = self.board.on_timeout();
        self.stats.lost_packets += lost.packets;
        self.stats.timeouts += 1;
        effects.lost_bytes += lost.bytes;
        if self.ca == CaState::Open {
            self.undo = UndoPoint::default(); // tcp_enter_loss: else the episode goes on
        }
        self.ca = CaState::Loss;
        self.prr = None;
        self.probe = None;
        self.probe_at = Instant::FAR_FUTURE;
        self.reorder_at = Instant::FAR_FUTURE;
        self.recovery_end = self.board.next();
        self.cc.on_timeout(now, in_flight_bytes, repeated);
        self.backoff += 1;
        effects.timeout = Some(self.backoff);
        self.rto_at = now + self.rto();
    }
}
