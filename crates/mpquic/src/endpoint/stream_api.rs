//! Streams and DATAGRAMs, as the application sees them.

use super::Endpoint;
use crate::error::Error;
use crate::wire::{Frame, varint_len};
use units::Instant;

/// What reading a stream gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Read {
    /// The next bytes in order.
    Data(Vec<u8>),
    /// Nothing available; [`crate::Event::Readable`] follows.
    Blocked,
    /// Everything was read.
    Finished,
    /// The peer gave the stream up with this code.
    Reset(u64),
}

impl Endpoint {
    /// Opens a stream, bidirectional or not.
    pub fn open_stream(&mut self, bidi: bool) -> Result<u64, Error> {
        self.is_connected().then_some(()).ok_or(Error::NotOpen)?;
        self.streams.open(bidi)
    }

    /// Gives a stream more to send: how many bytes the send buffer took.
    pub fn write(&mut self, stream: u64, data: &[u8]) -> Result<usize, Error> {
        self.streams.write(stream, data)
    }

    /// Gives a stream this many zeros to send: how many the send buffer took. They count as written bytes
    /// do, and take no memory.
    ///
    /// # Errors
    /// As [`Endpoint::write`].
    pub fn write_zeros(&mut self, stream: u64, count: usize) -> Result<usize, Error> {
        self.streams.write_zeros(stream, count)
    }

    /// The priority of what a stream sends (RFC 9218 §4). `urgency` is from 0, the highest, to 7; 3 if
    /// nobody says. More urgent streams send first. Of those alike each sends all that it has, but an
    /// `incremental` one, which is of use in pieces, 16 KiB at a time. While a stream is open that is more
    /// urgent than 3, a scheduler may keep queues shorter.
    ///
    /// # Errors
    /// The stream is not open, or not for sending.
    pub fn set_priority(
        &mut self,
        stream: u64,
        urgency: u8,
        incremental: bool,
    ) -> Result<(), Error> {
        self.streams.set_priority(stream, urgency, incremental)
    }

    /// How much may be written to a stream such that the send buffer takes it and the peer's window
    /// for the stream admits it.
    pub fn room(&self, stream: u64) -> Result<u64, Error> {
        self.streams.room(stream)
    }

    /// The stream ends with what was written.
    pub fn finish(&mut self, stream: u64) -> Result<(), Error> {
        self.streams.finish(stream)
    }

    /// Gives a stream up.
    pub fn reset(&mut self, stream: u64, error_code: u64) -> Result<(), Error> {
        if let Some(final_size) = self.streams.reset(stream, error_code)? {
            self.control.push(Frame::ResetStream { id: stream, error_code, final_size });
        }
        Ok(())
    }

    /// Asks the peer to give a stream up; what came of it and comes yet is dropped.
    pub fn stop(&mut self, stream: u64, error_code: u64) -> Result<(), Error> {
        if self.streams.stop(stream)? {
            self.control.push(Frame::StopSending { id: stream, error_code });
        }
        Ok(())
    }

    /// Reads a stream: at most `max` bytes.
    pub fn read(&mut self, now: Instant, stream: u64, max: usize) -> Result<Read, Error> {
        let rtt = self.paths.slowest_rtt();
        if let Some(data) = self.streams.read((now, rtt), stream, max)? {
            return Ok(Read::Data(data));
        }
        let half = self.streams.recv.get_mut(&stream).ok_or(Error::NoStream(stream))?;
        if !half.is_complete() {
            return Ok(Read::Blocked);
        }
        half.ended = true;
        let end = half.reset.map_or(Read::Finished, Read::Reset);
        self.streams.collect(stream);
        Ok(end)
    }

    /// Whether everything that a stream will ever bring was read.
    pub fn is_ended(&self, stream: u64) -> bool {
        self.streams.is_ended(stream)
    }

    /// Bytes written and not acknowledged, all streams together.
    pub fn buffered_bytes(&self) -> u64 {
        self.streams.buffered
    }

    /// Bytes written and never sent: of one stream, and of all together.
    pub fn queued_bytes(&self, stream: u64) -> (u64, u64) {
        let own = self.streams.send.get(&stream).map_or(0, |half| half.queued());
        (own, self.streams.unsent())
    }

    /// Longest DATAGRAM that can be sent.
    pub fn max_datagram_bytes(&self) -> usize {
        // Short header with 20 + 4 bytes, tag, frame type and length.
        let in_packet = self.config.datagram_bytes.saturating_sub(25 + 16 + 3);
        let peer =
            usize::try_from(self.handshake.peer.max_datagram_frame_size).unwrap_or(usize::MAX);
        in_packet.min(peer.saturating_sub(1 + varint_len(peer as u64)))
    }

    /// Sends a DATAGRAM: unreliable, but congestion-controlled (RFC 9221). False: too many wait.
    pub fn send_datagram(&mut self, data: &[u8]) -> Result<bool, Error> {
        let limit = self.max_datagram_bytes();
        if data.len() > limit || self.handshake.peer.max_datagram_frame_size == 0 {
            return Err(Error::DatagramSize { bytes: data.len(), limit });
        }
        Ok(self.datagrams.queue(data))
    }

    /// The next DATAGRAM that came.
    pub fn recv_datagram(&mut self) -> Option<Vec<u8>> {
        self.datagrams.read()
    }
}
