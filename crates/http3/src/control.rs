//! Streams that go one way (RFC 9114 §6.2): the peer's control stream and those of QPACK.

use crate::error::{Code, Error, Result};
use crate::frame::{Frames, Piece, kind};
use crate::link::Side;
use mpquic::wire::{Reader, put_varint};

pub(crate) const CONTROL: u64 = 0x0;
const PUSH: u64 = 0x1;
pub(crate) const ENCODER: u64 = 0x2;
pub(crate) const DECODER: u64 = 0x3;

mod setting {
    /// Those of HTTP/2 that HTTP/3 has not (RFC 9114 §7.2.4.1).
    pub const OF_HTTP2: [u64; 5] = [0x0, 0x2, 0x3, 0x4, 0x5];
    pub const QPACK_MAX_TABLE_CAPACITY: u64 = 0x1;
    pub const MAX_FIELD_SECTION_SIZE: u64 = 0x6;
    pub const QPACK_BLOCKED_STREAMS: u64 = 0x7;
}
/// Settings that one frame may have.
const MOST_SETTINGS: usize = 64;
/// An instruction of QPACK that is allowed here is one integer.
const MAX_INSTRUCTION_BYTES: usize = 10;

/// What a stream that goes one way is for.
#[derive(Debug)]
pub(crate) enum Use {
    Control(Control),
    Encoder,
    Decoder(Vec<u8>),
}

impl Use {
    /// `None`: nobody here knows such streams (RFC 9114 §9).
    pub fn of(kind: u64, side: Side) -> Result<Option<Self>> {
        match (kind, side) {
            (CONTROL, _) => Ok(Some(Self::Control(Control::new(side)))),
            (ENCODER, _) => Ok(Some(Self::Encoder)),
            (DECODER, _) => Ok(Some(Self::Decoder(Vec::new()))),
            (PUSH, Side::Client) => Err(Error::new(Code::Id, "a push was not allowed")),
            (PUSH, Side::Server) => Err(Error::new(Code::StreamCreation, "a client pushes")),
            _ => Ok(None),
        }
    }

    pub fn kind(&self) -> u64 {
        match self {
            Self::Control(_) => CONTROL,
            Self::Encoder => ENCODER,
            Self::Decoder(_) => DECODER,
        }
    }

    pub fn take(&mut self, input: &[u8]) -> Result<()> {
        match self {
            Self::Control(control) => control.take(input),
            Self::Encoder => encoder(input),
            Self::Decoder(held) => decoder(held, input),
        }
    }
}

/// The peer's control stream.
#[derive(Debug)]
pub(crate) struct Control {
    side: Side,
    frames: Frames,
    settled: bool,
    /// The last ID of GOAWAY, and of MAX_PUSH_ID.
    going: Option<u64>,
    pushes: Option<u64>,
}

impl Control {
    fn new(side: Side) -> Self {
        Self { side, frames: Frames::default(), settled: false, going: None, pushes: None }
    }

    pub fn is_going(&self) -> bool {
        self.going.is_some()
    }

    fn take(&mut self, mut input: &[u8]) -> Result<()> {
        while let Some(piece) = self.frames.next(&mut input)? {
            self.begins_well()?;
            match piece {
                Piece::Frame(kind, payload) => self.on_frame(kind, &payload)?,
                Piece::DataHead(_) | Piece::Data(_) => return Err(unexpected()),
            }
        }
        self.begins_well()
    }

    /// RFC 9114 §6.2.1: SETTINGS come first, also before what is left out.
    fn begins_well(&self) -> Result<()> {
        let reason = "a control stream does not begin with SETTINGS";
        match self.frames.first {
            None | Some(kind::SETTINGS) => Ok(()),
            Some(_) => Err(Error::new(Code::MissingSettings, reason)),
        }
    }

