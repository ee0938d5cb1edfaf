use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// The longest answer, and the longest line of an event, that are read.
const MOST_BYTES: u64 = 16 * 1024 * 1024;
const MOST_LINE_BYTES: u64 = 1024 * 1024;

/// The forecasts that a publisher has, as JSON: a table `forecasts` of path to forecast.
///
/// `None` without a publisher, without a whole answer within `patience` between its parts, and
/// for an answer that is none. Its JSON is not read here: see `crates/forecast` for the types.
pub fn forecasts(socket: impl AsRef<Path>, patience: Duration) -> Option<String> {
    let stream = ask(socket.as_ref(), "/forecast", Some(patience)).ok()?;
    let mut said = String::new();
    stream.take(MOST_BYTES).read_to_string(&mut said).ok()?;
    let (head, body) = said.split_once("\r\n\r\n")?;
    let told = head.lines().find_map(|line| line.strip_prefix("Content-Length: "))?;
    (succeeded(head) && told.parse() == Ok(body.len())).then(|| body.to_owned())
}

/// What a publisher says while it happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// `samples`, `firings`, `forecasts`; `lost` where this reader was too slow.
    pub level: String,
    /// One JSON object.
    pub data: String,
}

/// Events of a publisher, an iterator that ends when the publisher does. `next` blocks.
#[derive(Debug)]
pub struct Events(BufReader<UnixStream>);

impl Events {
    /// Begins to listen to `levels`, a list with commas.
    ///
    /// # Errors
    /// Those of the socket, and [`io::ErrorKind::InvalidData`] for what is no publisher.
    pub fn listen(socket: impl AsRef<Path>, levels: &str, patience: Duration) -> io::Result<Self> {
        let stream = ask(socket.as_ref(), &format!("/events?levels={levels}"), Some(patience))?;
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if head.len() as u64 > MOST_LINE_BYTES || line(&mut reader, &mut head)? == 0 {
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
        if !succeeded(&head) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        reader.get_ref().set_read_timeout(None)?;
        Ok(Self(reader))
    }
}

impl Iterator for Events {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        let (mut level, mut data) = (None, None);
        loop {
            let mut said = String::new();
            if line(&mut self.0, &mut said).ok()? == 0 || !said.ends_with('\n') {
                return None;
            }
            let said = said.trim_end();
            if let Some(name) = said.strip_prefix("event: ") {
                level = Some(name.to_owned());
            } else if let Some(rest) = said.strip_prefix("data: ") {
                data = Some(rest.to_owned());
            } else if said.is_empty()
                && let (Some(level), Some(data)) = (level.take(), data.take())
            {
                return Some(Event { level, data });
            }
        }
    }
}

fn ask(socket: &Path, what: &str, patience: Option<Duration>) -> io::Result<UnixStream> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(patience)?;
    stream.set_write_timeout(patience)?;
    stream.write_all(format!("GET {what} HTTP/1.1\r\nHost: skyweave\r\n\r\n").as_bytes())?;
    Ok(stream)
}

fn line(reader: &mut BufReader<UnixStream>, into: &mut String) -> io::Result<usize> {
    reader.take(MOST_LINE_BYTES).read_line(into)
}

fn succeeded(head: &str) -> bool {
    head.lines().next().is_some_and(|line| line.split(' ').nth(1) == Some("200"))
}
