//! One stream with one TCP connection.

use super::code;
use crate::poller::Ready;
use mpquic::{Endpoint, Read};
use socket2::SockRef;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use units::{Duration, Instant};

/// Bytes of one stream that leave before the next stream has its turn.
pub(super) const TURN_BYTES: u64 = 16 << 10;
/// What may wait to be sent where nothing is in flight yet.
const LEAST_UNSENT_BYTES: u64 = 64 << 10;
/// What is read at a time, from either side.
pub(super) const PIECE_BYTES: usize = 64 << 10;
/// Bytes that the kernel holds unsent for TCP: what waits longer waits in the stream.
const UNSENT_LOW_WATER_BYTES: u32 = 128 << 10;

/// How a splice ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Both ways to their ends.
    Complete,
    /// TCP broke.
    Broken,
    /// The peer gave the stream up, with this code.
    GivenUp(u64),
    /// The connection between both sides ended.
    Lost,
}

#[derive(Debug)]
pub(super) struct Splice {
    socket: TcpStream,
    stream: u64,
    readable: bool,
    writable: bool,
    broken: bool,
    /// Bytes of the stream that TCP has not taken yet, from `rest_at` on.
    rest: Vec<u8>,
    rest_at: usize,
    /// TCP's end went to the stream.
    read_to_end: bool,
    /// The stream's end is known, and went to TCP.
    stream_ended: bool,
    wrote_end: bool,
    /// Bytes from TCP into the stream, and from the stream to TCP.
    pub bytes: [u64; 2],
}

/// Prepares a socket for being spliced: it does not block, tells when it is broken, and as long as both
/// ways have not come to their ends, closing it is a RST: whatever ends this process, the other end
/// never takes a part for the whole.
pub(super) fn prepare(socket: &TcpStream) -> io::Result<()> {
    let options = SockRef::from(socket);
    options.set_nonblocking(true)?;
    options.set_tcp_nodelay(true)?;
    options.set_keepalive(true)?;
    options.set_tcp_notsent_lowat(UNSENT_LOW_WATER_BYTES)?;
    options.set_linger(Some(Duration::ZERO.into()))
}

impl Splice {
    /// `socket` is prepared, and connected.
    pub fn new(socket: TcpStream, stream: u64) -> Self {
        Self {
            socket,
            stream,
            readable: true,
            writable: true,
            broken: false,
            rest: Vec::new(),
            rest_at: 0,
            read_to_end: false,
            stream_ended: false,
            wrote_end: false,
            bytes: [0; 2],
        }
    }

    /// The socket may be read or written again, or is broken.
    pub fn on_ready(&mut self, ready: Ready) {
        self.readable |= ready.readable;
        self.writable |= ready.writable;
        self.broken |= ready.broken;
    }

    /// There may be something to read from TCP; the stream had no room for it.
    pub fn is_hungry(&self) -> bool {
        self.readable && !self.read_to_end
    }

    /// Carries what there is both ways; `sharers`: streams that have something to send. How it ended,
    /// if it did.
    pub fn advance(
        &mut self,
        now: Instant,
        endpoint: &mut Endpoint,
        (sharers, space): (usize, &mut [u8]),
    ) -> Option<End> {
        if self.broken {
            return Some(End::Broken); // though its stream may have no room to read it
        }
        let result = self.pour(endpoint, (sharers, space)).and_then(|()| self.drain(now, endpoint));
        match result {
            Ok(()) if self.read_to_end && self.wrote_end => Some(End::Complete),
            Ok(()) => None,
            Err(end) => Some(end),
        }
    }

