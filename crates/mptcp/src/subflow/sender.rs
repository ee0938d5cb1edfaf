//! Sending side of one subflow: window, loss recovery, timers (Linux `tcp_input.c`,
//! `tcp_output.c`; `algorithms.md` §1).

use super::pacing::Pacer;
use crate::config::Mode;
use crate::segment::{Payload, Segment};
use congestion::{AckSample, Controller, LossSample, RateSample};
use recovery::{AckOutcome, DeliverySample, LossOutcome, Prr, RttEstimator, Scoreboard, UndoPoint};
use std::collections::VecDeque;
use units::{Bitrate, Duration, Instant};

/// A piece of the stream that was assigned to the subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mapping {
    pub dsn: u64,
    pub bytes: u64,
}

/// Congestion state (Linux `tcp_ca_state`; Disorder is "Open with SACKed packets").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CaState {
    Open,
    Recovery,
    Loss,
}

/// A tail loss probe under way (RFC 8985 §7).
#[derive(Clone, Copy, Debug)]
struct Probe {
    /// First packet number after the probe.
    end: u64,
    retransmission: bool,
}

/// What an acknowledgement or a timer did, for the connection to act upon.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Effects {
    pub acked_bytes: u64,
    pub lost_bytes: u64,
    /// Packets of a loss episode that began.
    pub recovery: Option<u64>,
    pub undone: bool,
    /// Timeouts in a row.
    pub timeout: Option<u32>,
}

/// Totals for the record.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SenderStats {
    pub sent_packets: u64,
    pub sent_bytes: u64,
    pub retransmitted_packets: u64,
    pub lost_packets: u64,
    pub timeouts: u64,
    pub undone: u64,
}

impl SenderStats {
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            sent_packets: self.sent_packets + other.sent_packets,
            sent_bytes: self.sent_bytes + other.sent_bytes,
            retransmitted_packets: self.retransmitted_packets + other.retransmitted_packets,
            lost_packets: self.lost_packets + other.lost_packets,
            timeouts: self.timeouts + other.timeouts,
            undone: self.undone + other.undone,
        }
    }
}

#[derive(Debug)]
pub(crate) struct SubflowSender {
    mode: Mode,
    mss_bytes: u64,
    board: Scoreboard<Mapping>,
    pub rtt: RttEstimator,
    pub cc: Box<dyn Controller>,
    ca: CaState,
    prr: Option<Prr>,
    /// The episode ends when everything before this is acknowledged.
    recovery_end: u64,
    undo: UndoPoint,
    queue: VecDeque<Mapping>,
    queued_bytes: u64,
    backoff: u32,
    rto_at: Instant,
    reorder_at: Instant,
    probe_at: Instant,
    probe: Option<Probe>,
    pacer: Pacer,
    last_sent_at: Option<Instant>,
    /// The window was the limit since `limited_until` was set (Linux `is_cwnd_limited`).
    limited: bool,
    limited_until: u64,
    max_in_flight: u64,
    pub stats: SenderStats,
}

impl SubflowSender {
    pub fn new(mode: Mode, cc: Box<dyn Controller>) -> Self {
        Self {
            mode,
            mss_bytes: mode.mss_bytes(),
            board: Scoreboard::default(),
            rtt: RttEstimator::default(),
            cc,
            ca: CaState::Open,
            prr: None,
            recovery_end: 0,
            undo: UndoPoint::default(),
            queue: VecDeque::new(),
            queued_bytes: 0,
            backoff: 0,
            rto_at: Instant::FAR_FUTURE,
            reorder_at: Instant::FAR_FUTURE,
            probe_at: Instant::FAR_FUTURE,
            probe: None,
            pacer: Pacer::default(),
            last_sent_at: None,
            limited: false,
            limited_until: 0,
            max_in_flight: 0,
            stats: SenderStats::default(),
        }
    }

    // ---- what the connection and its scheduler see -------------------------------------------

    /// Congestion window in packets; during a loss episode what PRR allows.
    pub fn cwnd_packets(&self) -> u64 {
        match &self.prr {
            Some(prr) => prr.cwnd(),
            None => (self.cc.window_bytes() / self.mss_bytes).max(1),
        }
    }

