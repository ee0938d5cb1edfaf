//! One request over HTTP/3, and its answer.

use super::{Order, escaped};
use crate::digest::{WANT_WHOLE, WANTED, WHOLE};
use crate::error::SocketError;
use http3::{Code, Error, Fields, Head, Item, Link, Message, Request, Response, Side};
use mpquic::{Endpoint, Event};
use units::Instant;

/// What comes of an answer.
pub(super) enum News<'a> {
    /// The content from this byte on, of this version, and how long the file is.
    Begins {
        from: u64,
        tag: Option<String>,
        total: Option<u64>,
    },
    /// The file has nothing from the first byte that was asked for.
    Nothing,
    Content(&'a [u8]),
}

/// A request, and what came of its answer.
pub(super) struct Exchange {
    link: Link,
    pub stream: Option<u64>,
    message: Message<Response>,
    /// The first byte that was asked for.
    pub from: u64,
    /// What the server says of the whole file.
    pub digest: Option<String>,
    broken: Option<Code>,
}

impl Default for Exchange {
    fn default() -> Self {
        let link = Link::new(Side::Client);
        let (stream, message) = (None, Message::default());
        Self { link, stream, message, from: 0, digest: None, broken: None }
    }
}

impl Exchange {
    /// Tends the connection, and asks once for what is behind the first `from` bytes, of the version `tag`
    /// if one is known.
    pub fn ask(
        &mut self,
        now: Instant,
        (endpoint, events): (&mut Endpoint, &[Event]),
        order: &Order,
        (from, tag): (u64, Option<&str>),
    ) -> Result<(), SocketError> {
        let tended = self.link.work(now, endpoint, events);
        tended.map_err(|error| self.wrong(error))?;
        if self.stream.is_some() {
            return Ok(());
        }
        if self.link.is_going() {
            return Err(SocketError::Lost("the server takes no further requests".into()));
        }
        let Ok(stream) = endpoint.open_stream(true) else { return Ok(()) };
        self.stream = Some(stream);
        self.from = from;
        let request = http3::head(&request(order, (from, tag)).write());
        let unsent = || SocketError::Lost("the request could not be sent".into());
        let written = endpoint.write(stream, &request).map_err(|_| unsent())?;
        let finished = endpoint.finish(stream);
        (written == request.len() && finished.is_ok()).then_some(()).ok_or_else(unsent)
    }

    /// Another request follows on the same connection.
    pub fn renew(&mut self) {
        (self.stream, self.message) = (None, Message::default());
        (self.from, self.digest) = (0, None);
    }

    /// What the next bytes of the answer are, taken from the front of `data`.
    pub fn next<'a>(
        &mut self,
        data: &mut &'a [u8],
        path: &str,
    ) -> Result<Option<News<'a>>, SocketError> {
        loop {
            let item = self.message.next(data).map_err(|error| self.wrong(error))?;
            match item {
                None => return Ok(None),
                Some(Item::Head(response)) => return self.judge(&response, path).map(Some),
                Some(Item::Content(bytes)) => return Ok(Some(News::Content(bytes))),
                Some(Item::Trailers(fields)) => self.heed(&fields),
            }
        }
    }

    /// The answer ended.
    pub fn end(&self) -> Result<(), SocketError> {
        self.message.end().map_err(|error| SocketError::Http(error.to_string()))
    }

    /// What the connection is closed with.
    pub fn code(&self) -> u64 {
        self.broken.unwrap_or(Code::NoError) as u64
    }

    fn judge(&mut self, response: &Response, path: &str) -> Result<News<'static>, SocketError> {
        let path = || path.to_owned();
        let fields = &response.fields;
        self.heed(fields);
        match response.status {
            200 => {
                let total = fields.only("content-length").and_then(|text| text.parse().ok());
                Ok(News::Begins { from: 0, tag: strong(fields), total })
            }
            206 if self.from > 0 => {
                let range = fields.only("content-range").and_then(content_range);
                let wrong = || SocketError::Http("it does not say which range it sent".into());
                let (from, total) = range.ok_or_else(wrong)?;
                Ok(News::Begins { from, tag: strong(fields), total })
            }
            416 if self.from > 0 => Ok(News::Nothing),
            401 => Err(SocketError::Unauthorized(path())),
            403 => Err(SocketError::Forbidden(path())),
            404 | 410 => Err(SocketError::NoFile(path())),
            429 | 503 => Err(SocketError::Busy),
            status => Err(SocketError::Status { path: path(), status }),
        }
    }

    fn heed(&mut self, fields: &Fields) {
        if let Some(digest) = fields.only(WHOLE) {
            self.digest = Some(digest.to_owned());
        }
    }

    fn wrong(&mut self, error: Error) -> SocketError {
        self.broken = Some(error.code);
        SocketError::Http(error.to_string())
    }
}

fn request(order: &Order, (from, tag): (u64, Option<&str>)) -> Request {
    let mut fields = Fields::default().with(WANT_WHOLE, WANTED);
    if from > 0 {
        fields.add("range", format!("bytes={from}-"));
        if let Some(tag) = tag {
            fields.add("if-range", tag);
        }
    }
    if let Some(token) = &order.token {
        fields.add("authorization", format!("Bearer {token}"));
    }
    Request {
        method: "GET".into(),
        scheme: "https".into(),
        authority: Some(order.authority.clone()),
        path: escaped(&order.path),
        fields,
    }
}

/// The tag of a version, if it is one for ranges (RFC 9110 §13.1.5).
fn strong(fields: &Fields) -> Option<String> {
    fields.only("etag").filter(|tag| tag.starts_with('"')).map(str::to_owned)
}

/// First byte and length of `bytes 5-8/9` (RFC 9110 §14.4).
fn content_range(field: &str) -> Option<(u64, Option<u64>)> {
    let (range, total) = field.strip_prefix("bytes ")?.split_once('/')?;
    let first = range.split_once('-')?.0.parse().ok()?;
    Some((first, total.parse().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_answers_are_read() {
        assert_eq!(content_range("bytes 5-8/9"), Some((5, Some(9))));
        assert_eq!(content_range("bytes 5-8/*"), Some((5, None)));
        for none in ["bytes */9", "5-8/9", "bytes 5/9", "bytes -8/9", ""] {
            assert_eq!(content_range(none), None, "{none}");
        }
    }

    #[test]
    fn a_part_is_asked_for_of_the_version_that_is_known() {
        let token = Some("secret".to_owned());
        let order =
            Order { path: "/a b".into(), authority: "h:1".into(), token, ..Order::default() };
        let whole = request(&order, (0, None));
        assert_eq!((&whole.path[..], whole.fields.only("range")), ("/a%20b", None));
        let part = request(&order, (7, Some("\"x\""))).fields;
        assert_eq!(part.only("range"), Some("bytes=7-"));
        assert_eq!(part.only("if-range"), Some("\"x\""));
        assert_eq!(part.only("authorization"), Some("Bearer secret"));
    }
}
