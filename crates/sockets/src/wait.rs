//! Waiting for sockets.

use crate::clock::Clock;
use crate::error::SocketError;
use crate::socket::Socket;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::io;
use std::os::fd::BorrowedFd;
use units::{Duration, Instant};

/// Nothing waits longer than this, so that a caller's wish to stop is soon heard.
const LONGEST: Duration = Duration::from_millis(100);

/// Returns when a socket or one of the `others` has something, a blocked socket takes more, or at `until`.
pub(crate) fn wait<'a>(
    clock: Clock,
    sockets: impl Iterator<Item = &'a Socket>,
    others: impl IntoIterator<Item = BorrowedFd<'a>>,
    until: Instant,
) -> Result<(), SocketError> {
    let mut polled: Vec<PollFd<'_>> = sockets
        .map(|socket| {
            let writes = if socket.is_blocked() { PollFlags::OUT } else { PollFlags::empty() };
            PollFd::from_borrowed_fd(socket.fd(), PollFlags::IN | writes)
        })
        .collect();
    polled.extend(others.into_iter().map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
    let timeout = clock.until(until.min(clock.now() + LONGEST));
    match poll(&mut polled, Some(&timeout)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(SocketError::Wait(io::Error::from(error))),
    }
}
