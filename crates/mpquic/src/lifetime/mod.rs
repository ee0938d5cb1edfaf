//! How far a connection is, how it ends (RFC 9000 §10), and when it does by itself.

mod idle;

use crate::forgeries::Forgeries;
use crate::wire::Frame;
use idle::Idle;
use units::{Duration, Instant};

/// How far a connection is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Life {
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

/// What we say at the end.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CloseFrame {
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

/// The life of a connection and its idle timer.
#[derive(Debug)]
pub(crate) struct Lifetime {
    life: Life,
    pub idle: Idle,
    pub forgeries: Forgeries,
}

impl Default for Lifetime {
    fn default() -> Self {
        Self { life: Life::Open, idle: Idle::default(), forgeries: Forgeries::default() }
    }
}

impl Lifetime {
    pub const fn is_open(&self) -> bool {
        matches!(self.life, Life::Open)
    }

    pub const fn is_over(&self) -> bool {
        matches!(self.life, Life::Over)
    }

    /// When closing or draining ends; `None`: neither.
    pub const fn ends_at(&self) -> Option<Instant> {
        match self.life {
            Life::Closing { until, .. } | Life::Draining { until } => Some(until),
            Life::Open | Life::Over => None,
        }
    }

    /// We end it (RFC 9000 §10.2.1).
    pub fn close(&mut self, frame: CloseFrame, until: Instant) {
        self.life = Life::Closing { frame, until, due: true, came: 0 };
    }

    /// The peer ended it; false: that is known, or it is over.
    pub fn drain(&mut self, until: Instant) -> bool {
        let begins = !matches!(self.life, Life::Over | Life::Draining { .. });
        if begins {
            self.life = Life::Draining { until };
        }
        begins
    }

    pub fn end(&mut self) {
        self.life = Life::Over;
    }

    /// Something came while closing: the answer is repeated, ever more rarely (RFC 9000 §10.2.1).
    pub fn on_datagram_while_closing(&mut self) {
        if let Life::Closing { due, came, .. } = &mut self.life {
            *came += 1;
            *due |= came.is_power_of_two();
        }
    }

    /// What has to be said now.
    pub fn take_close(&mut self) -> Option<CloseFrame> {
        let Life::Closing { frame, due, .. } = &mut self.life else { return None };
        std::mem::take(due).then(|| frame.clone())
    }
}

/// How long silence may last: the shorter of both ends' wishes, of which zero is none, and three probe
/// timeouts at least (RFC 9000 §10.1).
pub(crate) fn idle_period(ours: Duration, peers: Duration, longest_pto: Duration) -> Duration {
    let both = [ours, peers].into_iter().filter(|period| !period.is_zero());
    // Without any it ends at `Instant::FAR_FUTURE`: never.
    both.min().map_or(Duration::MAX, |period| period.max(longest_pto * 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn farewell() -> CloseFrame {
        CloseFrame { error_code: 7, application: true, reason: b"done".to_vec() }
    }

    #[test]
    fn the_answer_while_closing_is_repeated_ever_more_rarely() {
        let mut lifetime = Lifetime::default();
        assert!(lifetime.is_open() && lifetime.take_close().is_none());
        lifetime.close(farewell(), Instant::from_millis(9));
        assert_eq!(lifetime.take_close(), Some(farewell()));
        assert_eq!(lifetime.take_close(), None);
        let answers = (0..64).filter(|_| {
            lifetime.on_datagram_while_closing();
            lifetime.take_close().is_some()
        });
        assert_eq!(answers.count(), 7, "after 1, 2, 4, … 64");
        assert_eq!(lifetime.ends_at(), Some(Instant::from_millis(9)));
    }

    #[test]
    fn draining_begins_once_and_ends_closing() {
        let mut lifetime = Lifetime::default();
        lifetime.close(farewell(), Instant::from_millis(9));
        assert!(lifetime.drain(Instant::from_millis(5)));
        assert!(!lifetime.drain(Instant::from_millis(6)) && lifetime.take_close().is_none());
        assert_eq!(lifetime.ends_at(), Some(Instant::from_millis(5)));
        lifetime.end();
        assert!(lifetime.is_over() && !lifetime.drain(Instant::from_millis(7)));
    }

    #[test]
    fn an_application_says_nothing_of_itself_in_the_handshake() {
        let frame = farewell();
        let told = |in_handshake| match frame.frame(in_handshake) {
            Frame::ConnectionClose { error_code, frame_type, reason } => {
                (error_code, frame_type, reason.to_vec())
            }
            _ => unreachable!(),
        };
        assert_eq!(told(true), (0x0c, Some(0), vec![]));
        assert_eq!(told(false), (7, None, b"done".to_vec()));
    }

    #[test]
    fn the_idle_period_is_the_shorter_wish_and_three_probe_timeouts_at_least() {
        let second = Duration::from_secs;
        assert_eq!(idle_period(second(30), second(10), second(1)), second(10));
        assert_eq!(idle_period(second(30), second(0), second(1)), second(30));
        assert_eq!(idle_period(second(3), second(9), second(2)), second(6));
        assert_eq!(idle_period(second(0), second(0), second(2)), Duration::MAX);
    }
}
