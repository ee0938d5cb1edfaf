//! Peers that send frames about paths and connection IDs without end.

use super::world::*;
use crate::wire::{ConnectionId, Frame, NewCid, ResetToken};
use crate::*;
use units::{Duration, Instant, PathId};

/// Frames in each step, a tenth of a second apart: what a round trip allows.
const EACH_STEP: u32 = 300;

/// A server whose client says whatever it likes.
struct Attacked {
    server: Own,
    now: Instant,
    number: u64,
}

impl Attacked {
    fn new() -> Self {
        let (client, server) = (Own::client(0, |_| {}), Own::server(0, |_| {}));
        let mut world = World::new(client, server, vec![Link::new(100.0, 10)], 1);
        world.run(Instant::from_millis(500), |_| false);
        let World { server, now, .. } = world;
        // The client is gone, and its successor begins with numbers that it never used.
        Self { server, now, number: 1000 }
    }

    /// The next packet of the client; the server's answers arrive and are acknowledged.
    fn say(&mut self, frames: &[Frame<'_>]) {
        let mut payload = Vec::new();
        frames.iter().for_each(|frame| frame.encode(&mut payload));
        self.number += 1;
        let endpoint = &mut self.server.endpoint;
        endpoint.handle_payload(self.now, PathId(0), (0, self.number), &payload);
        while endpoint.poll_transmit(self.now).is_some() {
            while endpoint.poll_transmit(self.now).is_some() {}
            self.now += Duration::from_micros(100);
            endpoint.acknowledge_all(self.now);
        }
        self.server.work(self.now);
    }

    fn wait(&mut self) {
        self.now += Duration::from_millis(100);
        self.server.endpoint.on_timeout(self.now);
    }
}

#[test]
fn the_cost_of_a_frame_does_not_grow_with_the_paths_that_were() {
    let mut attacked = Attacked::new();
    attacked.say(&[Frame::MaxPathId { maximum: u32::MAX }]);
    let before = attacked.server.endpoint.looked_at();
    let held = attacked.server.endpoint.held_bytes();
    let mut id = 0;
    while id < 60_000 {
        let frames: Vec<_> = (0..EACH_STEP)
            .map(|place| Frame::PathAbandon { path: id + 1 + place, error_code: 0 })
            .collect();
        id += EACH_STEP;
        attacked.wait();
        attacked.say(&frames);
    }
    assert_eq!(attacked.server.closed(), None);
    let looked_at = attacked.server.endpoint.looked_at() - before;
    assert_eq!(looked_at, 60_000, "one new path for each that is over");
    let grown = attacked.server.endpoint.held_bytes().saturating_sub(held);
    assert!(grown < 4_000, "{grown} bytes more");

    // What changes nothing costs no look at all.
    for _ in 0..100 {
        let frames: Vec<_> = (0..EACH_STEP)
            .map(|place| match place % 3 {
                0 => Frame::RetireConnectionId { path: Some(place + 1), sequence: 0 },
                1 => Frame::PathAbandon { path: place + 1, error_code: 0 },
                _ => Frame::MaxPathId { maximum: place + 3 },
            })
            .collect();
        attacked.wait();
        attacked.say(&frames);
    }
    assert_eq!(attacked.server.closed(), None);
    assert_eq!(attacked.server.endpoint.looked_at() - before, looked_at);
    assert_eq!(attacked.server.endpoint.totals().idle_frames, 100 * u64::from(EACH_STEP));
}

/// Each kind alone, each frame a change, more often than a round trip allows.
#[test]
fn too_many_changes_of_paths_end_the_connection() {
    let id = |sequence: u32| {
        let cid = ConnectionId::new(&sequence.to_be_bytes()).unwrap();
        let token = ResetToken([1; 16]);
        NewCid { sequence: sequence.into(), retire_prior_to: sequence.into(), cid, token }
    };
    type Nth<'a> = &'a dyn Fn(u32) -> Frame<'static>;
    let kinds: [Nth<'_>; 5] = [
        &|n| Frame::PathAbandon { path: n, error_code: 0 },
        &|n| Frame::PathStatus { path: 1, sequence: n.into(), backup: true },
        &|n| Frame::MaxPathId { maximum: 1000 + n },
        &|n| Frame::NewConnectionId { path: Some(3), new: id(10 + n) },
        &|n| Frame::RetireConnectionId { path: Some(1), sequence: (n - 1).into() },
    ];
    for (place, nth) in kinds.into_iter().enumerate() {
        let mut attacked = Attacked::new();
        let mut frames = 0;
        while attacked.server.closed().is_none() && frames < 10_000 {
            attacked.say(&[nth(frames + 1)]);
            frames += 1;
        }
        let Some(Closed::Error(error)) = attacked.server.closed() else { panic!("kind {place}") };
        assert_eq!(error.code, Code::ProtocolViolation, "kind {place}: {error}");
        assert!((200..=900).contains(&frames), "kind {place}: {frames}, {error}");
    }
}

/// A link that held back a peer's probes for half a minute delivers all of them at once, and each
/// repeats what was not acknowledged.
#[test]
fn repetitions_of_an_honest_peer_never_end_the_connection() {
    let cid = ConnectionId::new(&[7; 8]).unwrap();
    let token = ResetToken([1; 16]);
    let new = || NewCid { sequence: 5, retire_prior_to: 5, cid, token };
    let frames = [
        Frame::PathStatus { path: 1, sequence: 3, backup: true },
        Frame::NewConnectionId { path: Some(3), new: new() },
        Frame::PathsBlocked { maximum: 3 },
        Frame::PathCidsBlocked { path: 1, next_sequence: 2 },
        Frame::MaxPathId { maximum: 3 },
    ];
    let mut attacked = Attacked::new();
    attacked.say(&frames);
    let before = attacked.server.endpoint.looked_at();
    for _ in 0..2_000 {
        attacked.say(&frames);
    }
    assert_eq!(attacked.server.closed(), None);
    assert_eq!(attacked.server.endpoint.looked_at(), before);
    assert!(attacked.server.endpoint.totals().idle_frames >= 10_000);
}
