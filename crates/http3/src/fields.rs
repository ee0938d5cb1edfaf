use crate::error::{Code, Error, Result};
use std::borrow::Cow;

/// Fields that belong to a connection, and so to no message (RFC 9114 §4.2).
const OF_CONNECTIONS: [&str; 5] =
    ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"];

/// The fields of a message in their order: names in lower case, values as bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields(Vec<(Cow<'static, str>, Vec<u8>)>);

impl Fields {
    /// Appends a field.
    pub fn add(&mut self, name: &'static str, value: impl Into<String>) {
        self.0.push((name.into(), value.into().into_bytes()));
    }

    /// The same, to write fields one after the other.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.add(name, value);
        self
    }

    /// The value of the only field of this name; `None` if there is none, more than one, or one that is
    /// no text.
    pub fn only(&self, name: &str) -> Option<&str> {
        let mut all = self.0.iter().filter(|field| field.0 == name);
        let value = std::str::from_utf8(&all.next()?.1).ok()?;
        all.next().is_none().then_some(value)
    }

    /// The values of all fields of this name.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.0.iter().filter(move |field| field.0 == name).map(|field| &field.1[..])
    }

    pub(crate) fn push(&mut self, name: String, value: Vec<u8>) {
        self.0.push((name.into(), value));
    }

    pub(crate) fn extend(&mut self, others: &Fields) {
        self.0.extend(others.0.iter().cloned());
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(name, value)| (&name[..], &value[..]))
    }

    /// The pseudo-header fields, and all others; the first ones must come first, and every field must be
    /// well-formed (RFC 9114 §4.2, §4.3, §10.3).
    pub(crate) fn split(self) -> Result<(Fields, Fields)> {
        let (mut pseudo, mut plain) = (Fields::default(), Fields::default());
        for (name, value) in self.0 {
            if !is_value(&value) {
                return Err(malformed("the value of a field has characters that it must not have"));
            }
            if name.starts_with(':') {
                if !plain.0.is_empty() {
                    return Err(malformed("a pseudo-header field follows a field"));
                }
                pseudo.0.push((name, value));
                continue;
            }
            if !is_name(&name) {
                return Err(malformed("the name of a field is no name"));
            }
            let te = name == "te" && value != b"trailers";
            if te || OF_CONNECTIONS.contains(&&name[..]) {
                return Err(malformed("a field of connections is in a message"));
            }
            plain.0.push((name, value));
        }
        Ok((pseudo, plain))
    }

    /// Takes a pseudo-header field, which may be there once.
    pub(crate) fn take(&mut self, name: &str) -> Result<Option<String>> {
        let Some(place) = self.0.iter().position(|field| field.0 == name) else { return Ok(None) };
        let value = String::from_utf8(self.0.remove(place).1);
        let twice = self.0.iter().any(|field| field.0 == name);
        match value {
            Ok(value) if !twice => Ok(Some(value)),
            _ => Err(malformed("a pseudo-header field is there twice, or is no text")),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The length that the fields promise (RFC 9110 §8.6).
    pub(crate) fn content_length(&self) -> Result<Option<u64>> {
        let mut found = None;
        for value in self.all("content-length") {
            let digits = value.iter().all(u8::is_ascii_digit).then_some(value);
            let text = digits.and_then(|digits| std::str::from_utf8(digits).ok());
            let length = text.and_then(|text| text.parse().ok());
            let length = length.ok_or(malformed("content-length is no length"))?;
            if found.is_some_and(|other| other != length) {
                return Err(malformed("content-length is there twice"));
            }
            found = Some(length);
        }
        Ok(found)
    }
}

pub(crate) fn malformed(reason: &'static str) -> Error {
    Error::new(Code::Message, reason)
}

/// A token in lower case (RFC 9110 §5.6.2, RFC 9114 §4.2).
fn is_name(name: &str) -> bool {
    let fits = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"!#$%&'*+-.^_`|~".contains(&byte)
    };
    !name.is_empty() && name.bytes().all(fits)
}

/// No control characters but tabulators, and no blanks around it (RFC 9110 §5.5).
fn is_value(value: &[u8]) -> bool {
    let blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    let fits = |byte: &u8| *byte == b'\t' || (*byte >= b' ' && *byte != 0x7f);
    value.iter().all(fits) && !blank(value.first()) && !blank(value.last())
}
