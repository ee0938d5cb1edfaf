use crate::offload::{Header, Layout, Offload, complete, segment_bytes};
use link::WireSize;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// The largest packet, and room for what may stand before it.
pub(crate) const BUFFER_BYTES: usize = (1 << 16) + 64;
/// Sizes of the buffers that packets are kept in: a frame, a few, as many as there can be.
const SIZES: [usize; 3] = [2048, 16_384, BUFFER_BYTES];

type Buffer = Box<[u8]>;
type Shelves = Arc<[Mutex<Vec<Buffer>>; SIZES.len()]>;

/// Buffers of packets that are gone, for those to come: in steady state nothing is zeroed.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    shelves: Shelves,
}

impl Pool {
    /// A buffer of [`BUFFER_BYTES`] to read into.
    pub(crate) fn largest(&self) -> Buffer {
        self.take(SIZES.len() - 1)
    }

    /// A packet of the first `length` bytes of `read`. They are copied if a smaller buffer has room
    /// for them; else `read` is exchanged for another.
    pub(crate) fn packet(&self, read: &mut Buffer, length: usize, offload: Offload) -> Arc<Packet> {
        let size = SIZES.iter().position(|size| *size >= length).unwrap_or(SIZES.len() - 1);
        let mut buffer = self.take(size);
        if size == SIZES.len() - 1 {
            std::mem::swap(&mut buffer, read);
        } else {
            buffer[..length].copy_from_slice(&read[..length]);
        }
        Arc::new(Packet::new(buffer, length, offload, Arc::clone(&self.shelves)))
    }

    fn take(&self, size: usize) -> Buffer {
        let spare = self.shelves[size].lock().unwrap_or_else(PoisonError::into_inner).pop();
        spare.unwrap_or_else(|| vec![0; SIZES[size]].into_boxed_slice())
    }
}

/// What one read brought. Its buffer goes back to the pool when its last frame is gone: a queue that
/// has one segment of each super-packet holds all of them.
pub(crate) struct Packet {
    buffer: Buffer,
    /// Where the IP packet is.
    begin: usize,
    end: usize,
    header: Header,
    /// Its headers, if it is one that may be split or merged.
    layout: Option<Layout>,
    /// Payload of each frame but the last, if it is split.
    segment: Option<usize>,
    shelves: Shelves,
}

impl Packet {
    fn new(buffer: Buffer, end: usize, offload: Offload, shelves: Shelves) -> Self {
        let read = &buffer[..end];
        let (header, begin) = match read.first_chunk() {
            Some(header) if offload.has_header() => (Header::read(header), Header::BYTES),
            _ => (Header::default(), 0),
        };
        // Without a partial checksum nothing is changed, and a wrong one stays wrong.
        let layout = if header.is_partial() { Layout::of(&read[begin..]) } else { None };
        let layout = layout.filter(|layout| layout.is_partial(header));
        let segment = layout.and_then(|layout| segment_bytes(header, layout));
        let layout = layout.filter(|_| segment.is_some() || !header.is_super());
        Self { buffer, begin, end, header, layout, segment, shelves }
    }

    /// The frames that it is split into; one if it is none to be split.
    pub(crate) fn frames(self: Arc<Self>) -> impl Iterator<Item = Frame> {
        let (from, bytes) = (self.header_bytes(), self.bytes().len());
        let segment = self.segment.unwrap_or(bytes.max(1));
        let count = (bytes - from).div_ceil(segment).max(1);
        (0..count).map(move |number| {
            let from = from + number * segment;
            let to = bytes.min(from + segment);
            Frame { packet: Arc::clone(&self), number: number as u16, from, to }
        })
    }

    /// Whether its header says something that cannot be followed: it passes as one frame.
    pub(crate) fn is_odd(&self) -> bool {
        let is_outside = self.header.csum_at() + 2 > self.bytes().len();
        self.header.is_super() && self.segment.is_none() || self.header.is_partial() && is_outside
    }

    fn bytes(&self) -> &[u8] {
        &self.buffer[self.begin..self.end]
    }

    /// Bytes that each frame has of it.
    fn header_bytes(&self) -> usize {
        self.layout.map_or(0, |layout| layout.payload)
    }
}

impl Drop for Packet {
    fn drop(&mut self) {
        let buffer = std::mem::take(&mut self.buffer);
        if let Some(size) = SIZES.iter().position(|size| *size == buffer.len()) {
            self.shelves[size].lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
        }
    }
}

impl fmt::Debug for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Packet({} bytes)", self.end - self.begin)
    }
}

/// An IP packet on its way: a whole one that was read, or a segment of a super-packet.
#[derive(Debug)]
pub(crate) struct Frame {
    packet: Arc<Packet>,
    /// Which of its segments.
    number: u16,
    /// Where its payload is in the packet; of a packet without a layout: all of it.
    from: usize,
    to: usize,
}

impl Frame {
    pub(crate) fn header(&self) -> Header {
        self.packet.header
    }

    pub(crate) fn layout(&self) -> Option<Layout> {
        self.packet.layout
    }

    /// The packet that was read, of which this may be a part.
    pub(crate) fn packet(&self) -> &[u8] {
        self.packet.bytes()
    }

    /// The headers of that packet.
    pub(crate) fn headers(&self) -> &[u8] {
        &self.packet()[..self.packet.header_bytes()]
    }

    pub(crate) fn payload(&self) -> &[u8] {
        &self.packet()[self.from..self.to]
    }

    /// The payload from this segment to the end of a later one of the same packet.
    pub(crate) fn payload_to(&self, last: &Self) -> &[u8] {
        &self.packet()[self.from..last.to]
    }

    pub(crate) fn number(&self) -> u16 {
        self.number
    }

    /// Where its payload begins in that of the packet.
    pub(crate) fn offset(&self) -> usize {
        self.from - self.packet.header_bytes()
    }

    pub(crate) fn is_last(&self) -> bool {
        self.to == self.packet().len()
    }

    /// Whether it is all of its packet.
    pub(crate) fn is_whole(&self) -> bool {
        self.number == 0 && self.is_last()
    }

    /// Whether `next` is the next segment of the same packet.
    pub(crate) fn is_before(&self, next: &Self) -> bool {
        Arc::ptr_eq(&self.packet, &next.packet) && self.number + 1 == next.number
    }

    /// Writes the IP packet into `out`, with its checksum complete if that can be.
    pub(crate) fn write_complete(&self, out: &mut Vec<u8>) {
        out.clear();
        match self.layout().filter(|_| !self.is_whole()) {
            Some(layout) => {
                self.write_headers(layout, self, self.payload().len(), out);
                out.extend_from_slice(self.payload());
            }
            None => out.extend_from_slice(self.packet()),
        }
        let header = self.header();
        if header.is_partial() {
            let _odd = complete(out, usize::from(header.csum_start), header.csum_at());
        }
    }
}

impl WireSize for Frame {
    /// The whole IP packet.
    fn wire_bytes(&self) -> u64 {
        (self.packet.header_bytes() + self.to - self.from) as u64
    }
}
