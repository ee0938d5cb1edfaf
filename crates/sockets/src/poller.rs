//! Which of many descriptors have something (epoll(7)).

use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Events that one call takes; further ones come with the next.
const EVENTS: usize = 64;

/// What a descriptor is ready for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ready {
    /// What the descriptor was added as.
    pub token: u64,
    pub readable: bool,
    pub writable: bool,
    /// The connection is broken, or could not be made.
    pub broken: bool,
}

/// Descriptors under watch; one that is closed is no longer. Its own descriptor is readable when one
/// of them has something.
#[derive(Debug)]
pub(crate) struct Poller {
    epoll: OwnedFd,
}

impl Poller {
    pub fn new() -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        Ok(Self { epoll })
    }

    /// For `poll`.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }

    /// Tells of `source` as long as it is readable.
    pub fn add(&self, source: impl AsFd, token: u64) -> io::Result<()> {
        let data = EventData::new_u64(token);
        Ok(epoll::add(&self.epoll, source, data, EventFlags::IN)?)
    }

    /// Tells once of everything that becomes possible with `socket`: whoever reads or writes goes on
    /// until it would block.
    pub fn add_edges(&self, socket: impl AsFd, token: u64) -> io::Result<()> {
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        Ok(epoll::add(&self.epoll, socket, EventData::new_u64(token), flags)?)
    }

    /// What is ready now, without waiting.
    pub fn take(&self) -> Vec<Ready> {
        let mut space = [const { MaybeUninit::<Event>::uninit() }; EVENTS];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        // It fails only for signals, after which the next call has the same.
        let Ok((events, _)) = epoll::wait(&self.epoll, &mut space[..], Some(&at_once)) else {
            return Vec::new();
        };
        let ready = |event: &Event| {
            let (flags, data) = (event.flags, event.data); // copies: it is packed
            Ready {
                token: data.u64(),
                readable: flags.intersects(EventFlags::IN | EventFlags::RDHUP | EventFlags::HUP),
                writable: flags.intersects(EventFlags::OUT),
                broken: flags.intersects(EventFlags::ERR),
            }
        };
        events.iter().map(ready).collect()
    }
}
