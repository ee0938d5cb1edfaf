//! Sending side of one subflow: window, loss recovery, timers (Linux `tcp_input.c`,
//! `tcp_output.c`; docs/model.md §1).

mod acks;
mod timers;

use super::pacing::Pacer;
use crate::config::Mode;
use crate::segment::Payload;
use congestion::{Controller, Phase};
use recovery::{Prr, RttEstimator, Scoreboard, SentPacket, UndoPoint};
use std::collections::VecDeque;
use units::{Bitrate, Duration, Instant};

/// `TCP_INIT_CWND`.
const INITIAL_WINDOW_PACKETS: u64 = 10;
/// Memory that a segment of 1448 bytes counts for, `per_mss` of `tcp_sndbuf_expand`: 2048 for
/// data, headers and their tail, 256 for the `sk_buff`.
const SEGMENT_MEMORY_BYTES: u64 = 2304;
/// Memory that it takes once it was sent (its `truesize`); unsent ones lie together, without gaps.
const SENT_SEGMENT_MEMORY_BYTES: u64 = 2064;

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
    /// End of the newest segment acknowledged in order, and the DATA_ACK that came with it.
    pub delivered: Option<(u64, u64)>,
    pub lost_bytes: u64,
    /// Packets of a loss episode that began.
    pub recovery: Option<u64>,
    pub undone: bool,
    /// Timeouts in a row.
    pub timeout: Option<u32>,
    /// The congestion control changed to this.
    pub phase: Option<Phase>,
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
    /// Payload of a full segment.
    mss_bytes: u64,
    /// Bytes for which a segment counts to the congestion control.
    counted_bytes: u64,
    board: Scoreboard<Mapping>,
    /// Payload that the peer has acknowledged on this subflow.
    delivered_bytes: u64,
    pub rtt: RttEstimator,
    pub cc: Box<dyn Controller>,
    phase: Option<Phase>,
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
    /// The pacing rate at the last acknowledgement (`tcp_cong_control`).
    paced: Option<Bitrate>,
    last_sent_at: Option<Instant>,
    /// Nothing leaves before this moment; zero: not at rest.
    rest_until: Instant,
    /// The retransmission timer ran out while at rest.
    rest_overdue: bool,
    /// The window was the limit since `limited_until` was set (Linux `is_cwnd_limited`).
    limited: bool,
    limited_until: u64,
    max_in_flight: u64,
    /// Send memory of the subflow: it grows with the window and never shrinks.
    memory_bytes: u64,
    pub stats: SenderStats,
}

impl SubflowSender {
    pub fn new(mode: Mode, cc: Box<dyn Controller>) -> Self {
        Self {
            mode,
            mss_bytes: mode.mss_bytes(),
            counted_bytes: mode.counted_bytes(),
            board: match mode {
                Mode::V096 => Scoreboard::default(),
                Mode::Tcp | Mode::Upstream => Scoreboard::counting(mode.counted_bytes()),
            },
            delivered_bytes: 0,
            rtt: RttEstimator::default(),
            cc,
            phase: None,
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
            paced: None,
            last_sent_at: None,
            rest_until: Instant::ZERO,
            rest_overdue: false,
            limited: false,
            limited_until: 0,
            max_in_flight: 0,
            memory_bytes: 0,
            stats: SenderStats::default(),
        }
    }

    // ---- what the connection and its scheduler see -------------------------------------------

    /// Congestion window in packets; during a loss episode what PRR allows.
    pub fn cwnd_packets(&self) -> u64 {
        match &self.prr {
            Some(prr) => prr.cwnd(),
            None => (self.cc.window_bytes() / self.counted_bytes).max(1),
        }
    }

    pub fn ssthresh_packets(&self) -> u64 {
        match self.cc.ssthresh_bytes() {
            u64::MAX => u64::MAX,
            bytes => bytes / self.counted_bytes,
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
        self.delivered_bytes
    }

    /// Nothing assigned that is not acknowledged.
    pub fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.board.is_empty()
    }

    /// Room for one more segment: free window in `v0.96` (and plain TCP), send memory upstream
    /// (docs/model.md §2.4).
    pub fn has_room(&self) -> bool {
        match self.mode {
            Mode::Tcp | Mode::V096 => {
                self.in_flight_packets() + self.queued_packets() < self.cwnd_packets()
            }
            Mode::Upstream => {
                let sent = self.board.next() - self.board.una();
                self.queued_bytes + sent * SENT_SEGMENT_MEMORY_BYTES < self.memory_bytes()
            }
        }
    }

    /// What the subflow may hold, and what it adds to the send buffer of its connection
    /// (`__mptcp_sync_sndbuf`).
    pub fn memory_bytes(&self) -> u64 {
        self.memory_bytes.max(self.wanted_memory_bytes(INITIAL_WINDOW_PACKETS))
    }

    /// `tcp_sndbuf_expand`: some windows' worth of segments.
    fn wanted_memory_bytes(&self, packets: u64) -> u64 {
        self.cc.send_memory_windows() * packets.max(INITIAL_WINDOW_PACKETS) * SEGMENT_MEMORY_BYTES
    }

    /// Linux `sk_pacing_rate` (`tcp_update_pacing_rate`): the controller's own, else twice the
    /// window per RTT in early slow start and 1.2 times later. Without an RTT the kernel divides by
    /// none, which is 1 in its unit of an eighth of a microsecond: a rate beyond any link.
    /// It is set when an acknowledgement comes: a window that was cut since then, after idle time or by
    /// a timeout, keeps the rate of before.
    pub fn pacing_rate(&self) -> Bitrate {
        let set = self.cc.pacing_rate().or(self.paced);
        set.unwrap_or_else(|| self.rate_of_window())
    }

