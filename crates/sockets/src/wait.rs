//! Waiting for sockets.

use crate::clock::Clock;
use crate::error::SocketError;
use crate::socket::Socket;
use crate::watch::Watch;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::io;
use units::{Duration, Instant};

/// Nothing waits longer than this, so that a caller's wish to stop is soon heard.
const LONGEST: Duration = Duration::from_millis(100);

/// Returns when a socket has something, a blocked one takes more, interfaces change, or at `until`.
pub(crate) fn wait<'a>(
    clock: Clock,
    sockets: impl Iterator<Item = &'a Socket>,
    watch: Option<&Watch>,
    until: Instant,
) -> Result<(), SocketError> {
    let mut polled: Vec<PollFd<'_>> = sockets
        .map(|socket| {
            let writes = if socket.is_blocked() { PollFlags::OUT } else { PollFlags::empty() };
            PollFd::from_borrowed_fd(socket.fd(), PollFlags::IN | writes)
        })
        .collect();
    polled.extend(watch.map(|watch| PollFd::from_borrowed_fd(watch.fd(), PollFlags::IN)));
    let timeout = clock.until(until.min(clock.now() + LONGEST));
    match poll(&mut polled, Some(&timeout)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(SocketError::Wait(io::Error::from(error))),
    }
}
