//! Which path IDs were used, and which may be (draft-ietf-quic-multipath-21 §3).

use rangemap::RangeInclusiveSet;
use std::collections::BTreeSet;

/// The path IDs of a connection. None is ever used twice.
///
/// What is kept of them is those whose path is not over, of which there are never more than at first: a
/// path that is over makes room for one more.
#[derive(Debug)]
pub(crate) struct PathIds {
    /// Those of paths that began and are not over.
    open: BTreeSet<u32>,
    /// Those that we let the peer use and whose path has not begun.
    fresh: RangeInclusiveSet<u32>,
    /// Above the highest that began.
    next: u32,
    /// The highest that we let the peer use.
    ours: u32,
    /// The highest that the peer lets us use.
    peers: u32,
}

impl Default for PathIds {
    fn default() -> Self {
        let (open, fresh) = (BTreeSet::from([0]), RangeInclusiveSet::new());
        Self { open, fresh, next: 1, ours: 0, peers: 0 }
    }
}

impl PathIds {
    /// What both ends allow at first (`initial_max_path_id`).
    pub fn set_limits(&mut self, ours: u32, peers: u32) {
        if ours > self.ours {
            self.fresh.insert(self.ours + 1..=ours);
        }
        (self.ours, self.peers) = (ours, peers);
    }

    /// The next path ID that we may open, if both ends allow it.
    pub fn next_allowed(&self) -> Option<u32> {
        self.is_live(self.next).then_some(self.next)
    }

    /// Takes a path ID into use, ours or the peer's: false when it was used before, or may not be.
    pub fn take(&mut self, id: u32) -> bool {
        let takes = self.fresh.contains(&id);
        if takes {
            self.fresh.remove(id..=id);
            self.open.insert(id);
            self.next = self.next.max(id.saturating_add(1));
        }
        takes
    }

    /// It was the ID of a path that is no more.
    pub fn is_over(&self, id: u32) -> bool {
        self.is_allowed(id) && !self.open.contains(&id) && !self.fresh.contains(&id)
    }

    /// Below one that began.
    pub const fn is_below_next(&self, id: u32) -> bool {
        id < self.next
    }

    /// The peer may use it, or might have.
    pub const fn is_allowed(&self, id: u32) -> bool {
        id <= self.ours
    }

    /// A path is over: the peer may use a further one. The new limit.
    pub fn end(&mut self, id: u32) -> u32 {
        if self.open.remove(&id) && self.ours < u32::MAX {
            self.ours += 1;
            self.fresh.insert(self.ours..=self.ours);
        }
        self.ours
    }

    /// The peer lets us use more (MAX_PATH_ID); false: it did before.
    pub const fn raise(&mut self, maximum: u32) -> bool {
        let raised = maximum > self.peers;
        if raised {
            self.peers = maximum;
        }
        raised
    }

    /// The highest that the peer lets us use.
    pub const fn peers(&self) -> u32 {
        self.peers
    }

    /// Both ends allow it, and its path is not over.
    pub fn is_live(&self, id: u32) -> bool {
        id <= self.last() && (self.open.contains(&id) || self.fresh.contains(&id))
    }

    /// Those of which that holds.
    pub fn live(&self) -> impl Iterator<Item = u32> + '_ {
        let last = self.last();
        let fresh = self.fresh.iter().flat_map(move |ids| *ids.start()..=last.min(*ids.end()));
        self.open.range(..=last).copied().chain(fresh)
    }

    /// The highest that both ends allow.
    fn last(&self) -> u32 {
        self.ours.min(self.peers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_may_begin_in_any_order_and_serve_once() {
        let mut ids = PathIds::default();
        ids.set_limits(4, 3);
        assert!(ids.take(3) && !ids.take(3));
        assert!(!ids.is_over(3) && ids.is_below_next(1));
        assert!(ids.take(1) && !ids.take(1));
        assert_eq!(ids.next_allowed(), None, "the peer allows 3");
        assert!(ids.raise(9) && !ids.raise(9));
        assert_eq!(ids.next_allowed(), Some(4));
        assert!(!ids.is_allowed(5) && !ids.take(5));
        assert_eq!((ids.end(3), ids.next_allowed()), (5, Some(4)));
        assert!(ids.is_over(3) && !ids.take(3) && !ids.is_over(2));
        assert_eq!(ids.end(3), 5, "it was over");
        assert_eq!(ids.live().collect::<Vec<_>>(), [0, 1, 2, 4, 5], "1 began, 2 did not");
    }

    #[test]
    fn limits_at_the_end_of_the_space_do_not_overflow() {
        let mut ids = PathIds { ours: u32::MAX - 1, ..PathIds::default() };
        ids.set_limits(u32::MAX, u32::MAX);
        assert!(ids.take(u32::MAX));
        assert_eq!(ids.end(u32::MAX), u32::MAX);
        assert!(ids.is_over(u32::MAX));
    }

    #[test]
    fn as_many_as_there_are_take_no_room() {
        let mut ids = PathIds::default();
        ids.set_limits(u32::MAX, 5);
        assert!(ids.take(u32::MAX - 1) && !ids.is_over(u32::MAX - 2));
        assert_eq!(ids.live().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn what_is_kept_does_not_grow_with_the_paths_that_were() {
        let mut ids = PathIds::default();
        ids.set_limits(3, u32::MAX);
        for id in 1..=60_000 {
            assert!(ids.take(id));
            assert_eq!(ids.end(id), id + 3);
            assert_eq!(ids.live().count(), 4);
        }
        assert!((1..=60_000).all(|id| ids.is_over(id)));
    }
}
