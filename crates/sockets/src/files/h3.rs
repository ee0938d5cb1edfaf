//! Requests over HTTP/3, and what their answers begin with.

use super::ask::Ask;
use crate::tls::sha256;
use http3::{Code, Error, Fields, Head, Item, Message, Request, Response};
use mpquic::{Endpoint, Read};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::time::SystemTime;
use subtle::ConstantTimeEq;
use units::Instant;

const PIECE_BYTES: usize = 8 << 10;

/// A request that is coming.
#[derive(Default)]
pub(super) struct Asking {
    message: Message<Request>,
    head: Option<Request>,
    /// Everything of its stream was read.
    pub ended: bool,
}

impl Asking {
    /// The request as soon as its beginning is there. Its content, if it has any, is dropped.
    pub fn read(
        &mut self,
        now: Instant,
        endpoint: &mut Endpoint,
        id: u64,
    ) -> Result<Option<Request>, Error> {
        while !self.ended {
            match endpoint.read(now, id, PIECE_BYTES) {
                Ok(Read::Data(data)) => {
                    let mut input = &data[..];
                    while let Some(item) = self.message.next(&mut input)? {
                        if let Item::Head(request) = item {
                            self.head = Some(request);
                        }
                    }
                }
                Ok(Read::Blocked) => break,
                Ok(Read::Finished) => {
                    self.message.end()?;
                    self.ended = true;
                }
                Ok(Read::Reset(_)) | Err(_) => {
                    let reason = "the client gave it up";
                    return Err(Error { code: Code::RequestIncomplete, reason });
                }
            }
        }
        Ok(self.head.take())
    }
}

/// Who may ask.
#[derive(Clone, Debug)]
pub(super) struct Guard([u8; 32]);

impl Guard {
    pub fn new(token: &str) -> Self {
        Self(sha256(token.as_bytes()))
    }

    /// Whether a request bears the token (RFC 6750 §2.1); how long that takes says nothing of it.
    pub fn admits(&self, fields: &Fields) -> bool {
        let said = fields.only("authorization").and_then(|value| value.split_once(' '));
        let bearer = said.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        let token = bearer.map_or("", |(_, token)| token.trim_start());
        sha256(token.as_bytes()).ct_eq(&self.0).into()
    }
}

/// The version of a file: another one has another tag (RFC 9110 §8.8.3).
pub(super) fn tag(file: &File) -> io::Result<String> {
    let about = file.metadata()?;
    let changed = i128::from(about.ctime()) * 1_000_000_000 + i128::from(about.ctime_nsec());
    Ok(format!("\"{changed:x}-{:x}-{:x}\"", about.size(), about.ino()))
}

/// An answer without content.
pub(super) fn refusal(status: u16) -> Vec<u8> {
    let mut fields = begin();
    match status {
        401 => fields.add("www-authenticate", "Bearer"),
        405 => fields.add("allow", "GET, HEAD"),
        503 => fields.add("retry-after", "1"),
        _ => {}
    }
    fields.add("content-length", "0");
    said(status, fields)
}

/// None of what was asked for is in a file of `bytes` (RFC 9110 §15.5.17).
pub(super) fn no_such_range(bytes: u64) -> Vec<u8> {
    let range = format!("bytes */{bytes}");
    said(416, begin().with("content-range", range).with("content-length", "0"))
}

/// The client has that version.
pub(super) fn known(tag: &str) -> Vec<u8> {
    said(304, begin().with("etag", tag))
}

/// What the content is preceded by: the part of a file of `bytes`, or all of it.
pub(super) fn found(ask: &Ask, part: Option<&Range<u64>>, (bytes, tag): (u64, &str)) -> Vec<u8> {
    let mut fields = begin().with("accept-ranges", "bytes").with("etag", tag);
    let length = part.map_or(bytes, |part| part.end - part.start);
    fields.add("content-length", length.to_string());
    if let Some(part) = part {
        fields.add("content-range", format!("bytes {}-{}/{bytes}", part.start, part.end - 1));
    }
    let mut words = said(if part.is_some() { 206 } else { 200 }, fields);
    if !ask.head_alone && length > 0 {
        words.extend(http3::data_head(length));
    }
    words
}

fn begin() -> Fields {
    Fields::default().with("date", httpdate::fmt_http_date(SystemTime::now()))
}

fn said(status: u16, fields: Fields) -> Vec<u8> {
    http3::head(&Response { status, fields }.write())
}
