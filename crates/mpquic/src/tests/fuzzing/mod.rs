//! Bodies of the fuzz targets (`fuzz/`), which ordinary tests call with seeded inputs, too. Each
//! takes bytes, does with them what its name says, and panics when a rule is broken.

mod packet;
mod peer;
mod two_ends;
mod wire;

pub use packet::packet;
pub use peer::peer;
pub use two_ends::two_ends;
pub use wire::{frame, params};

use super::tls;
use crate::*;
use units::{Duration, Instant, PathId};

/// Decisions drawn from the bytes of an input; zeroes when they are used up.
pub struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn bytes(&mut self, count: usize) -> &'a [u8] {
        let (head, tail) = self.0.split_at(count.min(self.0.len()));
        self.0 = tail;
        head
    }

    pub fn u8(&mut self) -> u8 {
        self.bytes(1).first().copied().unwrap_or(0)
    }

    pub fn u16(&mut self) -> u16 {
        u16::from_be_bytes([self.u8(), self.u8()])
    }

    /// A number below `end`, which is at most 65,536.
    pub fn below(&mut self, end: usize) -> usize {
        if end <= 256 { usize::from(self.u8()) % end.max(1) } else { usize::from(self.u16()) % end }
    }
}

/// An endpoint whose windows are small enough for an input to fill.
fn endpoint(role: Role, seed: u64) -> Endpoint {
    let config = Config {
        stream_window_bytes: 32 << 10,
        receive_window_bytes: 64 << 10,
        max_receive_window_bytes: 128 << 10,
        send_buffer_bytes: 64 << 10,
        max_streams: 8,
        idle_timeout: Duration::ZERO, // nothing but an error may end the connection
        ..Config::new(role)
    };
    let scheduler = scheduler::Algorithm::MinRtt.build();
    Endpoint::new(config, scheduler, (Instant::ZERO, PathId(0)), seed).unwrap()
}

/// More than this is never held: send buffer, receive window, its bookkeeping, DATAGRAMs both ways.
const HELD_BYTES: u64 = (64 << 10) + (128 << 10) + (32 << 10) + (1 << 20) + (2 << 20);

fn client() -> Endpoint {
    endpoint(tls::client_role(), 1)
}

fn server() -> Endpoint {
    endpoint(tls::server_role(), 2)
}

/// What `end` sends now; the rules that hold for every endpoint at every moment.
fn drain(now: Instant, end: &mut Endpoint) -> Vec<(PathId, Vec<u8>)> {
    let mut out = Vec::new();
    for _ in 0..1000 {
        while let Some(sent) = end.poll_transmit(now) {
            assert!(!sent.1.is_empty() && sent.1.len() <= 1200, "{} bytes", sent.1.len());
            out.push(sent);
            assert!(out.len() < 10_000, "sends without end");
        }
        assert!(end.held_bytes() <= HELD_BYTES, "holds {} bytes", end.held_bytes());
        assert!(end.tracked_packets() < 10_000, "at {now:?}: {}", end.timers());
        if end.poll_timeout().is_none_or(|at| at > now) {
            return out;
        }
        end.on_timeout(now);
    }
    panic!("time stands still at {now:?}: {}", end.timers());
}

/// Carries everything that both have to say, 5 ms each way and without loss, until both are silent
/// or `quiet` ends; what was carried is appended to `overheard`.
fn exchange(
    now: &mut Instant,
    ends: &mut [Endpoint; 2],
    overheard: &mut Vec<(usize, Vec<u8>)>,
    quiet: Duration,
) {
    for _ in 0..2000 {
        let mut moved = false;
        for from in 0..2 {
            let sent = drain(*now, &mut ends[from]);
            *now += Duration::from_millis(5);
            for (net, datagram) in sent {
                moved = true;
                overheard.push((1 - from, datagram.clone()));
                ends[1 - from].handle(*now, net, datagram, None);
            }
        }
        if !moved {
            let next = ends.iter().filter_map(Endpoint::poll_timeout).min();
            match next.filter(|at| *at <= *now + quiet) {
                Some(at) => *now = (*now).max(at),
                None => return,
            }
        }
    }
}
