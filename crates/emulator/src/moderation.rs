//! How long the relay may rest after a turn, as network cards moderate their interrupts: a lone packet
//! is seen to at once; where one follows another closely, all that comes within a window is seen to
//! together.

use units::{Duration, Instant};

/// Frames that one device or link may move before the others have their turn.
const BATCH: usize = 32;

/// What one look at all devices and links did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Turn {
    /// Reads and writes that moved frames.
    steps: usize,
    unfinished: bool,
}

impl Turn {
    /// Repeats `step`, which says how many frames it moved, until there is none, or too many.
    pub(crate) fn batch<E>(&mut self, mut step: impl FnMut() -> Result<usize, E>) -> Result<(), E> {
        let mut moved = 0;
        while moved < BATCH {
            match step()? {
                0 => return Ok(()),
                frames => moved += frames,
            }
            self.steps += 1;
        }
        self.unfinished = true;
        Ok(())
    }
}

/// What to do until the next turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// Nothing: there is more to be done.
    None,
    /// Sleep for a window.
    Sleep,
    /// Wait for a packet, or for the moment at which one is due.
    Poll,
}

/// Decides between these.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moderation {
    window: Duration,
    /// When the last turn began that moved frames.
    last: Option<Instant>,
    is_busy: bool,
    /// The last turn left something to do.
    is_unfinished: bool,
}

impl Moderation {
    /// Without a window every packet is seen to at once.
    pub(crate) fn new(window: Duration) -> Self {
        Self { window, last: None, is_busy: false, is_unfinished: false }
    }

    /// What to do after a turn that began at this moment.
    pub(crate) fn pause(&mut self, began: Instant, turn: Turn) -> Pause {
        let is_close = self.last.is_some_and(|last| began.since(last) < self.window);
        self.is_busy = match (self.is_unfinished, self.is_busy) {
            (true, is_busy) => is_busy || is_close,
            // A sleep that collected a single packet saved nothing.
            (false, true) => turn.steps > 1,
            (false, false) => turn.steps > 0 && is_close,
        };
        self.is_unfinished = turn.unfinished;
        if turn.steps > 0 {
            self.last = Some(began);
        }
        match (turn.unfinished, self.is_busy) {
            (true, _) => Pause::None,
            (false, true) => Pause::Sleep,
            (false, false) => Pause::Poll,
        }
    }
}
