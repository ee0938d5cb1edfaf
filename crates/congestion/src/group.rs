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
    /// What the algorithm itself shares (OLIA: bytes between losses; wVegas: its weight).
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

    /// Looks at all paths with an RTT sample, this one included; the place of this one among them
    /// is the second argument (`None` before its first sample).
    pub fn look<R>(&self, look: impl FnOnce(&[Sibling], Option<usize>) -> R) -> R {
        let slots = self.group.slots();
        let ready = |sibling: &Sibling| !sibling.srtt.is_zero();
        let mut own = None;
        let mut siblings = [Sibling::default(); 64];
        let mut count = 0;
        for (place, sibling) in slots.iter().enumerate() {
            let Some(sibling) = sibling.as_ref().filter(|sibling| ready(sibling)) else { continue };
            if place == self.place {
                own = Some(count);
            }
            if let Some(slot) = siblings.get_mut(count) {
                *slot = *sibling;
                count += 1;
            }
        }
        drop(slots);
        look(&siblings[..count], own)
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.group.slots()[self.place] = None;
    }
}
