use rustix::fd::OwnedFd;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use std::io::{self, IoSlice};
use std::sync::Arc;

/// Where packets come from and go to; behind a header each, if they have offload.
pub(crate) trait Device {
    /// Reads one packet into `buffer`: its length, or `None` if none waits.
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>>;

    /// Writes one packet, which is these parts: whether the device took it.
    fn send(&mut self, parts: &[IoSlice<'_>]) -> io::Result<bool>;
}

/// A TUN device (`IFF_TUN | IFF_NO_PI`), or anything else whose reads and writes are packets.
#[derive(Debug)]
pub(crate) struct Tun {
    fd: Arc<OwnedFd>,
}

impl Tun {
    /// Takes over an open device and makes it non-blocking.
    pub(crate) fn new(fd: OwnedFd) -> io::Result<Self> {
        let flags = fcntl_getfl(&fd)?;
        fcntl_setfl(&fd, flags | OFlags::NONBLOCK)?;
        Ok(Self { fd: Arc::new(fd) })
    }

    /// The descriptor, to wait for.
    pub(crate) fn descriptor(&self) -> Arc<OwnedFd> {
        Arc::clone(&self.fd)
    }
}

impl Device for Tun {
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match rustix::io::read(&self.fd, buffer) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(length) => Ok(Some(length)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn send(&mut self, parts: &[IoSlice<'_>]) -> io::Result<bool> {
        match rustix::io::writev(&self.fd, parts) {
            Ok(_) => Ok(true),
            // An interface that is down says EIO, one without memory or room the others; EINVAL is
            // said of a frame that is no IP packet.
            Err(
                Errno::AGAIN
                | Errno::NOBUFS
                | Errno::NOMEM
                | Errno::IO
                | Errno::NETDOWN
                | Errno::INVAL
                | Errno::INTR,
            ) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}
