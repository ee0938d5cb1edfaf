//! A client that lets each datagram wait: to its server the way is as long as it wants.

use super::RawClient;
use mpquic::{Event, Read};
use rustix::net::sockopt::set_socket_recv_buffer_size_force;
use std::collections::VecDeque;
use std::io::ErrorKind;
use units::{Duration, Instant, PathId};

const BUFFER_BYTES: usize = 4 << 20;

/// A client whose round trips take a second.
pub struct FarClient {
    pub near: RawClient,
    waiting: VecDeque<(Instant, Vec<u8>)>,
}

impl FarClient {
    const DELAY: Duration = Duration::from_secs(1);

    pub fn new(near: RawClient) -> Self {
        // More than the machine's limit, where that is allowed: what has no room is lost.
        set_socket_recv_buffer_size_force(&near.socket, BUFFER_BYTES).ok();
        Self { near, waiting: VecDeque::new() }
    }

    /// Does what there is to do now.
    pub fn turn(&mut self) {
        self.receive();
        let now = self.near.now();
        let due = self.waiting.partition_point(|(at, _)| *at <= now);
        for (_, datagram) in self.waiting.drain(..due) {
            self.near.endpoint.handle(now, PathId(0), datagram, None);
        }
        self.read(now);
        self.near.send();
    }

    /// Takes what came, so that it does not stay here.
    fn read(&mut self, now: Instant) {
        for event in self.near.events.drain(..) {
            if let Event::Readable(stream) = event {
                while let Ok(Read::Data(_)) = self.near.endpoint.read(now, stream, BUFFER_BYTES) {}
            }
        }
    }

    /// Acknowledges every second datagram of those that wait, and none afterwards.
    pub fn riddle(&mut self) {
        let now = self.near.now();
        for (_, datagram) in self.waiting.drain(..).step_by(2) {
            self.near.endpoint.handle(now, PathId(0), datagram, None);
        }
        self.near.send();
    }

    fn receive(&mut self) {
        let mut space = [0; 2048];
        loop {
            match self.near.socket.recv(&mut space) {
                Ok(len) => {
                    let due = self.near.now() + Self::DELAY;
                    self.waiting.push_back((due, space[..len].to_vec()));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(_) => {} // a port that was unreachable before
            }
        }
    }
}
