//! Frames on a stream (RFC 9114 §7), in pieces of any size.

use crate::error::{Code, Error, Result};
use mpquic::wire::Reader;

pub(crate) mod kind {
    pub const DATA: u64 = 0x0;
    pub const HEADERS: u64 = 0x1;
    pub const CANCEL_PUSH: u64 = 0x3;
    pub const SETTINGS: u64 = 0x4;
    pub const PUSH_PROMISE: u64 = 0x5;
    pub const GOAWAY: u64 = 0x7;
    pub const MAX_PUSH_ID: u64 = 0xd;
    /// Those of HTTP/2 that HTTP/3 has not (RFC 9114 §7.2.8).
    pub const OF_HTTP2: [u64; 4] = [0x2, 0x6, 0x8, 0x9];
}

/// Longest frame that is kept until it is complete: a peer makes us hold so much for each stream. Fields
/// that come to [`crate::MAX_FIELD_SECTION_BYTES`] are shorter unless their encoder wastes room.
const MAX_FRAME_BYTES: u64 = crate::MAX_FIELD_SECTION_BYTES;
/// Longest head of a frame: two integers.
const HEAD_BYTES: usize = 16;

/// What came of frames.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// A frame with its payload.
    Frame(u64, Vec<u8>),
    /// A DATA frame of this many bytes begins.
    DataHead(u64),
    /// Bytes of DATA.
    Data(&'a [u8]),
}

#[derive(Debug)]
enum State {
    Head(Vec<u8>),
    Payload { kind: u64, left: u64, payload: Vec<u8> },
    Data(u64),
    Skip(u64),
}

/// Takes a stream apart.
#[derive(Debug)]
pub(crate) struct Frames {
    state: State,
    /// The kind of the first frame, also of one that is left out.
    pub first: Option<u64>,
}

impl Default for Frames {
    fn default() -> Self {
        Self { state: State::between(), first: None }
    }
}

impl State {
    fn between() -> Self {
        Self::Head(Vec::new())
    }
}

impl Frames {
    /// The next piece of `input`, which is taken from its front; `None`: more has to come. Unknown frames
    /// are left out (RFC 9114 §9).
    pub fn next<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<Piece<'a>>> {
        loop {
            match &mut self.state {
                State::Head(head) => {
                    let Some((kind, len)) = read_head(head, input) else { return Ok(None) };
                    self.first.get_or_insert(kind);
                    self.state = begin(kind, len)?;
                    if kind == kind::DATA {
                        return Ok(Some(Piece::DataHead(len)));
                    }
                }
                State::Payload { kind, left, payload } => {
                    let part = front(input, *left);
                    payload.extend_from_slice(part);
                    *left -= part.len() as u64;
                    if *left > 0 {
                        return Ok(None);
                    }
                    let frame = Piece::Frame(*kind, std::mem::take(payload));
                    self.state = State::between();
                    return Ok(Some(frame));
                }
                State::Data(0) | State::Skip(0) => self.state = State::between(),
                State::Data(left) => {
                    let part = front(input, *left);
                    *left -= part.len() as u64;
                    return Ok((!part.is_empty()).then_some(Piece::Data(part)));
                }
                State::Skip(left) => {
                    let part = front(input, *left);
                    *left -= part.len() as u64;
                    if *left > 0 {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Whether a stream may end here (RFC 9114 §7.1).
    pub fn end(&self) -> Result<()> {
        match &self.state {
            State::Head(head) if head.is_empty() => Ok(()),
            State::Data(0) | State::Skip(0) => Ok(()),
            _ => Err(Error::new(Code::Frame, "a stream ends within a frame")),
        }
    }
}

fn begin(kind: u64, left: u64) -> Result<State> {
    use kind::{CANCEL_PUSH, GOAWAY, HEADERS, MAX_PUSH_ID, OF_HTTP2, PUSH_PROMISE, SETTINGS};
    match kind {
        kind::DATA => Ok(State::Data(left)),
        HEADERS | SETTINGS | GOAWAY | CANCEL_PUSH | MAX_PUSH_ID | PUSH_PROMISE => {
            if left > MAX_FRAME_BYTES {
                return Err(Error::new(Code::ExcessiveLoad, "a frame is too long"));
            }
            Ok(State::Payload { kind, left, payload: Vec::new() })
        }
        other if OF_HTTP2.contains(&other) => {
            Err(Error::new(Code::FrameUnexpected, "a frame of HTTP/2 came"))
        }
        _ => Ok(State::Skip(left)),
    }
}

/// Reads kind and length as soon as both are there.
fn read_head(head: &mut Vec<u8>, input: &mut &[u8]) -> Option<(u64, u64)> {
    let held = head.len();
    head.extend(&input[..input.len().min(HEAD_BYTES - held)]);
    let mut reader = Reader::new(head);
    let read = (reader.varint("kind").ok()).zip(reader.varint("length").ok());
    let used = head.len() - reader.left();
    if read.is_some() {
        *input = &input[used - held..];
        head.clear();
    } else {
        *input = &input[head.len() - held..];
    }
    read
}

/// Takes at most `most` bytes from the front.
fn front<'a>(input: &mut &'a [u8], most: u64) -> &'a [u8] {
    let count = usize::try_from(most).unwrap_or(usize::MAX).min(input.len());
    let (part, rest) = input.split_at(count);
    *input = rest;
    part
}
