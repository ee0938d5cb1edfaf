//! A client that fetches one file, over one connection or several ones after each other.

mod h3;
mod rate;

use crate::digest::{Sum, agrees};
use crate::error::SocketError;
use crate::files::{BUSY, NO_SUCH_FILE};
use crate::part::Part;
use crate::session::{Notice, PathReport, Session, Status};
use h3::Exchange;
use mpquic::{Endpoint, Event, Read};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use rate::Rate;
use std::path::{Path, PathBuf};
use units::{Duration, Instant};

/// The user wants no more.
const GIVEN_UP: u64 = 1;
const CHUNK_BYTES: usize = 1 << 18;
/// How often the caller hears of progress, and is asked whether to go on.
const LOOK: Duration = Duration::from_millis(100);
/// What cannot stand in a request as it is (RFC 3986 §2).
const ESCAPED: &AsciiSet = &CONTROLS.add(b' ').add(b'%').add(b'?').add(b'#');
/// Of what was kept so much is fetched again: another file is noticed at once.
const OVERLAP_BYTES: u64 = 64 << 10;
/// How often the caller hears of what is read from the disk.
const READ_LOOK_BYTES: u64 = 64 << 20;

/// What a watcher gets.
#[derive(Clone, Debug)]
pub struct Progress<'a> {
    /// Bytes of the file that are written.
    pub bytes: u64,
    /// Bytes that the file has, once the server has said so.
    pub total: Option<u64>,
    /// The paths; none before the connection is there.
    pub paths: &'a [PathReport],
    /// What happened since the last time.
    pub notices: Vec<Notice>,
}

/// What is fetched.
#[derive(Clone, Debug, Default)]
pub struct Order {
    /// The file, with its leading slash.
    pub path: String,
    /// Host and port, as the server is called.
    pub authority: String,
    /// Where it goes.
    pub out: PathBuf,
    /// Over HTTP/0.9 instead of HTTP/3: without a length, ranges, digests and tokens.
    pub hq: bool,
    /// What an earlier fetch kept is not fetched again.
    pub resume: bool,
    /// What the server wants to see (RFC 6750).
    pub token: Option<String>,
    /// Bytes of the file in a second, at most.
    pub most_bytes_per_second: Option<u64>,
}

/// The request on the present connection.
enum Asked {
    Nothing,
    Hq(u64),
    H3(Box<Exchange>),
}

/// Fetches `path` into a file that gets its name when it is complete.
pub struct Get<F> {
    order: Order,
    part: Part,
    /// Of all that came, from the file's beginning.
    sum: Sum,
    verified: bool,
    /// The version that came so far.
    tag: Option<String>,
    total: Option<u64>,
    asked: Asked,
    rate: Option<Rate>,
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
    /// A file that cannot be written or read, or that another fetch is writing; the watcher's wish to stop.
    pub fn new(order: Order, watch: F) -> Result<Self, SocketError> {
        let rate = order.most_bytes_per_second.map(Rate::new);
        let mut get = Self {
            part: Part::open(&order.out)?,
            order,
            sum: Sum::default(),
            verified: false,
            tag: None,
            total: None,
            asked: Asked::Nothing,
            rate,
            outcome: None,
            look_at: Instant::ZERO,
            notices: Vec::new(),
            told: false,
            watch,
        };
        if get.order.resume && !get.order.hq {
            get.resume()?;
        }
        Ok(get)
    }

    /// Sums up what was kept.
    fn resume(&mut self) -> Result<(), SocketError> {
        let (sum, watch) = (&mut self.sum, &mut self.watch);
        let went_on = self.part.resume(OVERLAP_BYTES, |piece, bytes| {
            sum.take(piece);
            let (total, notices) = (None, Vec::new());
            !bytes.is_multiple_of(READ_LOOK_BYTES)
                || watch(&Progress { bytes, total, paths: &[], notices })
        })?;
        went_on.then_some(()).ok_or(SocketError::Stopped)
    }

    /// Bytes of the file that came.
    pub fn bytes(&self) -> u64 {
        self.part.came()
    }

