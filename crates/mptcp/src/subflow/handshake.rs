//! Opening a subflow: MP_CAPABLE for the first, MP_JOIN for the others (RFC 8684 §3.1, §3.2;
//! docs/model.md §2.3).
//!
//! A join costs one step more than a plain handshake: its initiator may not send data before the
//! fourth ACK (`pre_established`).

use recovery::{RTO_INITIAL, RTO_MAX};
use units::{Duration, Instant};

/// How far a subflow is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Client: SYN sent.
    SynSent,
    /// Server: SYN/ACK sent.
    SynReceived,
    /// Client of a join: SYN/ACK answered, waits for the fourth ACK.
    PreEstablished,
    /// Data may be sent.
    Established,
}

/// Handshake of one subflow, with its retransmission timer (1 s, doubled).
#[derive(Debug)]
pub(crate) struct Handshake {
    state: State,
    join: bool,
    /// When the last SYN, SYN/ACK or third ACK left; `None` while one has to leave.
    sent_at: Option<Instant>,
    backoff: u32,
}

impl Handshake {
    pub fn client(join: bool) -> Self {
        Self { state: State::SynSent, join, sent_at: None, backoff: 0 }
    }

    pub fn server(join: bool) -> Self {
        Self { state: State::SynReceived, join, sent_at: None, backoff: 0 }
    }

    pub fn state(&self) -> State {
        self.state
    }

    /// A SYN, a SYN/ACK or a third ACK has to leave.
    pub fn has_to_send(&self) -> bool {
        self.state != State::Established && self.sent_at.is_none()
    }

    pub fn on_sent(&mut self, now: Instant) {
        self.sent_at = Some(now);
    }

    /// The peer repeats its SYN: it did not get the answer.
    pub fn resend(&mut self) {
        if self.state == State::SynReceived {
            self.sent_at = None;
        }
    }

    /// Client: the SYN/ACK came. Returns the RTT unless a SYN was repeated (Karn).
    pub fn on_syn_ack(&mut self, now: Instant) -> Option<Duration> {
        if self.state != State::SynSent {
            return None;
        }
        let rtt = self.rtt(now);
        self.backoff = 0;
        self.sent_at = None;
        self.state = if self.join { State::PreEstablished } else { State::Established };
        rtt
    }

    /// Anything later came from the peer. Returns true (and the RTT) when that establishes the
    /// subflow: the third ACK at the server, the fourth at the client of a join.
    pub fn on_confirmed(&mut self, now: Instant) -> Option<Option<Duration>> {
        if !matches!(self.state, State::SynReceived | State::PreEstablished) {
            return None;
        }
        let rtt = self.rtt(now);
        self.state = State::Established;
        Some(rtt)
    }

    fn rtt(&self, now: Instant) -> Option<Duration> {
        self.sent_at.filter(|_| self.backoff == 0).map(|sent_at| now - sent_at)
    }

    /// When the last step is repeated.
    pub fn deadline(&self) -> Instant {
        match (self.state, self.sent_at) {
            (State::Established, _) | (_, None) => Instant::FAR_FUTURE,
            (_, Some(sent_at)) => sent_at + (RTO_INITIAL * (1 << self.backoff.min(7))).min(RTO_MAX),
        }
    }

    pub fn on_timer(&mut self, now: Instant) {
        if self.deadline() <= now {
            self.sent_at = None;
            self.backoff += 1;
        }
    }
}
