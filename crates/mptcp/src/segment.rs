use units::{Instant, PathId};

/// What a segment is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Opens a subflow (MP_CAPABLE or MP_JOIN).
    Syn,
    /// Answers it.
    SynAck,
    /// The third ACK of a join (MP_JOIN with its HMAC), repeated until it is acknowledged.
    JoinAck,
    /// Data, an acknowledgement, or both.
    Data,
    /// Asks for an acknowledgement, and so for the window (RFC 9293 §3.8.6.1).
    Probe,
}

/// A piece of the stream and its place in both sequence spaces (a DSS mapping, RFC 8684 §3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payload {
    /// Subflow sequence number, in segments.
    pub seq: u64,
    /// Data sequence number of the first byte.
    pub dsn: u64,
    /// Length.
    pub bytes: u64,
}

/// Up to three SACK blocks, half-open ranges of subflow sequence numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sacks {
    blocks: [(u64, u64); 3],
    count: u8,
}

impl Sacks {
    /// Adds a block unless three are there.
    pub fn push(&mut self, block: (u64, u64)) {
        if let Some(slot) = self.blocks.get_mut(usize::from(self.count)) {
            *slot = block;
            self.count += 1;
        }
    }

    /// The blocks, ascending.
    pub fn ascending(&self) -> impl Iterator<Item = (u64, u64)> + use<> {
        let mut blocks = self.blocks;
        let count = usize::from(self.count);
        blocks[..count].sort_unstable();
        blocks.into_iter().take(count)
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        usize::from(self.count)
    }

    /// No block at all.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// One packet of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// What it is for.
    pub kind: Kind,
    /// Counts the subflows that a path has had: segments of an earlier one are ignored.
    pub incarnation: u16,
    /// Data, if any.
    pub payload: Option<Payload>,
    /// Next subflow sequence number that the sender of this segment expects.
    pub ack: u64,
    /// What it has beyond that.
    pub sacks: Sacks,
    /// It has received a segment twice (DSACK, RFC 2883).
    pub duplicate: bool,
    /// DATA_ACK: next byte of the stream that it expects.
    pub data_ack: u64,
    /// Right edge of its receive window in data sequence numbers.
    pub window_end: u64,
    /// When this segment left (TSval).
    pub sent_at: Instant,
    /// `sent_at` of the segment that this one answers (TSecr).
    pub echo: Instant,
    /// The sender's interface of this path is gone, and with it this subflow (REMOVE_ADDR).
    pub removed: Option<(PathId, u16)>,
    /// Size on the wire with all headers.
    pub wire_bytes: u64,
}
