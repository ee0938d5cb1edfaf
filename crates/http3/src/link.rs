//! What both ends say beside messages: settings, and the streams of QPACK.

use crate::control::{CONTROL, DECODER, ENCODER, Use, our_settings};
use crate::error::{Code, Error, Result};
use mpquic::wire::{Reader, put_varint};
use mpquic::{Endpoint, Event, Read};
use std::collections::BTreeMap;
use units::Instant;

/// Longest kind of a stream: one integer.
const KIND_BYTES: usize = 8;
const PIECE_BYTES: usize = 4096;

/// Which end this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It asks.
    Client,
    /// It answers.
    Server,
}

/// A stream of the peer's that goes one way.
#[derive(Debug)]
enum Incoming {
    Beginning(Vec<u8>),
    Used(Use),
}

/// One connection, without its messages.
#[derive(Debug)]
pub struct Link {
    side: Side,
    incoming: BTreeMap<u64, Incoming>,
    own: Vec<u64>,
}

impl Link {
    /// Before anything was said.
    pub fn new(side: Side) -> Self {
        Self { side, incoming: BTreeMap::new(), own: Vec::new() }
    }

    /// Opens our streams as soon as that is possible, and reads the peer's.
    ///
    /// # Errors
    /// What RFC 9114 or RFC 9204 does not allow; the connection is to be closed with its code.
    pub fn work(&mut self, now: Instant, endpoint: &mut Endpoint, events: &[Event]) -> Result<()> {
        self.open(endpoint);
        for event in events {
            match event {
                Event::StreamOpened(id) if id & 2 == 2 => {
                    self.incoming.insert(*id, Incoming::Beginning(Vec::new()));
                }
                // RFC 9114 §6.2.2.1: a server opens no bidirectional stream.
                Event::StreamOpened(id) if id & 1 == 1 && self.side == Side::Client => {
                    let reason = "a server opened a stream for requests";
                    return Err(Error::new(Code::StreamCreation, reason));
                }
                Event::Stopped(id, _) if self.own.contains(id) => return Err(closed()),
                _ => {}
            }
        }
        let ids: Vec<u64> = self.incoming.keys().copied().collect();
        for id in ids {
            self.read(now, endpoint, id)?;
        }
        Ok(())
    }

    /// The peer takes no further requests (RFC 9114 §5.2).
    pub fn is_going(&self) -> bool {
        self.incoming
            .values()
            .any(|one| matches!(one, Incoming::Used(Use::Control(control)) if control.is_going()))
    }

    fn open(&mut self, endpoint: &mut Endpoint) {
        while self.own.len() < 3
            && let Ok(id) = endpoint.open_stream(false)
        {
            let kind = [CONTROL, ENCODER, DECODER][self.own.len()];
            let mut bytes = Vec::new();
            put_varint(&mut bytes, kind);
            if kind == CONTROL {
                bytes.extend(our_settings());
            }
            endpoint.write(id, &bytes).ok(); // the first bytes of a stream always fit
            self.own.push(id);
        }
    }

    fn read(&mut self, now: Instant, endpoint: &mut Endpoint, id: u64) -> Result<()> {
        loop {
            match endpoint.read(now, id, PIECE_BYTES) {
                Ok(Read::Data(data)) => {
                    if !self.take(id, &data)? {
                        endpoint.stop(id, Code::StreamCreation as u64).ok(); // it may be over
                        return Ok(());
                    }
                }
                Ok(Read::Blocked) => return Ok(()),
                Ok(Read::Finished | Read::Reset(_)) | Err(_) => return self.end(id),
            }
        }
    }

    /// Bytes of a stream of the peer's: false when nobody here knows what it is for.
    pub(crate) fn take(&mut self, id: u64, mut data: &[u8]) -> Result<bool> {
        let known = self.incoming.entry(id).or_insert(Incoming::Beginning(Vec::new()));
        if let Incoming::Beginning(begun) = known {
            let held = begun.len();
            begun.extend(&data[..data.len().min(KIND_BYTES - held)]);
            let mut reader = Reader::new(begun);
            let Ok(kind) = reader.varint("kind") else { return Ok(true) };
            data = &data[begun.len() - reader.left() - held..];
            let Some(of) = Use::of(kind, self.side)? else {
                self.incoming.remove(&id);
                return Ok(false);
            };
            let twice = |one: &Incoming| matches!(one, Incoming::Used(of) if of.kind() == kind);
            if self.incoming.values().any(twice) {
                return Err(Error::new(Code::StreamCreation, "a critical stream is there twice"));
            }
            self.incoming.insert(id, Incoming::Used(of));
        }
        match self.incoming.get_mut(&id) {
            Some(Incoming::Used(of)) => of.take(data).map(|()| true),
            _ => Ok(true),
        }
    }

    /// A stream of the peer's ended, which critical ones must not (RFC 9114 §6.2.1, RFC 9204 §4.2).
    pub(crate) fn end(&mut self, id: u64) -> Result<()> {
        match self.incoming.remove(&id) {
            Some(Incoming::Used(_)) => Err(closed()),
            _ => Ok(()),
        }
    }
}

fn closed() -> Error {
    Error::new(Code::ClosedCriticalStream, "a stream ended that both ends need")
}
