//! What a message begins with: a request's control data and a response's (RFC 9114 §4.3).

use crate::error::Result;
use crate::fields::{Fields, malformed};

/// A request without its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// As "GET".
    pub method: String,
    /// As "https".
    pub scheme: String,
    /// Host and port, if they were said by `:authority`.
    pub authority: Option<String>,
    /// Path and query.
    pub path: String,
    /// All other fields.
    pub fields: Fields,
}

/// A response without its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// As 200.
    pub status: u16,
    /// All other fields.
    pub fields: Fields,
}

/// Either of them.
pub trait Head: Sized {
    /// Servers send it.
    const FROM_SERVER: bool;

    /// From the fields of a section.
    ///
    /// # Errors
    /// A form that RFC 9114 §4.3 does not allow.
    fn read(fields: Fields) -> Result<Self>;

    /// As the fields of a section.
    fn write(&self) -> Fields;

    /// Something that comes before the message proper (RFC 9110 §15.2).
    fn is_interim(&self) -> bool {
        false
    }

    /// It never has content, whatever length it promises (RFC 9110 §6.4.1).
    fn has_no_content(&self) -> bool {
        false
    }

    /// The length that is promised.
    ///
    /// # Errors
    /// What is none.
    fn content_length(&self) -> Result<Option<u64>>;
}

impl Head for Request {
    const FROM_SERVER: bool = false;

    fn read(fields: Fields) -> Result<Self> {
        let (mut pseudo, fields) = fields.split()?;
        let mut take = |name| pseudo.take(name);
        let (method, scheme, path) = (take(":method")?, take(":scheme")?, take(":path")?);
        let authority = take(":authority")?;
        if !pseudo.is_empty() {
            return Err(malformed("a request has an unknown pseudo-header field"));
        }
        let method = method.ok_or(malformed("a request has no method"))?;
        if method == "CONNECT" {
            return Err(malformed("CONNECT is not there"));
        }
        let scheme = scheme.ok_or(malformed("a request has no scheme"))?;
        let path = path.ok_or(malformed("a request has no path"))?;
        let of_server = method == "OPTIONS" && path == "*";
        if !path.starts_with('/') && !of_server {
            return Err(malformed("the path of a request does not begin with a slash"));
        }
        let host = fields.all("host").next();
        let named = authority.as_ref().map(|name| name.as_bytes()).or(host);
        let same = fields.all("host").all(|host| Some(host) == named);
        let there = named.is_some_and(|name| !name.is_empty() && !name.contains(&b'@'));
        if !same || !there {
            return Err(malformed("a request names no host, or two"));
        }
        Ok(Self { method, scheme, authority, path, fields })
    }

    fn write(&self) -> Fields {
        let mut all = Fields::default();
        all.add(":method", &self.method[..]);
        all.add(":scheme", &self.scheme[..]);
        if let Some(authority) = &self.authority {
            all.add(":authority", &authority[..]);
        }
        all.add(":path", &self.path[..]);
        all.extend(&self.fields);
        all
    }

    fn content_length(&self) -> Result<Option<u64>> {
        self.fields.content_length()
    }
}

impl Head for Response {
    const FROM_SERVER: bool = true;

    fn read(fields: Fields) -> Result<Self> {
        let (mut pseudo, fields) = fields.split()?;
        let status = pseudo.take(":status")?.ok_or(malformed("a response has no status"))?;
        if !pseudo.is_empty() {
            return Err(malformed("a response has an unknown pseudo-header field"));
        }
        let digits = status.len() == 3 && status.bytes().all(|byte| byte.is_ascii_digit());
        let number = status.parse().ok().filter(|status| digits && *status >= 100);
        // RFC 9114 §4.5: 101 is none of HTTP/3.
        let status = number.filter(|status| *status != 101);
        let status = status.ok_or(malformed("the status of a response is none"))?;
        Ok(Self { status, fields })
    }

    fn write(&self) -> Fields {
        let mut all = Fields::default();
        all.add(":status", self.status.to_string());
        all.extend(&self.fields);
        all
    }

    fn is_interim(&self) -> bool {
        self.status < 200
    }

    fn has_no_content(&self) -> bool {
        matches!(self.status, 204 | 304)
    }

    fn content_length(&self) -> Result<Option<u64>> {
        self.fields.content_length()
    }
}
