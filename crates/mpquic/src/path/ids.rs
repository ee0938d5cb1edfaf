//! Which path IDs were used, and which may be (draft-ietf-quic-multipath-21 §3).

use std::collections::BTreeSet;

/// The path IDs of a connection. None is ever used twice.
#[derive(Debug)]
pub(crate) struct PathIds {
    /// Lowest one that was never used.
    next: u32,
    /// Lower ones that no packet came for yet: paths opened together need not begin in order.
    skipped: BTreeSet<u32>,
    /// The highest that we let the peer use.
    ours: u32,
    /// The highest that the peer lets us use.
    peers: u32,
}

impl Default for PathIds {
    fn default() -> Self {
        Self { next: 1, skipped: BTreeSet::new(), ours: 0, peers: 0 }
    }
}

impl PathIds {
    /// What both ends allow at first (`initial_max_path_id`).
    pub const fn set_limits(&mut self, ours: u32, peers: u32) {
        (self.ours, self.peers) = (ours, peers);
    }

    /// The next path ID that we may open, if both ends allow it.
    pub fn next_allowed(&self) -> Option<u32> {
        (self.next <= self.last()).then_some(self.next)
    }

    /// Takes a path ID into use, ours or the peer's: false when it was used before.
    pub fn take(&mut self, id: u32) -> bool {
        if id >= self.next {
            self.skipped.extend(self.next..id);
            self.next = id.saturating_add(1);
            return true;
        }
        self.skipped.remove(&id)
    }

    /// It is, or was, the ID of a path.
    pub fn was_used(&self, id: u32) -> bool {
        id < self.next && !self.skipped.contains(&id)
    }

    /// Below the lowest that was never used.
    pub const fn is_below_next(&self, id: u32) -> bool {
        id < self.next
    }

    /// The peer may use it.
    pub const fn is_allowed(&self, id: u32) -> bool {
        id <= self.ours
    }

    /// A path is over: the peer may use a further one. The new limit.
    pub const fn grant(&mut self) -> u32 {
        self.ours = self.ours.saturating_add(1);
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

    /// The highest that both ends allow.
    pub fn last(&self) -> u32 {
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
        assert!(ids.was_used(3) && !ids.was_used(1) && ids.is_below_next(1));
        assert!(ids.take(1) && !ids.take(1));
        assert_eq!(ids.next_allowed(), None, "the peer allows 3");
        assert!(ids.raise(9) && !ids.raise(9));
        assert_eq!(ids.next_allowed(), Some(4));
        assert!(!ids.is_allowed(5));
        assert_eq!((ids.grant(), ids.last()), (5, 5));
    }

    #[test]
    fn limits_at_the_end_of_the_space_do_not_overflow() {
        let mut ids = PathIds::default();
        ids.set_limits(u32::MAX, u32::MAX);
        assert_eq!(ids.grant(), u32::MAX);
    }
}
