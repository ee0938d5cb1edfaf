use forecast::Forecast;
use recovery::BlockedTime;
use units::{Bitrate, Duration, PathId};

/// Most that filler is written in at once, whatever the transport.
pub const MAX_FILLER_BYTES: usize = 1 << 18;
static ZEROS: [u8; MAX_FILLER_BYTES] = [0; MAX_FILLER_BYTES];

/// A stream of a connection, as its transport calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(pub u64);

/// Whose data goes first (RFC 9218 §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Priority {
    /// From 0, the highest, to 7.
    pub urgency: u8,
    /// Of use in pieces: it takes turns with others that are as urgent.
    pub incremental: bool,
}

impl Default for Priority {
    fn default() -> Self {
        Self { urgency: 3, incremental: false }
    }
}

/// What reading a stream gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Read {
    /// The next bytes in order.
    Data(Vec<u8>),
    /// Nothing at present; [`crate::Signal::Readable`] follows.
    Blocked,
    /// Everything was read.
    Finished,
    /// The peer gave the stream up, or the connection is over.
    Reset,
}

/// One path as the transport sees it at the moment: what rate adaptation reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathStatus {
    /// Which path; the number is the driver's.
    pub path: PathId,
    /// Smoothed RTT; zero before the first sample.
    pub srtt: Duration,
    /// Smallest RTT.
    pub min_rtt: Duration,
    /// Congestion window of this end.
    pub cwnd_bytes: u64,
    /// Sent by this end and not acknowledged.
    pub in_flight_bytes: u64,
    /// Rate at which this end paces or would pace; zero where the transport does not say.
    pub pacing_rate: Bitrate,
    /// Sent by this end and acknowledged since the connection began.
    pub acked_bytes: u64,
    /// Payload that came first on this path.
    pub received_bytes: u64,
}

/// A connection as an application sees it.
pub trait Streams {
    /// The transport has one stream for everything, which ends with the connection (TCP).
    fn has_one_stream(&self) -> bool;

    /// Opens a stream, in both directions or from here alone. The only stream of a transport that
    /// has one is open already, and returned each time. `None`: not at present, wait for
    /// [`crate::Signal::Writable`].
    fn open(&mut self, both_ways: bool) -> Option<StreamId>;

    /// Writes as much as the send buffer takes: how many bytes. [`crate::Signal::Writable`] follows
    /// a write that was cut short.
    fn write(&mut self, stream: StreamId, data: &[u8]) -> usize;

    /// Most bytes that [`Streams::write_filler`] writes at once, at most [`MAX_FILLER_BYTES`]. Where each
    /// write is sent by itself, that shows in the packets.
    fn filler_bytes(&self) -> usize {
        1 << 16
    }

    /// Writes this many zeros, as [`Streams::write`] does: content that nobody looks at.
    fn write_filler(&mut self, stream: StreamId, bytes: u64) -> u64 {
        let at_once = self.filler_bytes().min(MAX_FILLER_BYTES) as u64;
        let mut written = 0;
        while written < bytes {
            let next = (bytes - written).min(at_once) as usize;
            let taken = self.write(stream, &ZEROS[..next]);
            written += taken as u64;
            if taken < next {
                break;
            }
        }
        written
    }

    /// The priority of what is written to a stream. A transport with one stream has no use for it.
    fn set_priority(&mut self, _stream: StreamId, _priority: Priority) {}

    /// The stream ends with what was written.
    fn finish(&mut self, stream: StreamId);

    /// Reads at most this many bytes.
    fn read(&mut self, stream: StreamId, most_bytes: usize) -> Read;

    /// Reads and drops at most this many bytes: how many there were.
    fn skip(&mut self, stream: StreamId, most_bytes: u64) -> u64 {
        let mut skipped = 0;
        while skipped < most_bytes {
            let most = usize::try_from(most_bytes - skipped).unwrap_or(usize::MAX).min(1 << 18);
            match self.read(stream, most) {
                Read::Data(data) => skipped += data.len() as u64,
                Read::Blocked | Read::Finished | Read::Reset => break,
            }
        }
        skipped
    }

    /// The paths as they are now.
    fn paths(&self) -> Vec<PathStatus>;

    /// For how long something that came has waited for earlier bytes, since the connection began; `None`:
    /// the driver does not tell. A wait counts when it is over, before [`crate::Signal::Readable`].
    fn blocked_time(&self) -> Option<BlockedTime> {
        None
    }

    /// What is known ahead of a path at present: where the driver has it, what was issued last.
    fn forecast(&self, _path: PathId) -> Option<&Forecast> {
        None
    }

    /// Longest DATAGRAM (RFC 9221) that can be sent; 0: the transport has none.
    fn longest_datagram_bytes(&self) -> usize {
        0
    }

    /// Sends a DATAGRAM; false: it was dropped at once.
    fn send_datagram(&mut self, _data: &[u8]) -> bool {
        false
    }

    /// The next DATAGRAM that came.
    fn read_datagram(&mut self) -> Option<Vec<u8>> {
        None
    }
}