    /// What came is what the server has, by its digest.
    pub fn is_verified(&self) -> bool {
        self.verified
    }

    /// Where what came so far is kept when not everything did, and how many bytes that are.
    pub fn part(&self) -> (&Path, u64) {
        (self.part.path(), self.part.held())
    }

    /// What became of it; `None`: the connection ended before its time.
    pub fn outcome(&mut self) -> Option<Result<(), SocketError>> {
        self.outcome.take()
    }

    /// The connection ended, and another one follows: it goes on where this one was, as far as the
    /// protocol can.
    pub fn again(&mut self, why: &str) {
        self.asked = Asked::Nothing;
        self.notices.push(Notice::Again(why.to_owned()));
        if self.order.hq {
            self.forget();
        }
    }

    /// Asks the watcher whether to go on, between two connections.
    pub fn goes_on(&mut self) -> bool {
        let (bytes, total) = (self.part.came(), self.total);
        let notices = std::mem::take(&mut self.notices);
        (self.watch)(&Progress { bytes, total, paths: &[], notices })
    }

    /// Everything is to be asked for again.
    fn start_over(&mut self) {
        self.forget();
        if let Asked::H3(exchange) = &mut self.asked {
            exchange.renew();
        }
    }

    /// Everything comes again.
    fn forget(&mut self) {
        self.part.restart();
        (self.sum, self.tag, self.total) = (Sum::default(), None, None);
    }

    fn ask(&mut self, now: Instant, endpoint: &mut Endpoint, events: &[Event]) {
        if !endpoint.is_connected() {
            return;
        }
        if self.order.hq {
            return self.ask_line(endpoint);
        }
        if let Asked::Nothing = self.asked {
            self.asked = Asked::H3(Box::default());
        }
        if let Asked::H3(exchange) = &mut self.asked {
            let tag = self.tag.as_deref();
            let result =
                exchange.ask(now, (endpoint, events), &self.order, (self.part.came(), tag));
            if let Err(error) = result {
                self.outcome = Some(Err(error));
            }
        }
    }

    fn ask_line(&mut self, endpoint: &mut Endpoint) {
        let Asked::Nothing = self.asked else { return };
        let Ok(stream) = endpoint.open_stream(true) else { return };
        self.asked = Asked::Hq(stream);
        let request = format!("GET {}\r\n", escaped(&self.order.path));
        let written = endpoint.write(stream, request.as_bytes());
        if written.is_err() || endpoint.finish(stream).is_err() {
            self.outcome = Some(Err(SocketError::Lost("the request could not be sent".into())));
        }
    }

    fn read(&mut self, now: Instant, endpoint: &mut Endpoint) {
        while self.outcome.is_none()
            && let Some(stream) = self.stream()
        {
            let most = self.rate.as_mut().map_or(CHUNK_BYTES, |rate| rate.admits(now, CHUNK_BYTES));
            if most == 0 {
                return;
            }
            let step = match endpoint.read(now, stream, most) {
                Ok(Read::Data(data)) => {
                    if let Some(rate) = &mut self.rate {
                        rate.take(data.len());
                    }
                    self.take(&data)
                }
                Ok(Read::Finished) => self.end(),
                Ok(Read::Reset(code)) => Err(self.refused(code)),
                Ok(Read::Blocked) | Err(_) => return,
            };
            if let Err(error) = step {
                self.outcome = Some(Err(error));
            }
            if self.stream() != Some(stream) {
                endpoint.stop(stream, GIVEN_UP).ok(); // it may be over
                self.ask(now, endpoint, &[]);
            }
        }
    }

    /// Where the answer comes.
    fn stream(&self) -> Option<u64> {
        match &self.asked {
            Asked::Nothing => None,
            Asked::Hq(stream) => Some(*stream),
            Asked::H3(exchange) => exchange.stream,
        }
    }

