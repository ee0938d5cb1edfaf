//! All splices of one connection.

use super::splice::{End, PIECE_BYTES, Splice, room};
use crate::poller::{Poller, Ready};
use mpquic::{Endpoint, Event};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::TcpStream;
use std::os::fd::BorrowedFd;
use units::Instant;

/// Tokens from here on are the owner's; those below are streams (RFC 9000 §2.1: 62 bits).
pub(super) const OWN_TOKENS: u64 = 1 << 62;

/// A splice that ended: its stream, how, and the bytes from TCP and to it.
pub(super) type Over = (u64, End, [u64; 2]);

#[derive(Debug)]
pub(super) struct Splices {
    pub poller: Poller,
    open: BTreeMap<u64, Splice>,
    /// Streams that something happened to.
    due: BTreeSet<u64>,
    /// Streams without room for what TCP has.
    hungry: BTreeSet<u64>,
    space: Vec<u8>,
}

impl Splices {
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            poller: Poller::new()?,
            open: BTreeMap::new(),
            due: BTreeSet::new(),
            hungry: BTreeSet::new(),
            space: Vec::new(),
        })
    }

    pub fn len(&self) -> usize {
        self.open.len()
    }

    pub fn fd(&self) -> BorrowedFd<'_> {
        self.poller.fd()
    }

    /// Splices a stream with a prepared socket.
    pub fn add(&mut self, stream: u64, socket: TcpStream) -> io::Result<()> {
        self.poller.add_edges(&socket, stream)?;
        self.adopt(stream, socket);
        Ok(())
    }

    /// The same with one that is under watch already.
    pub fn adopt(&mut self, stream: u64, socket: TcpStream) {
        self.open.insert(stream, Splice::new(socket, stream));
        self.due.insert(stream);
    }

    /// Notes what the sockets are ready for: what is not theirs is returned.
    pub fn look(&mut self) -> Vec<Ready> {
        let mut others = Vec::new();
        for ready in self.poller.take() {
            match self.open.get_mut(&ready.token) {
                Some(splice) => {
                    splice.on_ready(ready);
                    self.due.insert(ready.token);
                }
                None => others.push(ready),
            }
        }
        others
    }

    /// Carries what there is, both ways: the splices that ended.
    pub fn work(&mut self, now: Instant, endpoint: &mut Endpoint, events: &[Event]) -> Vec<Over> {
        let mut over = Vec::new();
        for event in events {
            match event {
                Event::Readable(stream) if self.open.contains_key(stream) => {
                    self.due.insert(*stream);
                }
                Event::Stopped(stream, code) => {
                    self.end(endpoint, *stream, End::GivenUp(*code), &mut over);
                }
                Event::Closed(_) => self.end_all(endpoint, &mut over),
                _ => {}
            }
        }
        self.due.append(&mut self.hungry);
        let sharers = self.due.iter().filter(|stream| self.is_hungry(**stream)).count();
        let mut space = std::mem::take(&mut self.space);
        space.resize(PIECE_BYTES, 0);
        for stream in std::mem::take(&mut self.due) {
            let Some(splice) = self.open.get_mut(&stream) else { continue };
            match splice.advance(now, endpoint, (sharers, &mut space)) {
                Some(end) => self.end(endpoint, stream, end, &mut over),
                None if splice.is_hungry() => {
                    self.hungry.insert(stream);
                }
                None => {}
            }
        }
        self.space = space;
        over
    }

    fn is_hungry(&self, stream: u64) -> bool {
        self.open.get(&stream).is_some_and(Splice::is_hungry)
    }

    /// A stream has room for what its TCP connection has.
    pub fn has_more(&self, endpoint: &Endpoint) -> bool {
        let sharers = self.hungry.len();
        self.hungry.iter().any(|stream| room(endpoint, *stream, sharers) > 0)
    }

    fn end(&mut self, endpoint: &mut Endpoint, stream: u64, end: End, over: &mut Vec<Over>) {
        self.due.remove(&stream);
        self.hungry.remove(&stream);
        if let Some(splice) = self.open.remove(&stream) {
            over.push((stream, end, splice.bytes));
            splice.close(endpoint, end);
        }
    }

    fn end_all(&mut self, endpoint: &mut Endpoint, over: &mut Vec<Over>) {
        for stream in self.open.keys().copied().collect::<Vec<_>>() {
            self.end(endpoint, stream, End::Lost, over);
        }
    }
}
