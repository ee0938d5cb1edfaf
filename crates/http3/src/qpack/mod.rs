//! QPACK with the static table alone (RFC 9204).

mod huffman;
mod integer;
mod table;

use crate::MAX_FIELD_SECTION_BYTES;
use crate::error::{Code, Error, Result};
use crate::fields::Fields;
use integer::{put, take};
use std::borrow::Cow;
use table::TABLE;

/// What each field counts beside its bytes (RFC 9114 §4.2.2).
const FIELD_BYTES: u64 = 32;
/// A string that Huffman's code wrote.
const HUFFMAN: u8 = 1;
/// An index into the static table.
const STATIC: u8 = 1;

fn wrong(reason: &'static str) -> Error {
    Error::new(Code::QpackDecompression, reason)
}

/// Reads a field section.
///
/// # Errors
/// What is no field section, what needs a dynamic table, and more than [`MAX_FIELD_SECTION_BYTES`].
pub(crate) fn decode(mut section: &[u8]) -> Result<Fields> {
    let input = &mut section;
    // RFC 9204 §4.5.1: without a dynamic table the required insert count is 0, and so the sign of the
    // base, which must not be negative.
    if take(input, 8)? != (0, 0) {
        return Err(wrong("fields refer to a dynamic table, which has no room"));
    }
    if take(input, 7)?.0 != 0 {
        return Err(wrong("the base of a field section is negative"));
    }
    let mut fields = Fields::default();
    let mut left = MAX_FIELD_SECTION_BYTES;
    while let Some(first) = input.first() {
        let (name, value) = match first.leading_zeros() {
            0 => {
                let (name, value) = entry(take(input, 6)?)?;
                (Cow::Borrowed(name), Cow::Borrowed(value.as_bytes()))
            }
            1 => {
                let (name, _) = entry(take(input, 4)?)?;
                (Cow::Borrowed(name), string(input, 7)?)
            }
            2 => (text(string(input, 3)?)?, string(input, 7)?),
            _ => return Err(wrong("a field refers to a dynamic table, which has no room")),
        };
        let bytes = (name.len() + value.len()) as u64 + FIELD_BYTES;
        left = left
            .checked_sub(bytes)
            .ok_or(Error::new(Code::ExcessiveLoad, "the fields of a message are too long"))?;
        fields.push(name.into_owned(), value.into_owned());
    }
    Ok(fields)
}

/// An entry of the table that the last flag names, which must be the static one.
fn entry((flags, index): (u8, u64)) -> Result<(&'static str, &'static str)> {
    if flags & STATIC == 0 {
        return Err(wrong("a field refers to a dynamic table, which has no room"));
    }
    let index = usize::try_from(index).ok();
    index
        .and_then(|index| TABLE.get(index).copied())
        .ok_or(wrong("a field refers to no entry of the static table"))
}

/// A string whose length has a prefix of `bits` bits after the flag of Huffman's code.
fn string<'a>(input: &mut &'a [u8], bits: u8) -> Result<Cow<'a, [u8]>> {
    let (flags, len) = take(input, bits)?;
    let (bytes, rest) = usize::try_from(len)
        .ok()
        .and_then(|len| input.split_at_checked(len))
        .ok_or(wrong("a string is longer than its field section"))?;
    *input = rest;
    if flags & HUFFMAN == 0 {
        return Ok(Cow::Borrowed(bytes));
    }
    huffman::decode(bytes).map(Cow::Owned).ok_or(wrong("a string is not in Huffman's code"))
}

fn text(bytes: Cow<'_, [u8]>) -> Result<Cow<'_, str>> {
    let wrong = Error::new(Code::Message, "the name of a field is no name");
    match bytes {
        Cow::Borrowed(bytes) => std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|_| wrong),
        Cow::Owned(bytes) => String::from_utf8(bytes).map(Cow::Owned).map_err(|_| wrong),
    }
}

/// Writes a field section. What is secret is marked as never to be put into a table (RFC 9204 §7.1.3).
pub(crate) fn encode(fields: &Fields) -> Vec<u8> {
    let mut out = vec![0, 0];
    for (name, value) in fields.iter() {
        let secret = name == "authorization";
        let same_name = TABLE.iter().position(|entry| entry.0 == name);
        let same = TABLE.iter().position(|entry| entry.0 == name && entry.1.as_bytes() == value);
        match (same, same_name) {
            (Some(index), _) if !secret => {
                put(&mut out, 0b11, 6, index as u64);
                continue;
            }
            (_, Some(index)) => {
                put(&mut out, if secret { 0b0111 } else { 0b0101 }, 4, index as u64)
            }
            (_, None) => {
                put(&mut out, 0b00100, 3, name.len() as u64);
                out.extend(name.as_bytes());
            }
        }
        put(&mut out, 0, 7, value.len() as u64);
        out.extend(value);
    }
    out
}

#[cfg(test)]
mod tests;