    fn rate_of_window(&self) -> Bitrate {
        let cwnd = self.cwnd_packets();
        let percent = if cwnd < self.ssthresh_packets() / 2 { 200 } else { 120 };
        let bytes = cwnd.max(self.in_flight_packets()) * self.mss_bytes;
        let srtt = self.rtt.srtt().max(Duration::from_nanos(125));
        Bitrate::from_bytes_per(bytes, srtt).scaled(percent, 100)
    }

    pub fn rto(&self) -> Duration {
        self.rtt.rto(self.backoff)
    }

    /// When the retransmission timer expires; never, if nothing is outstanding.
    #[cfg(test)]
    pub fn rto_at(&self) -> Instant {
        self.rto_at
    }

    /// When the timer that runs expires, be it for a tail loss probe or a retransmission: Linux has
    /// one for both (`icsk_timeout`).
    pub fn timer_at(&self) -> Instant {
        self.rto_at.min(self.probe_at).min(self.reorder_at)
    }

    /// Everything assigned and not acknowledged on the subflow, oldest first.
    pub fn outstanding(&self) -> impl Iterator<Item = Mapping> + '_ {
        self.board.unacked().map(|packet| packet.data).chain(self.queue.iter().copied())
    }

    /// What a path at rest will not send soon: what is lost, or overdue, and what waits in the queue.
    pub fn held_back(&self) -> impl Iterator<Item = Mapping> + '_ {
        let missing = |packet: &&SentPacket<Mapping>| {
            packet.is_lost() || self.rest_overdue && !packet.is_sacked()
        };
        let lost = self.board.unacked().filter(missing);
        lost.map(|packet| packet.data).chain(self.queue.iter().copied())
    }

    // ---- sending -----------------------------------------------------------------------------

    /// Nothing may leave for now.
    pub fn is_resting(&self) -> bool {
        self.rest_until != Instant::ZERO
    }

    /// Lets nothing leave until a moment; `None` ends it. Timers note what is overdue and send
    /// nothing. True when something is held back.
    pub fn rest(&mut self, now: Instant, until: Option<Instant>) -> bool {
        let was_resting = self.is_resting();
        self.rest_until = until.unwrap_or(Instant::ZERO);
        if was_resting && until.is_none() {
            let overdue = std::mem::take(&mut self.rest_overdue) && !self.board.is_empty();
            if overdue && self.board.lost_packets() == 0 {
                self.rto_at = now; // no sign of what was sent before the rest: repair it at once
            } else if overdue || self.rto_at != Instant::FAR_FUTURE {
                self.rto_at = now + self.rto(); // silence was ours: it says nothing about the path
                self.schedule_probe(now);
            }
        }
        let missing = self.rest_overdue || self.board.lost_packets() > 0;
        until.is_some() && (missing || !self.queue.is_empty())
    }

    /// Takes a segment into the subflow's queue. Upstream fills up the last one there if the stream goes
    /// on in this one (`mptcp_sendmsg_frag`, `mptcp_skb_can_collapse_to`).
    pub fn assign(&mut self, mut mapping: Mapping) {
        self.queued_bytes += mapping.bytes;
        if self.mode == Mode::Upstream
            && let Some(last) = self.queue.back_mut()
            && last.dsn + last.bytes == mapping.dsn
        {
            let joins = mapping.bytes.min(self.mss_bytes.saturating_sub(last.bytes));
            last.bytes += joins;
            mapping = Mapping { dsn: mapping.dsn + joins, bytes: mapping.bytes - joins };
        }
        if mapping.bytes > 0 {
            self.queue.push_back(mapping);
        }
    }

    /// The next packet that window and pacing let leave now: retransmissions first.
    pub fn transmit(&mut self, now: Instant) -> Option<Payload> {
        let lost = self.board.next_lost();
        if now < self.rest_until || lost.is_none() && self.queue.is_empty() {
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
    /// scheduler was the limit (docs/model.md §1.5). `filled`: the scheduler wants no more in flight; what
    /// is delivered is then all that the path could, and a quarter of the window counts as all of it
    /// (docs/weave.md, rule 8). `held`: there is more to send, and the peer's window does not admit it.
    pub fn note_app_limited(&mut self, filled: bool, held: impl FnOnce() -> bool) {
        let idle_window = self.in_flight_packets() < self.cwnd_packets();
        if idle_window {
            // tcp_should_expand_sndbuf: not while the window is full
            self.memory_bytes =
                self.memory_bytes.max(self.wanted_memory_bytes(self.cwnd_packets()));
        }
        // Upstream writes to subflows past tcp_sendmsg, where Linux looks (tcp_rate_check_app_limited):
        // its samples never count as limited, so BBR leaves Startup on a path that is seldom used.
        let looked_at = self.mode != Mode::Upstream;
        let at_rest = self.rest_until != Instant::ZERO;
        let drained = at_rest || self.queue.is_empty() && self.board.lost_packets() == 0;
        let in_use = filled && 4 * self.in_flight_packets() >= self.cwnd_packets();
        if looked_at && drained && idle_window && !filled && !held() {
            let in_flight_bytes = self.board.in_flight_bytes();
            self.board.sampler().set_app_limited(in_flight_bytes);
        } else if !idle_window || in_use {
            self.limited = true;
            self.limited_until = self.board.next();
        }
    }
}
