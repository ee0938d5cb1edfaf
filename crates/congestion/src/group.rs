//! What coupled congestion controls know of each other: a snapshot of each path of a connection.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use units::Duration;

/// One path as its siblings see it. Linux skips subflows that cannot send or have no RTT yet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sibling {
    /// Congestion window in packets.
    pub window_packets: f64,
    /// Smoothed RTT; zero before the first sample.
    pub srtt: Duration,
    /// What the algorithm itself shares (OLIA: bytes between losses; wVegas: its rate).
    pub shared: f64,
}

/// The paths of one connection whose controllers are coupled; cheap to clone, all clones are one.
#[derive(Clone, Debug, Default)]
pub struct Group(Arc<Mutex<Vec<Option<Sibling>>>>);

/// A controller's place in its group; it leaves the group when it is dropped.
#[derive(Debug)]
pub struct Member {
    group: Group,
    place: usize,
}

impl Group {
    /// A group without members.
    pub fn new() -> Self {
        Self::default()
    }

    /// A new path joins.
    pub fn join(&self) -> Member {
        let mut slots = self.slots();
        let free = slots.iter().position(Option::is_none);
        let place = free.unwrap_or(slots.len());
        match free {
            Some(place) => slots[place] = Some(Sibling::default()),
            None => slots.push(Some(Sibling::default())),
        }
        drop(slots);
        Member { group: self.clone(), place }
    }

    fn slots(&self) -> MutexGuard<'_, Vec<Option<Sibling>>> {
        // One run is one thread: nobody else holds the lock, and nothing can poison it half-way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Member {
    /// Tells the others what this path is like now.
    pub fn share(&self, own: Sibling) {
        self.group.slots()[self.place] = Some(own);
    }

    /// Tells the others what this path is like now, and looks at all of them.
    pub fn exchange<R>(&self, own: Sibling, look: impl FnOnce(Paths<'_>) -> R) -> R {
        let mut slots = self.group.slots();
        slots[self.place] = Some(own);
        look(Paths { slots: &slots })
    }
}

/// The paths of a connection that have an RTT sample: Linux skips the others, too. One that died
/// counts until its controller is dropped, with the RTT it had (docs/model.md §4.12).
#[derive(Clone, Copy, Debug)]
pub struct Paths<'a> {
    slots: &'a [Option<Sibling>],
}

impl<'a> Paths<'a> {
    /// All of them, in the order in which they joined.
    pub fn iter(self) -> impl Iterator<Item = &'a Sibling> + Clone {
        self.slots.iter().flatten().filter(|sibling| !sibling.srtt.is_zero())
    }

    /// How many there are.
    pub fn count(self) -> usize {
        self.iter().count()
    }

    /// The sum of a quantity over all of them.
    pub fn sum(self, quantity: impl Fn(&Sibling) -> f64) -> f64 {
        self.iter().map(quantity).sum()
    }

    /// The largest of a quantity over all of them; zero if there are none.
    pub fn max(self, quantity: impl Fn(&Sibling) -> f64) -> f64 {
        self.iter().map(quantity).fold(0.0, f64::max)
    }
}

impl Sibling {
    /// Packets per second: the window in a smoothed RTT.
    pub fn rate(&self) -> f64 {
        self.window_packets / self.srtt.as_secs_f64()
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.group.slots()[self.place] = None;
    }
}
