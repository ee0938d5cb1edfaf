//! A request or a response on its stream (RFC 9114 §4.1).

use crate::error::{Code, Error, Result};
use crate::fields::{Fields, malformed};
use crate::frame::{Frames, Piece, kind};
use crate::head::Head;
use crate::qpack;
use mpquic::wire::put_varint;
use std::marker::PhantomData;

/// What came of a message.
#[derive(Debug, PartialEq, Eq)]
pub enum Item<'a, H> {
    /// Its beginning.
    Head(H),
    /// Bytes of its content.
    Content(&'a [u8]),
    /// The fields behind its content.
    Trailers(Fields),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Before,
    Content,
    After,
}

/// Reads a message of the peer, of which `H` is the beginning.
#[derive(Debug)]
pub struct Message<H> {
    frames: Frames,
    stage: Stage,
    /// Content that is promised and has not begun to come; `None`: nothing is promised.
    promised: Option<u64>,
    /// An answer to HEAD promises what it does not have.
    without_content: bool,
    head: PhantomData<H>,
}

impl<H: Head> Default for Message<H> {
    fn default() -> Self {
        Self {
            frames: Frames::default(),
            stage: Stage::Before,
            promised: None,
            without_content: false,
            head: PhantomData,
        }
    }
}

impl<H: Head> Message<H> {
    /// An answer to HEAD: its length is that of another answer.
    pub fn without_content() -> Self {
        Self { without_content: true, ..Self::default() }
    }

    /// Whether its beginning is still to come.
    pub fn is_before(&self) -> bool {
        self.stage == Stage::Before
    }

    /// The next item of `input`, which is taken from its front; `None`: more has to come.
    ///
    /// # Errors
    /// What RFC 9114 does not allow.
    pub fn next<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<Item<'a, H>>> {
        while let Some(piece) = self.frames.next(input)? {
            match (piece, self.stage) {
                (Piece::Frame(kind::HEADERS, section), Stage::Before) => {
                    let head = H::read(qpack::decode(&section)?)?;
                    if head.is_interim() {
                        continue;
                    }
                    let promised = head.content_length()?;
                    self.without_content |= head.has_no_content();
                    self.promised = promised.filter(|_| !self.without_content);
                    self.stage = Stage::Content;
                    return Ok(Some(Item::Head(head)));
                }
                (Piece::Frame(kind::HEADERS, section), Stage::Content) => {
                    let (pseudo, fields) = qpack::decode(&section)?.split()?;
                    if !pseudo.is_empty() {
                        return Err(malformed("trailers have a pseudo-header field"));
                    }
                    self.stage = Stage::After;
                    return Ok(Some(Item::Trailers(fields)));
                }
                (Piece::DataHead(bytes), Stage::Content) => self.promise(bytes)?,
                (Piece::Data(bytes), Stage::Content) => return Ok(Some(Item::Content(bytes))),
                // RFC 9114 §4.6: no push was allowed, so there is no such ID.
                (Piece::Frame(kind::PUSH_PROMISE, _), _) if H::FROM_SERVER => {
                    return Err(Error::new(Code::Id, "a push was not allowed"));
                }
                _ => {
                    let reason = "a frame came where none of its kind may";
                    return Err(Error::new(Code::FrameUnexpected, reason));
                }
            }
        }
        Ok(None)
    }

    /// Counts a DATA frame against what is promised (RFC 9114 §4.1.2).
    fn promise(&mut self, bytes: u64) -> Result<()> {
        if let Some(promised) = &mut self.promised {
            let left = promised.checked_sub(bytes);
            *promised = left.ok_or(malformed("there is more content than promised"))?;
        }
        if self.without_content && bytes > 0 {
            return Err(malformed("there is content where none may be"));
        }
        Ok(())
    }

    /// The stream ended: whether the message is complete.
    ///
    /// # Errors
    /// A message that is not.
    pub fn end(&self) -> Result<()> {
        self.frames.end()?;
        if self.stage == Stage::Before {
            return Err(Error::new(Code::RequestIncomplete, "a message ended before it began"));
        }
        if self.promised.is_some_and(|left| left > 0) {
            return Err(malformed("there is less content than promised"));
        }
        Ok(())
    }
}

/// A frame with fields.
pub fn head(fields: &Fields) -> Vec<u8> {
    let section = qpack::encode(fields);
    let mut out = Vec::with_capacity(section.len() + 8);
    put_varint(&mut out, kind::HEADERS);
    put_varint(&mut out, section.len() as u64);
    out.extend(section);
    out
}

/// What a DATA frame with this much content begins with.
pub fn data_head(bytes: u64) -> Vec<u8> {
    let mut out = Vec::with_capacity(9);
    put_varint(&mut out, kind::DATA);
    put_varint(&mut out, bytes);
    out
}
