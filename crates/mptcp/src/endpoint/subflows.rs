//! The subflows of an endpoint, and what it asks of all of them for each packet.

use crate::subflow::Subflow;
use scheduler::PathSet;
use units::{Instant, PathId};

/// Subflows by their path. A packet concerns one of them, so that the work for a packet must not grow
/// with their number: what is asked of all is kept, and looked at anew where a subflow was borrowed.
#[derive(Debug)]
pub(super) struct Subflows {
    slots: Vec<Option<Subflow>>,
    digests: Vec<Digest>,
    /// Sums of the digests, and the earliest of their timers.
    total: Digest,
    /// A segment below the usual length waits for its acknowledgement.
    short: PathSet,
    /// Borrowed since the digests were made.
    changed: PathSet,
    /// Borrowed since [`Subflows::take_unviewed`].
    unviewed: PathSet,
}

/// What counts of one subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Digest {
    timer: Instant,
    memory_bytes: u64,
    waiting_bytes: u64,
}

impl Digest {
    const NONE: Self = Self { timer: Instant::FAR_FUTURE, memory_bytes: 0, waiting_bytes: 0 };

    fn of(subflow: &Subflow) -> Self {
        Self {
            timer: subflow.next_timer(),
            memory_bytes: subflow.lent_bytes(),
            waiting_bytes: subflow.rx.waiting_bytes(),
        }
    }
}

impl Subflows {
    pub fn new(paths: usize) -> Self {
        Self {
            slots: (0..paths).map(|_| None).collect(),
            digests: vec![Digest::NONE; paths],
            total: Digest::NONE,
            short: PathSet::EMPTY,
            changed: PathSet::EMPTY,
            unviewed: PathSet::EMPTY,
        }
    }

    /// There is a place for this path.
    pub fn knows(&self, path: PathId) -> bool {
        path.index() < self.slots.len()
    }

    pub fn get(&self, path: PathId) -> Option<&Subflow> {
        self.slots.get(path.index())?.as_ref()
    }

    /// Borrows a subflow to change it.
    pub fn get_mut(&mut self, path: PathId) -> Option<&mut Subflow> {
        let subflow = self.slots.get_mut(path.index())?.as_mut()?;
        self.changed = self.changed.with(path);
        self.unviewed = self.unviewed.with(path);
        Some(subflow)
    }

    pub fn put(&mut self, subflow: Subflow) {
        let path = subflow.path;
        self.slots[path.index()] = Some(subflow);
        self.changed = self.changed.with(path);
    }

    pub fn take(&mut self, path: PathId) -> Option<Subflow> {
        self.changed = self.changed.with(path);
        self.slots.get_mut(path.index())?.take()
    }

    /// All that there are, in the order of their paths.
    pub fn iter(&self) -> impl Iterator<Item = &Subflow> {
        self.slots.iter().flatten()
    }

    pub fn touch_all(&mut self) {
        self.changed = self.iter().fold(self.changed, |all, one| all.with(one.path));
    }

    /// Those borrowed since the last call.
    pub fn take_unviewed(&mut self) -> PathSet {
        std::mem::take(&mut self.unviewed)
    }

    // ---- what is asked of all ----------------------------------------------------------------

    /// Those with something to do: borrowed since [`Subflows::settle`], or with a timer that is due.
    pub fn active(&self, now: Instant) -> PathSet {
        if self.total.timer > now {
            return self.changed;
        }
        let due = self.digests.iter().enumerate().filter(|(_, digest)| digest.timer <= now);
        due.fold(self.changed, |all, (index, _)| all.with(PathId(index as u8)))
    }

    /// Makes the digests of those borrowed since the last call.
    pub fn settle(&mut self) {
        let mut earliest_moved = false;
        for path in std::mem::take(&mut self.changed).iter() {
            let subflow = self.slots[path.index()].as_ref();
            let digest = subflow.map_or(Digest::NONE, Digest::of);
            let is_short = subflow.is_some_and(|subflow| subflow.rx.acks.is_short());
            let before = std::mem::replace(&mut self.digests[path.index()], digest);
            earliest_moved |= before.timer == self.total.timer;
            self.total.timer = self.total.timer.min(digest.timer);
            self.short = if is_short { self.short.with(path) } else { self.short.without(path) };
            self.total.memory_bytes += digest.memory_bytes;
            self.total.memory_bytes -= before.memory_bytes;
            self.total.waiting_bytes += digest.waiting_bytes;
            self.total.waiting_bytes -= before.waiting_bytes;
        }
        if earliest_moved {
            let timers = self.digests.iter().map(|digest| digest.timer);
            self.total.timer = timers.min().unwrap_or(Instant::FAR_FUTURE);
        }
        debug_assert!(
            self.digests.iter().zip(&self.slots).all(|(kept, subflow)| {
                *kept == subflow.as_ref().map_or(Digest::NONE, Digest::of)
            })
        );
    }

    /// The earliest timer of all.
    pub fn next_timer(&self) -> Instant {
        let fresh = self.changed.iter().filter_map(|path| self.get(path));
        let fresh = fresh.map(Subflow::next_timer);
        if self.changed == PathSet::EMPTY {
            return self.total.timer;
        }
        let kept = self.digests.iter().enumerate();
        let kept = kept.filter(|(index, _)| !self.changed.contains(PathId(*index as u8)));
        let kept = kept.map(|(_, digest)| digest.timer);
        fresh.chain(kept).min().unwrap_or(Instant::FAR_FUTURE)
    }

    /// What all of them together lend the connection's send buffer.
    pub fn lent_bytes(&self) -> u64 {
        let kept = self.total.memory_bytes;
        self.sum(kept, |digest| digest.memory_bytes, Subflow::lent_bytes)
    }

    /// What waits behind holes of single subflows.
    pub fn waiting_bytes(&self) -> u64 {
        let kept = self.total.waiting_bytes;
        self.sum(kept, |digest| digest.waiting_bytes, |subflow| subflow.rx.waiting_bytes())
    }

    /// A sum over all, from the kept one and those that changed since.
    fn sum(&self, kept: u64, of: impl Fn(&Digest) -> u64, fresh: impl Fn(&Subflow) -> u64) -> u64 {
        self.changed.iter().fold(kept, |sum, path| {
            sum + self.get(path).map_or(0, &fresh) - of(&self.digests[path.index()])
        })
    }

    /// Those with a short segment that waits for its acknowledgement.
    pub fn with_short(&self) -> PathSet {
        self.changed.union(self.short)
    }
}
