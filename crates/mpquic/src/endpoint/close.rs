//! How a connection ends (RFC 9000 §10).

use super::Endpoint;
use crate::error::TransportError;
use crate::event::Closed;
use crate::lifetime::CloseFrame;
use units::{Instant, PathId};

impl Endpoint {
    /// Ends the connection. Data that was not acknowledged may not arrive.
    pub fn close(&mut self, now: Instant, error_code: u64, reason: &[u8]) {
        if self.lifetime.is_open() {
            self.trace.closed(now, Closed::Local);
            let reason = reason[..reason.len().min(200)].to_vec();
            self.begin_closing(now, CloseFrame { error_code, application: true, reason });
        }
    }

    pub(super) fn fail(&mut self, now: Instant, error: TransportError) {
        if self.lifetime.is_open() {
            let reason = error.reason.as_bytes().to_vec();
            let frame = CloseFrame { error_code: error.value, application: false, reason };
            self.trace.closed(now, Closed::Error(error));
            self.begin_closing(now, frame);
        }
    }

    fn begin_closing(&mut self, now: Instant, frame: CloseFrame) {
        self.lifetime.close(frame, now + self.paths.longest_pto() * 3); // RFC 9000 §10.2
        self.forget_everything();
    }

    pub(super) fn drain(&mut self, now: Instant, why: Closed) {
        if self.lifetime.is_open() {
            self.trace.closed(now, why);
        }
        if self.lifetime.drain(now + self.paths.longest_pto() * 3) {
            self.forget_everything();
        }
    }

    pub(super) fn die(&mut self, now: Instant, why: Option<Closed>) {
        if let Some(why) = why {
            self.trace.closed(now, why);
        }
        self.lifetime.end();
        self.forget_everything();
    }

    fn forget_everything(&mut self) {
        (self.handshake.version_answer, self.paths.repeated) = (None, None);
        self.scheduling.copies.clear();
        self.control.clear();
        self.datagrams.drop_unsent();
    }

    /// What an endpoint that is closing says.
    pub(super) fn closing_datagram(&mut self, now: Instant) -> Option<(PathId, Vec<u8>)> {
        let frame = self.lifetime.take_close()?;
        self.build_close(now, &frame)
    }
}
