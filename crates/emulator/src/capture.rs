//! A pcapng file per path (draft-ietf-opsawg-pcapng). The four interfaces of a file are what enters and
//! what leaves each link.

use crate::EmulatorError;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use units::Instant;

/// The interfaces of a file; the number of one is [`interface`].
const INTERFACES: [&str; 4] = ["down-in", "down-out", "up-in", "up-out"];
const SECTION_HEADER: u32 = 0x0A0D_0D0A;
const BYTE_ORDER_MAGIC: u32 = 0x1A2B_3C4D;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
/// `LINKTYPE_RAW`: the packet begins with its IP header.
const RAW: u16 = 101;
const OPTION_NAME: u16 = 2;
const OPTION_RESOLUTION: u16 = 9;
/// Time stamps count 10^-9 s.
const NANOSECONDS: u8 = 9;
const BUFFER_BYTES: usize = 1 << 20;

/// At which end of its link a frame is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    In,
    Out,
}

/// The files of all paths. After the first failure nothing more is written.
pub(crate) struct Capture {
    files: Vec<Box<dyn Write + Send>>,
    /// [`Instant::ZERO`], in nanoseconds since 1970.
    epoch_ns: u64,
    block: Vec<u8>,
    error: Option<String>,
}

impl std::fmt::Debug for Capture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Capture({} files, {:?})", self.files.len(), self.error)
    }
}

impl Capture {
    /// Begins `NAME.pcapng` in `folder` for each name.
    pub(crate) fn create(
        folder: &Path,
        names: &[String],
        epoch_ns: u64,
    ) -> Result<Self, EmulatorError> {
        let mut files: Vec<Box<dyn Write + Send>> = Vec::with_capacity(names.len());
        for name in names {
            let path = folder.join(format!("{name}.pcapng"));
            let plain = path.parent() == Some(folder);
            let file =
                if plain { File::create(&path) } else { Err(io::ErrorKind::InvalidInput.into()) };
            let file = file.map_err(|source| EmulatorError::Capture { file: path, source })?;
            files.push(Box::new(BufWriter::with_capacity(BUFFER_BYTES, file)));
        }
        Ok(Self::new(files, epoch_ns))
    }

    /// Begins a file for each path.
    pub(crate) fn new(files: Vec<Box<dyn Write + Send>>, epoch_ns: u64) -> Self {
        let mut capture = Self { files, epoch_ns, block: Vec::new(), error: None };
        let header = header();
        capture.attempt(|files, _| files.iter_mut().try_for_each(|file| file.write_all(&header)));
        capture
    }

    /// Notes a frame at one end of a link.
    pub(crate) fn record(&mut self, link: usize, end: End, now: Instant, frame: &[u8]) {
        let time_ns = self.epoch_ns.saturating_add(now.as_nanos());
        self.attempt(|files, block| {
            packet(block, interface(link, end), time_ns, frame);
            files[link / 2].write_all(block)
        });
    }

    /// Writes what is still buffered.
    pub(crate) fn flush(&mut self) {
        self.attempt(|files, _| files.iter_mut().try_for_each(|file| file.flush()));
    }

    /// Why the capture has stopped, if it has.
    pub(crate) fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    fn attempt(
        &mut self,
        write: impl FnOnce(&mut [Box<dyn Write + Send>], &mut Vec<u8>) -> io::Result<()>,
    ) {
        if self.error.is_some() {
            return;
        }
        if let Err(error) = write(&mut self.files, &mut self.block) {
            self.error = Some(format!(
                "the capture stopped, for its file cannot be written ({error}); make room"
            ));
        }
    }
}

/// Number of the interface for one end of a link.
fn interface(link: usize, end: End) -> u32 {
    2 * (link % 2) as u32 + u32::from(end == End::Out)
}

/// The section header and the descriptions of the interfaces.
fn header() -> Vec<u8> {
    let mut out = Vec::new();
    block(&mut out, SECTION_HEADER, |out| {
        out.extend(BYTE_ORDER_MAGIC.to_le_bytes());
        out.extend(1_u16.to_le_bytes()); // version 1.0
        out.extend(0_u16.to_le_bytes());
        out.extend(u64::MAX.to_le_bytes()); // length not given
    });
    for name in INTERFACES {
        block(&mut out, INTERFACE_DESCRIPTION, |out| {
            out.extend(RAW.to_le_bytes());
            out.extend(0_u16.to_le_bytes());
            out.extend(0_u32.to_le_bytes()); // frames are never cut
            option(out, OPTION_NAME, name.as_bytes());
            option(out, OPTION_RESOLUTION, &[NANOSECONDS]);
            option(out, 0, &[]);
        });
    }
    out
}

/// An enhanced packet block, in place of what `out` holds.
fn packet(out: &mut Vec<u8>, interface: u32, time_ns: u64, frame: &[u8]) {
    out.clear();
    let length = frame.len() as u32; // a frame is below 64 KiB
    block(out, ENHANCED_PACKET, |out| {
        out.extend_from_slice(&interface.to_le_bytes());
        out.extend_from_slice(&((time_ns >> 32) as u32).to_le_bytes());
        out.extend_from_slice(&(time_ns as u32).to_le_bytes());
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(frame);
        pad(out);
    });
}

/// A block with its length before and after its body.
fn block(out: &mut Vec<u8>, kind: u32, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&kind.to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    body(out);
    let length = (out.len() - start + 4) as u32;
    out.extend_from_slice(&length.to_le_bytes());
    out[start + 4..start + 8].copy_from_slice(&length.to_le_bytes());
}

fn option(out: &mut Vec<u8>, code: u16, value: &[u8]) {
    out.extend(code.to_le_bytes());
    out.extend((value.len() as u16).to_le_bytes());
    out.extend(value);
    pad(out);
}

/// Everything begins at a multiple of four bytes.
fn pad(out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(4), 0);
}