    /// Bytes of the answer.
    fn take(&mut self, mut data: &[u8]) -> Result<(), SocketError> {
        if let Asked::Hq(_) = self.asked {
            return self.part.write(data);
        }
        loop {
            let Asked::H3(exchange) = &mut self.asked else { return Ok(()) };
            match exchange.next(&mut data, &self.order.path)? {
                None => return Ok(()),
                Some(h3::News::Begins { from, tag, total }) => self.begin(from, (tag, total))?,
                Some(h3::News::Nothing) => self.start_over(),
                Some(h3::News::Content(bytes)) => {
                    let compares = self.part.came() < self.part.held();
                    let resumed = exchange.from > 0;
                    self.part.write(bytes)?;
                    self.sum.take(bytes);
                    if resumed && compares && self.part.differed() {
                        self.start_over();
                    }
                }
            }
        }
    }

    /// The answer begins, at this byte.
    fn begin(
        &mut self,
        from: u64,
        (tag, total): (Option<String>, Option<u64>),
    ) -> Result<(), SocketError> {
        if from == 0 && self.part.came() > 0 {
            self.forget(); // another version, or a server without ranges
        } else if from != self.part.came() {
            return Err(SocketError::Http("it sent another range than was asked for".into()));
        }
        (self.tag, self.total) = (tag, total);
        Ok(())
    }

    /// The answer ended.
    fn end(&mut self) -> Result<(), SocketError> {
        if let Asked::H3(exchange) = &self.asked {
            exchange.end()?;
            match exchange.digest.as_deref().and_then(|digest| agrees(digest, &self.sum)) {
                Some(false) if exchange.from > 0 => {
                    self.start_over(); // what was kept is of another file
                    return Ok(());
                }
                Some(false) => {
                    self.part.discard();
                    return Err(SocketError::Digest(self.order.path.clone()));
                }
                agrees => self.verified = agrees.is_some(),
            }
        }
        self.part.finish()?;
        self.outcome = Some(Ok(()));
        Ok(())
    }

    fn refused(&self, code: u64) -> SocketError {
        let path = self.order.path.clone();
        match code {
            NO_SUCH_FILE if self.order.hq => SocketError::NoFile(path),
            BUSY if self.order.hq => SocketError::Busy,
            _ => SocketError::GivenUp { path, code, bytes: self.bytes() },
        }
    }

    /// The code that the connection is closed with.
    fn code(&self) -> u64 {
        match (&self.outcome, &self.asked) {
            (Some(Err(SocketError::Stopped)), Asked::Hq(_)) => GIVEN_UP,
            (_, Asked::H3(exchange)) => exchange.code(),
            _ => 0,
        }
    }
}

/// A path as a request has it.
fn escaped(path: &str) -> String {
    utf8_percent_encode(path, ESCAPED).to_string()
}

impl<F: FnMut(&Progress<'_>) -> bool + Send> Session for Get<F> {
    fn work(&mut self, now: Instant, endpoint: &mut Endpoint, events: &[Event]) -> Status {
        self.ask(now, endpoint, events);
        self.read(now, endpoint);
        if self.outcome.is_some() { Status::Done(self.code()) } else { Status::Working }
    }

    fn due(&self) -> Instant {
        // The end is reported at once.
        if self.outcome.is_some() && !self.told {
            return Instant::ZERO;
        }
        self.rate
            .as_ref()
            .and_then(|rate| rate.waits_until)
            .map_or(self.look_at, |at| at.min(self.look_at))
    }

    fn look(&mut self, now: Instant, paths: &[PathReport]) -> Status {
        if now < self.look_at && self.outcome.is_none() {
            return Status::Working; // it was woken to read
        }
        self.look_at = now + LOOK;
        self.told = self.outcome.is_some();
        let notices = std::mem::take(&mut self.notices);
        let (bytes, total) = (self.part.came(), self.total);
        if (self.watch)(&Progress { bytes, total, paths, notices }) {
            return Status::Working;
        }
        self.outcome.get_or_insert(Err(SocketError::Stopped));
        Status::Done(self.code())
    }

    fn notice(&mut self, notice: Notice) {
        self.notices.push(notice);
    }
}
