//! A client that fetches one file over HTTP/0.9.

use crate::error::SocketError;
use crate::files::{BUSY, NO_SUCH_FILE};
use crate::part::Part;
use crate::session::{Notice, PathReport, Session, Status};
use mpquic::{Endpoint, Event, Read};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use std::path::Path;
use units::{Duration, Instant};

/// The user wants no more.
const GIVEN_UP: u64 = 1;
const CHUNK_BYTES: usize = 1 << 18;
/// How often the caller hears of progress, and is asked whether to go on.
const LOOK: Duration = Duration::from_millis(100);
/// What cannot stand in a request as it is (RFC 3986 §2).
const ESCAPED: &AsciiSet = &CONTROLS.add(b' ').add(b'%').add(b'?').add(b'#');

/// What a watcher gets.
#[derive(Clone, Debug)]
pub struct Progress<'a> {
    /// Bytes of the file that are written.
    pub bytes: u64,
    /// The paths; none before the connection is there.
    pub paths: &'a [PathReport],
    /// What happened since the last time.
    pub notices: Vec<Notice>,
}

/// Fetches `path` into a file that gets its name when it is complete.
pub struct Get<F> {
    path: String,
    part: Part,
    stream: Option<u64>,
    outcome: Option<Result<(), SocketError>>,
    look_at: Instant,
    notices: Vec<Notice>,
    told: bool,
    watch: F,
}

impl<F: FnMut(&Progress<'_>) -> bool + Send> Get<F> {
    /// `watch` is called ten times a second; false stops.
    ///
    /// # Errors
    /// A file that cannot be written, or that another fetch is writing.
    pub fn new(path: &str, out: &Path, watch: F) -> Result<Self, SocketError> {
        Ok(Self {
            path: path.to_owned(),
            part: Part::open(out)?,
            stream: None,
            outcome: None,
            look_at: Instant::ZERO,
            notices: Vec::new(),
            told: false,
            watch,
        })
    }

    /// Bytes of the file that came.
    pub fn bytes(&self) -> u64 {
        self.part.came()
    }

    /// Where what came so far is kept when not everything did, and how many bytes that are.
    pub fn part(&self) -> (&Path, u64) {
        (self.part.path(), self.part.held())
    }

    /// What became of it; `None`: the connection ended before its time.
    pub fn outcome(&mut self) -> Option<Result<(), SocketError>> {
        self.outcome.take()
    }

    fn ask(&mut self, endpoint: &mut Endpoint) {
        if self.stream.is_some() || !endpoint.is_connected() {
            return;
        }
        self.stream = endpoint.open_stream(true).ok();
        if let Some(stream) = self.stream {
            let path = utf8_percent_encode(&self.path, ESCAPED);
            let request = format!("GET {path}\r\n");
            let written = endpoint.write(stream, request.as_bytes());
            if written.is_err() || endpoint.finish(stream).is_err() {
                self.outcome = Some(Err(SocketError::Lost("the request could not be sent".into())));
            }
        }
    }

    fn read(&mut self, now: Instant, endpoint: &mut Endpoint) {
        let Some(stream) = self.stream else { return };
        while self.outcome.is_none() {
            match endpoint.read(now, stream, CHUNK_BYTES) {
                Ok(Read::Data(data)) => self.keep(&data),
                Ok(Read::Finished) => self.outcome = Some(self.part.finish()),
                Ok(Read::Reset(code)) => self.outcome = Some(Err(self.refused(code))),
                Ok(Read::Blocked) | Err(_) => return,
            }
        }
    }

    fn keep(&mut self, data: &[u8]) {
        if let Err(error) = self.part.write(data) {
            self.outcome = Some(Err(error));
        }
    }

    fn refused(&self, code: u64) -> SocketError {
        let path = self.path.clone();
        match code {
            NO_SUCH_FILE => SocketError::NoFile(path),
            BUSY => SocketError::Busy,
            _ => SocketError::GivenUp { path, code, bytes: self.bytes() },
        }
    }
}

impl<F: FnMut(&Progress<'_>) -> bool + Send> Session for Get<F> {
    fn work(&mut self, now: Instant, endpoint: &mut Endpoint, _events: &[Event]) -> Status {
        self.ask(endpoint);
        self.read(now, endpoint);
        if self.outcome.is_some() { Status::Done(0) } else { Status::Working }
    }

    fn due(&self) -> Instant {
        // The end is reported at once.
        if self.outcome.is_some() && !self.told { Instant::ZERO } else { self.look_at }
    }

    fn look(&mut self, now: Instant, paths: &[PathReport]) -> Status {
        self.look_at = now + LOOK;
        self.told = self.outcome.is_some();
        let notices = std::mem::take(&mut self.notices);
        if (self.watch)(&Progress { bytes: self.part.came(), paths, notices }) {
            return Status::Working;
        }
        self.outcome.get_or_insert(Err(SocketError::Stopped));
        Status::Done(GIVEN_UP)
    }

    fn notice(&mut self, notice: Notice) {
        self.notices.push(notice);
    }
}
