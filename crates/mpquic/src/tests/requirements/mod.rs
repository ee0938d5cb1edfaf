//! What RFC 9000, 9001, 9002 and draft-ietf-quic-multipath-21 require of an endpoint and no test of a
//! whole transfer would notice. Which test covers which requirement: docs/quic-requirements.md.

mod acks;
mod cids;
mod close;
mod forge;
mod frames;
mod handshake;
mod initial;
mod keys;
mod migration;
mod multipath;
mod packets;
mod parameters;
mod recovery;
mod retry;
mod streams;

use super::world::*;
use crate::wire::Frame;
use crate::*;
use std::sync::{Arc, Mutex};
use units::{Instant, PathId};

fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

/// A connected endpoint whose peer says whatever a test wants.
struct Victim {
    own: Own,
    now: Instant,
    number: u64,
}

impl Victim {
    fn client() -> Self {
        Self::of(|world| world.client, |_| {})
    }

    fn server() -> Self {
        Self::server_with(|_| {})
    }

    fn server_with(change: fn(&mut Config)) -> Self {
        Self::of(|world| world.server, change)
    }

    fn of(choose: fn(World<Own, Own>) -> Own, change: fn(&mut Config)) -> Self {
        let small = |config: &mut Config| {
            config.stream_window_bytes = 1000;
            config.receive_window_bytes = 1500;
            config.max_streams = 4;
            change(config);
        };
        let (client, server) = (Own::client(0, small), Own::server(0, small));
        let mut world = World::new(client, server, vec![Link::new(100.0, 5)], 1);
        world.run(ms(300), |_| false);
        let now = world.now;
        let mut own = choose(world);
        own.reads = false;
        assert!(own.endpoint.is_connected());
        Self { own, now, number: 1000 }
    }

    /// Its peer sends a packet with these bytes.
    fn hears_bytes(&mut self, payload: &[u8]) -> &mut Self {
        self.number += 1;
        let place = (0, self.number);
        self.own.endpoint.handle_payload(self.now, PathId(0), place, payload);
        self.own.work(self.now);
        self
    }

    fn hears(&mut self, frames: &[Frame<'_>]) -> &mut Self {
        let mut payload = Vec::new();
        frames.iter().for_each(|frame| frame.encode(&mut payload));
        self.hears_bytes(&payload)
    }

    /// The same, from another address.
    fn hears_from(&mut self, net: PathId, frames: &[Frame<'_>]) -> &mut Self {
        let mut payload = Vec::new();
        frames.iter().for_each(|frame| frame.encode(&mut payload));
        self.number += 1;
        self.own.endpoint.handle_payload(self.now, net, (0, self.number), &payload);
        self.own.work(self.now);
        self
    }

    /// The error that it closed with.
    fn error(&self) -> Option<Code> {
        match self.own.closed() {
            Some(Closed::Error(error)) => Some(error.code),
            None => None,
            other => panic!("{other:?}"),
        }
    }

    /// What it sends now.
    fn says(&mut self) -> Vec<Vec<u8>> {
        let next = || self.own.endpoint.poll_transmit(self.now);
        std::iter::from_fn(next).map(|(_, datagram)| datagram).collect()
    }

    /// Those that go to an address.
    fn says_to(&mut self, to: PathId) -> Vec<Vec<u8>> {
        let next = || self.own.endpoint.poll_transmit(self.now);
        let there = std::iter::from_fn(next).filter(|(net, _)| *net == to);
        there.map(|(_, datagram)| datagram).collect()
    }

    /// Time goes on to `at`, and what it sends meanwhile.
    fn until(&mut self, at: Instant) -> Vec<Vec<u8>> {
        let mut said = self.says();
        while let Some(next) = self.own.endpoint.poll_timeout().filter(|next| *next <= at) {
            self.now = self.now.max(next);
            self.own.endpoint.on_timeout(self.now);
            said.extend(self.says());
        }
        self.now = at;
        said
    }

    /// The frames of all packets that it sends from now on.
    fn log(&mut self) -> Log {
        Log::of(&mut self.own.endpoint, self.now)
    }
}

/// What an endpoint sent, as its qlog has it.
#[derive(Clone, Debug, Default)]
struct Log(Arc<Mutex<Vec<serde_json::Value>>>);

impl Log {
    fn of(endpoint: &mut Endpoint, now: Instant) -> Self {
        let log = Self::default();
        let sink = log.clone();
        endpoint.set_qlog(now, QlogSchema::Draft, move |record| {
            if record.contains("packet_sent") {
                sink.0.lock().unwrap().push(serde_json::from_str(&record[1..]).unwrap());
            }
        });
        log
    }

    /// Frames of a type, in the order in which they were sent.
    fn frames(&self, kind: &str) -> Vec<serde_json::Value> {
        let events = self.0.lock().unwrap();
        let frames = events.iter().flat_map(|event| event["data"]["frames"].as_array().unwrap());
        frames.filter(|frame| frame["frame_type"] == kind).cloned().collect()
    }
}

/// The error that a peer's packet with these frames closes a connection with.
fn error_of(mut victim: Victim, frames: &[Frame<'_>]) -> Option<Code> {
    victim.hears(frames).error()
}
