//! The relay's thread: sleeps until a device has a frame, a link delivers one, or someone asks.

use crate::EmulatorError;
use crate::clock::Clock;
use crate::core::Core;
use crate::device::Tun;
use crate::moderation::{Moderation, Pause, Turn};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::thread::nanosleep;
use std::io;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use units::{Duration, Instant};

/// Something to be done in the relay's thread.
pub(crate) type Task = Box<dyn FnOnce(&mut Core<Tun>, Instant) + Send>;

/// Hands tasks to the thread; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Tasks {
    sender: Option<Sender<Task>>,
    wake: Arc<OwnedFd>,
}

/// The thread's end of [`Tasks`].
#[derive(Debug)]
pub(crate) struct Inbox {
    receiver: Receiver<Task>,
    wake: Arc<OwnedFd>,
}

/// A way to hand tasks to another thread.
pub(crate) fn tasks() -> io::Result<(Tasks, Inbox)> {
    let wake = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
    let (sender, receiver) = channel();
    Ok((Tasks { sender: Some(sender), wake: Arc::clone(&wake) }, Inbox { receiver, wake }))
}

impl Tasks {
    /// Hands over a task; it is dropped if the thread has ended.
    pub(crate) fn send(&self, task: Task) {
        if let Some(sender) = &self.sender {
            let _ended = sender.send(task);
            self.wake();
        }
    }

    fn wake(&self) {
        // Only a full counter refuses, and that wakes as well.
        let _full = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        self.sender = None;
        self.wake();
    }
}

impl Inbox {
    /// Does what has been asked: whether there may be more.
    fn work(&self, core: &mut Core<Tun>, clock: Clock) -> bool {
        let _empty = rustix::io::read(&self.wake, &mut [0; 8]);
        loop {
            match self.receiver.try_recv() {
                Ok(task) => task(core, clock.now()),
                Err(TryRecvError::Empty) => return true,
                Err(TryRecvError::Disconnected) => return false,
            }
        }
    }
}

/// Relays until the other end of `inbox` is gone.
///
/// # Errors
/// [`EmulatorError`] when a device is gone.
pub(crate) fn run(core: &mut Core<Tun>, clock: Clock, inbox: &Inbox) -> Result<(), EmulatorError> {
    // Without this the kernel may add 50 µs to every sleep.
    rustix::thread::set_current_timer_slack(NonZeroU64::new(1))
        .map_err(|error| EmulatorError::Wait(error.into()))?;
    core.begin(clock.now());
    let descriptors: Vec<_> = core.devices().iter().map(Tun::descriptor).collect();
    let watched = std::iter::once(&inbox.wake).chain(&descriptors);
    let mut polled: Vec<_> = watched.map(|fd| PollFd::new(fd, PollFlags::IN)).collect();
    let mut moderation = Moderation::new(core.window());
    loop {
        let began = clock.now();
        if !polled[0].revents().is_empty() && !inbox.work(core, clock) {
            return Ok(());
        }
        let mut turn = Turn::default();
        for (device, _) in polled[1..].iter().enumerate().filter(|(_, fd)| !fd.revents().is_empty())
        {
            turn.batch(|| core.receive(clock.now(), device))?;
        }
        // One moment for all of them: what comes due meanwhile goes with what follows it.
        let now = clock.now();
        for link in 0..descriptors.len() {
            turn.batch(|| core.deliver(now, link))?;
        }
        core.take_samples(now);
        let pause = moderation.pause(began, turn);
        if pause == Pause::Sleep {
            sleep(core.window());
        }
        let wait =
            if pause == Pause::Poll { clock.until(core.next_at()) } else { Timespec::default() };
        match poll(&mut polled, Some(&wait)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(EmulatorError::Wait(error.into())),
        }
    }
}

/// Sleeps for less than a second.
fn sleep(time: Duration) {
    let time = Timespec { tv_sec: 0, tv_nsec: time.as_nanos() as _ };
    let _interrupted = nanosleep(&time);
}