    fn on_frame(&mut self, kind: u64, payload: &[u8]) -> Result<()> {
        match kind {
            kind::SETTINGS if !self.settled => {
                self.settled = true;
                settings(payload)
            }
            kind::GOAWAY => {
                let id = integer(payload)?;
                let ours = self.side == Side::Server || id % 4 == 0;
                if !ours || self.going.is_some_and(|before| id > before) {
                    return Err(Error::new(Code::Id, "GOAWAY has an ID that it must not have"));
                }
                self.going = Some(id);
                Ok(())
            }
            kind::MAX_PUSH_ID if self.side == Side::Server => {
                let id = integer(payload)?;
                if self.pushes.is_some_and(|before| id < before) {
                    return Err(Error::new(Code::Id, "MAX_PUSH_ID became smaller"));
                }
                self.pushes = Some(id);
                Ok(())
            }
            kind::CANCEL_PUSH => {
                integer(payload)?;
                Err(Error::new(Code::Id, "there is no such push"))
            }
            _ => Err(unexpected()),
        }
    }
}

fn unexpected() -> Error {
    Error::new(Code::FrameUnexpected, "a frame came that is none of a control stream")
}

/// The only integer of a frame.
fn integer(payload: &[u8]) -> Result<u64> {
    let mut reader = Reader::new(payload);
    let value = reader.varint("an ID").ok().filter(|_| reader.is_empty());
    value.ok_or(Error::new(Code::Frame, "a frame is not one integer long"))
}

/// Checks settings; none of them changes what is done here, as nothing is put into a table and fields
/// are few.
fn settings(payload: &[u8]) -> Result<()> {
    let mut reader = Reader::new(payload);
    let mut seen = Vec::new();
    while !reader.is_empty() {
        let broken = |_| Error::new(Code::Frame, "SETTINGS breaks off");
        let id = reader.varint("a setting").map_err(broken)?;
        reader.varint("its value").map_err(broken)?;
        if setting::OF_HTTP2.contains(&id) || seen.contains(&id) {
            return Err(Error::new(
                Code::Settings,
                "a setting of HTTP/2, or one that is there twice",
            ));
        }
        if seen.len() == MOST_SETTINGS {
            return Err(Error::new(Code::ExcessiveLoad, "there are too many settings"));
        }
        seen.push(id);
    }
    Ok(())
}

/// Our settings, as the frame that a control stream begins with.
pub(crate) fn our_settings() -> Vec<u8> {
    let mut payload = Vec::new();
    for (id, value) in [
        (setting::QPACK_MAX_TABLE_CAPACITY, 0),
        (setting::MAX_FIELD_SECTION_SIZE, crate::MAX_FIELD_SECTION_BYTES),
        (setting::QPACK_BLOCKED_STREAMS, 0),
    ] {
        put_varint(&mut payload, id);
        put_varint(&mut payload, value);
    }
    let mut out = Vec::new();
    put_varint(&mut out, kind::SETTINGS);
    put_varint(&mut out, payload.len() as u64);
    out.extend(payload);
    out
}

/// Instructions of the peer's encoder: with a table without room, all it can say is that the room is 0
/// (RFC 9204 §3.2.3, §4.3.1).
fn encoder(input: &[u8]) -> Result<()> {
    const NO_ROOM: u8 = 0b0010_0000;
    if input.iter().all(|byte| *byte == NO_ROOM) {
        return Ok(());
    }
    Err(Error::new(Code::QpackEncoderStream, "the peer fills a table that has no room"))
}

/// Instructions of the peer's decoder: nothing refers to a table, so all it can say is that it left a
/// stream (RFC 9204 §4.4.2).
fn decoder(held: &mut Vec<u8>, input: &[u8]) -> Result<()> {
    const MASK: u8 = 0b0011_1111;
    for byte in input {
        let begins = held.is_empty();
        if begins && byte >> 6 != 0b01 {
            let reason = "the peer acknowledges what was not sent";
            return Err(Error::new(Code::QpackDecoderStream, reason));
        }
        held.push(*byte);
        if held.len() > MAX_INSTRUCTION_BYTES {
            return Err(Error::new(Code::QpackDecoderStream, "an instruction is too long"));
        }
        let over = if begins { byte & MASK != MASK } else { byte & 0x80 == 0 };
        if over {
            held.clear();
        }
    }
    Ok(())
}