    pub fn ssthresh_packets(&self) -> u64 {
        match self.cc.ssthresh_bytes() {
            u64::MAX => u64::MAX,
            bytes => bytes / self.mss_bytes,
        }
    }

    pub fn in_flight_packets(&self) -> u64 {
        self.board.in_flight_packets()
    }

    pub fn queued_packets(&self) -> u64 {
        self.queue.len() as u64
    }

    /// Assigned and not acknowledged on the subflow, sent or not.
    pub fn unacked_bytes(&self) -> u64 {
        self.queued_bytes + (self.board.next() - self.board.una()) * self.mss_bytes
    }

    pub fn ca(&self) -> CaState {
        self.ca
    }

    pub fn delivered_bytes(&self) -> u64 {
        self.board.delivered_bytes()
    }

    /// Nothing assigned that is not acknowledged.
    pub fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.board.is_empty()
    }

    /// Room for one more segment: free window in `v0.96` (and plain TCP), send memory of twice the
    /// window upstream (`tcp_sndbuf_expand`; `algorithms.md` §2.4).
    pub fn has_room(&self) -> bool {
        match self.mode {
            Mode::Tcp | Mode::V096 => {
                self.in_flight_packets() + self.queued_packets() < self.cwnd_packets()
            }
            Mode::Upstream => {
                self.unacked_bytes() < 2 * self.cwnd_packets().max(10) * self.mss_bytes
            }
        }
    }

    /// Linux `sk_pacing_rate` (`tcp_update_pacing_rate`): the controller's own, else twice the
    /// window per RTT in early slow start and 1.2 times later.
    pub fn pacing_rate(&self) -> Bitrate {
        if let Some(rate) = self.cc.pacing_rate() {
            return rate;
        }
        let cwnd = self.cwnd_packets();
        let percent = if cwnd < self.ssthresh_packets() / 2 { 200 } else { 120 };
        let bytes = cwnd.max(self.in_flight_packets()) * self.mss_bytes;
        Bitrate::from_bytes_per(bytes, self.rtt.srtt()).scaled(percent, 100)
    }

    pub fn rto(&self) -> Duration {
        self.rtt.rto(self.backoff)
    }

    /// When the retransmission timer fires; never, if nothing is outstanding.
    pub fn rto_at(&self) -> Instant {
        self.rto_at
    }

    /// Everything assigned and not acknowledged on the subflow, oldest first.
    pub fn outstanding(&self) -> impl Iterator<Item = Mapping> + '_ {
        self.board.unacked().map(|packet| packet.data).chain(self.queue.iter().copied())
    }

    // ---- sending -----------------------------------------------------------------------------

    /// Takes a segment into the subflow's queue.
    pub fn assign(&mut self, mapping: Mapping) {
        self.queued_bytes += mapping.bytes;
        self.queue.push_back(mapping);
    }

    /// The next packet that window and pacing let leave now: retransmissions first.
    pub fn transmit(&mut self, now: Instant) -> Option<Payload> {
        let lost = self.board.next_lost();
        if lost.is_none() && self.queue.is_empty() {
            return None;
        }
        if self.in_flight_packets() >= self.cwnd_packets() {
            self.limited = true;
            self.limited_until = self.board.next();
            return None;
        }
        let rate = self.cc.pacing_rate();
        if let Some(rate) = rate
            && !self.pacer.allows(now, rate, self.cc.send_quantum_bytes())
        {
            return None;
        }
        let payload = match lost {
            Some(seq) => self.retransmit(now, seq),
            None => self.send_new(now),
        };
        if let (Some(rate), Some(payload)) = (rate, &payload) {
            self.pacer.on_sent(rate, payload.bytes);
        }
        payload
    }

    fn send_new(&mut self, now: Instant) -> Option<Payload> {
        let mapping = self.queue.pop_front()?;
        self.queued_bytes -= mapping.bytes;
        let was_idle = self.board.in_flight_packets() == 0;
        if was_idle {
            self.resume(now);
        }
        let seq = self.board.on_sent(now, mapping, mapping.bytes);
        self.after_sending(now, mapping.bytes, was_idle);
        Some(Payload { seq, dsn: mapping.dsn, bytes: mapping.bytes })
    }

    /// Sending begins again after a pause (Linux `tcp_event_data_sent`, `CA_EVENT_TX_START`).
    fn resume(&mut self, now: Instant) {
        let Some(last) = self.last_sent_at else { return };
        let idle = now - last;
        if idle > self.rto() {
            self.cc.on_idle_restart(now, idle, self.rto());
        }
        self.cc.on_app_limited(now, idle);
    }

    fn retransmit(&mut self, now: Instant, seq: u64) -> Option<Payload> {
        let Mapping { dsn, bytes } = self.board.get(seq)?.data;
        let was_idle = self.board.in_flight_packets() == 0;
        self.board.on_retransmitted(now, seq);
        self.undo.on_retransmitted(now);
        if seq == self.board.una() {
            self.rto_at = now + self.rto(); // tcp_xmit_retransmit_queue: the head starts it again
        }
        self.stats.retransmitted_packets += 1;
        self.after_sending(now, bytes, was_idle);
        Some(Payload { seq, dsn, bytes })
    }

    fn after_sending(&mut self, now: Instant, bytes: u64, was_idle: bool) {
        self.stats.sent_packets += 1;
        self.stats.sent_bytes += bytes;
        self.last_sent_at = Some(now);
        self.max_in_flight = self.max_in_flight.max(self.in_flight_packets());
        if let Some(prr) = &mut self.prr {
            prr.on_sent();
        }
        self.cc.on_sent(now, bytes, self.board.in_flight_bytes(), was_idle);
        if self.rto_at == Instant::FAR_FUTURE {
            self.rto_at = now + self.rto();
        }
        self.schedule_probe(now);
    }

    /// Ends a round of sending: with an open window and nothing queued, the application or the
    /// scheduler was the limit (`algorithms.md` §1.5).
    pub fn note_app_limited(&mut self) {
        let idle_window = self.in_flight_packets() < self.cwnd_packets();
        if self.queue.is_empty() && idle_window && self.board.lost_packets() == 0 {
            let in_flight_bytes = self.board.in_flight_bytes();
            self.board.sampler().set_app_limited(in_flight_bytes);
        } else if !idle_window {
            self.limited = true;
            self.limited_until = self.board.next();
        }
    }

    // ---- acknowledgements --------------------------------------------------------------------

    pub fn on_ack(&mut self, now: Instant, segment: &Segment) -> Effects {
        let mut effects = Effects::default();
        let prior_in_flight_bytes = self.board.in_flight_bytes();
        let (ack, sacks, echo) = (segment.ack, segment.sacks.iter(), segment.echo);
        let outcome = self.board.on_ack(now, ack, sacks, echo, &mut self.rtt);
        effects.acked_bytes = outcome.delivered_bytes;
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
        self.schedule_probe(now);
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

    fn undo_if_spurious(&mut self, now: Instant, echo: Instant) -> bool {
        if self.ca == CaState::Open || !self.undo.is_spurious(echo) {
            return false;
        }
        self.stats.lost_packets -= self.board.unmark_lost();
        if self.ca == CaState::Recovery {
            self.board.on_duplicate(); // as the DSACK of the needless retransmission will say
        }
        self.cc.on_spurious(now);
        self.ca = CaState::Open;
        self.prr = None;
        self.undo = UndoPoint::default();
        self.stats.undone += 1;
        true
    }

    /// RACK, and the loss episode that it may begin.
    fn find_losses(&mut self, now: Instant, effects: &mut Effects) {
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
                delivered_bytes: self.board.delivered_bytes(),
                new_episode,
            },
        );
        if new_episode {
            self.ca = CaState::Recovery;
            self.recovery_end = self.board.next();
            self.undo = UndoPoint::default();
            let target = (self.cc.window_bytes() / self.mss_bytes).max(1);
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
                    bytes: self.mss_bytes,
                    tx_in_flight_bytes: self.board.in_flight_bytes() + self.mss_bytes,
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

    // ---- timers ------------------------------------------------------------------------------

    /// The next moment at which [`SubflowSender::on_timer`] or a paced packet is due.
    pub fn next_timer(&self) -> Instant {
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
    fn schedule_probe(&mut self, now: Instant) {
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
        if self.probe_at <= now {
            probe = self.send_probe(now);
        }
        if self.rto_at <= now {
            self.time_out(now, &mut effects);
        }
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
