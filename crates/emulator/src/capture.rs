//! Captures, a file for each path. A thread of their own writes them: the relay never waits for a disk.

use crate::EmulatorError;
use crate::frame::Frame;
use crate::pcapng::{End, header, interface, packet};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use units::Instant;

/// A file's blocks are handed over when they come to this many bytes.
const CHUNK_BYTES: usize = 1 << 20;
/// How many chunks may wait for the disk.
const MAX_WAITING: usize = 64;

/// Where a capture is written.
pub(crate) type Sink = Box<dyn Write + Send>;

/// Bytes for the file of a path.
type Chunk = (usize, Vec<u8>);

/// Why the capture has stopped; empty while it has not.
type Fault = Arc<OnceLock<String>>;

/// The captures of all paths. After the first failure nothing more is written.
#[derive(Debug)]
pub(crate) struct Capture {
    /// What each file gets next.
    pending: Vec<Vec<u8>>,
    /// The frame that is being noted.
    frame: Vec<u8>,
    /// [`Instant::ZERO`], in nanoseconds since 1970.
    epoch_ns: u64,
    chunks: SyncSender<Chunk>,
    /// Buffers that have been written.
    spare: Receiver<Vec<u8>>,
    fault: Fault,
    thread: JoinHandle<()>,
}

impl Capture {
    /// Begins `NAME.pcapng` in `folder` for each name.
    pub(crate) fn create(
        folder: &Path,
        names: &[String],
        epoch_ns: u64,
    ) -> Result<Self, EmulatorError> {
        let mut files: Vec<Sink> = Vec::with_capacity(names.len());
        for name in names {
            let path = folder.join(format!("{name}.pcapng"));
            let inside = path.parent() == Some(folder);
            let file =
                if inside { File::create(&path) } else { Err(io::ErrorKind::InvalidInput.into()) };
            let file = file.map_err(|source| EmulatorError::Capture { file: path, source })?;
            files.push(Box::new(file));
        }
        Self::new(files, epoch_ns).map_err(EmulatorError::Start)
    }

    /// Begins a capture for each path.
    pub(crate) fn new(files: Vec<Sink>, epoch_ns: u64) -> io::Result<Self> {
        let pending = vec![header(); files.len()];
        let (chunks, waiting) = sync_channel(MAX_WAITING);
        let (done, spare) = channel();
        let fault = Fault::default();
        let report = Arc::clone(&fault);
        let thread = thread::Builder::new().name("skyweave-capture".to_owned());
        let thread = thread.spawn(move || write_all(files, &waiting, &done, &report))?;
        Ok(Self { pending, frame: Vec::new(), epoch_ns, chunks, spare, fault, thread })
    }

    /// Notes a frame at one end of a link, with its checksum complete.
    pub(crate) fn record(&mut self, link: usize, end: End, now: Instant, frame: &Frame) {
        if self.fault.get().is_some() {
            return;
        }
        let path = link / 2;
        let time_ns = self.epoch_ns.saturating_add(now.as_nanos());
        frame.write_complete(&mut self.frame);
        packet(&mut self.pending[path], interface(link, end), time_ns, &self.frame);
        if self.pending[path].len() >= CHUNK_BYTES {
            self.hand_over(path);
        }
    }

    /// Hands over everything that has been noted.
    pub(crate) fn flush(&mut self) {
        (0..self.pending.len()).for_each(|path| self.hand_over(path));
    }

    /// Why the capture has stopped, if it has.
    pub(crate) fn fault(&self) -> Option<&str> {
        self.fault.get().map(String::as_str)
    }

    /// Waits until everything is written; why the capture had stopped, if it had.
    pub(crate) fn finish(mut self) -> Option<String> {
        self.flush();
        drop(self.chunks);
        if self.thread.join().is_err() {
            self.fault.get_or_init(|| "the capture's thread panicked; report this".to_owned());
        }
        self.fault.get().cloned()
    }

    fn hand_over(&mut self, path: usize) {
        if self.pending[path].is_empty() || self.fault.get().is_some() {
            return;
        }
        let next = self.spare.try_recv().unwrap_or_default();
        let chunk = std::mem::replace(&mut self.pending[path], next);
        if self.chunks.try_send((path, chunk)).is_err() {
            self.fault.get_or_init(|| {
                "the capture stopped, for the disk is too slow; capture to a faster one".to_owned()
            });
        }
    }
}

/// Writes what comes until nothing more can come.
fn write_all(
    mut files: Vec<Sink>,
    waiting: &Receiver<Chunk>,
    done: &Sender<Vec<u8>>,
    fault: &Fault,
) {
    for (path, mut chunk) in waiting {
        if fault.get().is_none()
            && let Err(error) = files[path].write_all(&chunk)
        {
            let sentence = "the capture stopped, for its file cannot be written";
            fault.get_or_init(|| format!("{sentence} ({error}); make room"));
        }
        chunk.clear();
        let _ended = done.send(chunk);
    }
}