    /// From TCP into the stream.
    fn pour(
        &mut self,
        endpoint: &mut Endpoint,
        (sharers, space): (usize, &mut [u8]),
    ) -> Result<(), End> {
        while self.is_hungry() {
            let room = room(endpoint, self.stream, sharers).min(space.len() as u64) as usize;
            if room == 0 {
                return Ok(());
            }
            match self.socket.read(&mut space[..room]) {
                Ok(0) => {
                    self.read_to_end = true;
                    endpoint.finish(self.stream).map_err(|_| End::Broken)?;
                }
                Ok(count) => {
                    let taken = endpoint.write(self.stream, &space[..count]);
                    if taken != Ok(count) {
                        return Err(End::Broken); // it was reset
                    }
                    self.bytes[0] += count as u64;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.readable = false,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(End::Broken),
            }
        }
        Ok(())
    }

    /// From the stream to TCP.
    fn drain(&mut self, now: Instant, endpoint: &mut Endpoint) -> Result<(), End> {
        loop {
            if self.rest_at == self.rest.len() && !self.stream_ended {
                // With TCP blocked, only the end of the stream is of interest: it may be a reset.
                if !self.writable && !endpoint.is_ended(self.stream) {
                    return Ok(());
                }
                match endpoint.read(now, self.stream, PIECE_BYTES) {
                    Ok(Read::Data(data)) => (self.rest, self.rest_at) = (data, 0),
                    Ok(Read::Finished) => self.stream_ended = true,
                    Ok(Read::Reset(code)) => return Err(End::GivenUp(code)),
                    Ok(Read::Blocked) => return Ok(()),
                    Err(_) => return Err(End::Broken),
                }
            }
            if self.rest_at == self.rest.len() {
                return self.end_writing();
            }
            if !self.writable {
                return self.look_for_reset(now, endpoint);
            }
            match self.socket.write(&self.rest[self.rest_at..]) {
                Ok(count) => {
                    self.rest_at += count;
                    self.bytes[1] += count as u64;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.writable = false,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(End::Broken),
            }
            if self.rest_at == self.rest.len() {
                (self.rest, self.rest_at) = (Vec::new(), 0); // an idle connection holds nothing
            }
        }
    }

    /// A part waits for TCP; the peer may have given the stream up meanwhile.
    fn look_for_reset(&mut self, now: Instant, endpoint: &mut Endpoint) -> Result<(), End> {
        if !self.stream_ended && endpoint.is_ended(self.stream) {
            match endpoint.read(now, self.stream, 0) {
                Ok(Read::Finished) => self.stream_ended = true,
                Ok(Read::Reset(code)) => return Err(End::GivenUp(code)),
                _ => {}
            }
        }
        Ok(())
    }

    fn end_writing(&mut self) -> Result<(), End> {
        if self.stream_ended && !std::mem::replace(&mut self.wrote_end, true) {
            self.socket.shutdown(Shutdown::Write).map_err(|_| End::Broken)?;
        }
        Ok(())
    }

    /// Closes both sides as the end was.
    pub fn close(self, endpoint: &mut Endpoint, end: End) {
        match end {
            End::Complete => {
                // What TCP still holds goes on to its end (tcp(7)).
                SockRef::from(&self.socket).set_linger(None).ok();
            }
            End::Broken | End::GivenUp(_) | End::Lost => {
                give_up(endpoint, self.stream, code::BROKEN)
            }
        }
    }
}

/// Ends a stream both ways, as far as it has not ended.
pub(super) fn give_up(endpoint: &mut Endpoint, stream: u64, code: u64) {
    endpoint.reset(stream, code).ok();
    endpoint.stop(stream, code).ok();
}

/// How much may be written to a stream now: what the peer's window admits, and of what is in flight
/// once more, each of the `sharers` a part. Little more than one turn waits longer than that.
pub(super) fn room(endpoint: &Endpoint, stream: u64, sharers: usize) -> u64 {
    let Ok(room) = endpoint.room(stream) else { return 0 };
    let (own, all) = endpoint.queued_bytes(stream);
    let in_flight = endpoint.buffered_bytes().saturating_sub(all);
    let part = in_flight.max(LEAST_UNSENT_BYTES) / sharers.max(1) as u64;
    room.min(part.max(TURN_BYTES).saturating_sub(own))
}
