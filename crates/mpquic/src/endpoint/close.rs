//! How a connection ends (RFC 9000 §10).

use super::Endpoint;
use crate::error::TransportError;
use crate::event::Closed;
use crate::wire::Frame;
use units::{Instant, PathId};

/// How far a connection is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Life {
    Open,
    /// We said that it is over, and say it again when something comes (RFC 9000 §10.2.1).
    Closing {
        frame: CloseFrame,
        until: Instant,
        due: bool,
        came: u32,
    },
    /// The peer said so (RFC 9000 §10.2.2).
    Draining {
        until: Instant,
    },
    Over,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct CloseFrame {
    pub error_code: u64,
    pub application: bool,
    pub reason: Vec<u8>,
}

impl CloseFrame {
    /// The frame, as it may be in a packet of the handshake or not (RFC 9000 §10.2.3).
    pub fn frame(&self, in_handshake: bool) -> Frame<'_> {
        const APPLICATION_ERROR: u64 = 0x0c; // RFC 9000 §20.1
        match (self.application, in_handshake) {
            (true, true) => Frame::ConnectionClose {
                error_code: APPLICATION_ERROR,
                frame_type: Some(0),
                reason: &[],
            },
            (application, _) => Frame::ConnectionClose {
                error_code: self.error_code,
                frame_type: (!application).then_some(0),
                reason: &self.reason,
            },
        }
    }
}

impl Endpoint {
    /// Ends the connection. Data that was not acknowledged may not arrive.
    pub fn close(&mut self, now: Instant, error_code: u64, reason: &[u8]) {
        if self.life == Life::Open {
            self.tell_closed(now, Closed::Local);
            let reason = reason[..reason.len().min(200)].to_vec();
            self.begin_closing(now, CloseFrame { error_code, application: true, reason });
        }
    }

    pub(super) fn fail(&mut self, now: Instant, error: TransportError) {
        if self.life == Life::Open {
            let reason = error.reason.as_bytes().to_vec();
            let frame = CloseFrame { error_code: error.value, application: false, reason };
            self.tell_closed(now, Closed::Error(error));
            self.begin_closing(now, frame);
        }
    }

    fn begin_closing(&mut self, now: Instant, frame: CloseFrame) {
        let until = now + self.longest_pto() * 3; // RFC 9000 §10.2
        self.life = Life::Closing { frame, until, due: true, came: 0 };
        self.forget_everything();
    }

    pub(super) fn drain(&mut self, now: Instant, why: Closed) {
        if matches!(self.life, Life::Open) {
            self.tell_closed(now, why);
        }
        if !matches!(self.life, Life::Over | Life::Draining { .. }) {
            self.life = Life::Draining { until: now + self.longest_pto() * 3 };
            self.forget_everything();
        }
    }

    pub(super) fn die(&mut self, now: Instant, why: Option<Closed>) {
        if let Some(why) = why {
            self.tell_closed(now, why);
        }
        self.life = Life::Over;
        self.forget_everything();
    }

    fn forget_everything(&mut self) {
        self.outbox.clear();
        self.copies.clear();
        self.control.clear();
        self.datagrams.drop_unsent();
    }

    /// Something came while closing: the answer is repeated, ever more rarely (RFC 9000 §10.2.1).
    pub(super) fn on_datagram_while_closing(&mut self) {
        if let Life::Closing { due, came, .. } = &mut self.life {
            *came += 1;
            *due |= came.is_power_of_two();
        }
    }

    pub(super) fn closing_datagram(&mut self, now: Instant) -> Option<(PathId, Vec<u8>)> {
        let Life::Closing { frame, due, .. } = &mut self.life else { return None };
        if !std::mem::take(due) {
            return None;
        }
        let frame = frame.clone();
        self.build_close(now, &frame)
    }
}
