//! Which retransmissions an outage caused: the record says it, no endpoint knows it.

use mptcp::Payload;
use std::collections::{HashSet, VecDeque};
use units::{Duration, Instant, PathId, Window};

/// Copies that one outage or another made necessary, by the path that had carried the original.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Caused {
    /// Sent again on the same subflow.
    pub retransmitted_packets: u64,
    /// Sent on another one.
    pub reinjected_packets: u64,
}

/// What the sender of a connection sent into an outage, or so shortly before it that the
/// acknowledgement could not come back: from one smoothed RTT before it on
/// (docs/model.md §5.3 item 21).
#[derive(Debug)]
pub(crate) struct Exposure {
    subflows: Vec<Subflow>,
    /// Data sequence numbers of exposed originals, with the subflow that carried them.
    pieces: HashSet<(u64, usize)>,
}

#[derive(Debug, Default)]
struct Subflow {
    incarnation: u16,
    /// Outages that are not over.
    outages: VecDeque<Window>,
    /// Subflow sequence number of the next new segment.
    next: u64,
    exposed: HashSet<u64>,
    caused: Caused,
}

impl Exposure {
    /// For subflows over paths with these outages.
    pub fn new(outages: Vec<Vec<Window>>) -> Self {
        let subflow = |outages: Vec<Window>| Subflow { outages: outages.into(), ..<_>::default() };
        Self { subflows: outages.into_iter().map(subflow).collect(), pieces: HashSet::new() }
    }

    /// No outage is under way or to come, and nothing of the earlier ones is still to be counted.
    pub fn is_over(&self) -> bool {
        let over = |one: &Subflow| one.outages.is_empty() && one.exposed.is_empty();
        self.pieces.is_empty() && self.subflows.iter().all(over)
    }

    /// A segment with data leaves; `srtt` is the sender's of this path.
    pub fn on_sent(
        &mut self,
        now: Instant,
        (path, incarnation): (PathId, u16),
        payload: Payload,
        srtt: Duration,
    ) {
        let place = path.index();
        self.count_reinjection(place, payload.dsn);
        let subflow = &mut self.subflows[place];
        if subflow.incarnation != incarnation {
            subflow.incarnation = incarnation;
            subflow.next = 0;
            subflow.exposed.clear();
        }
        if payload.seq < subflow.next && subflow.exposed.remove(&payload.seq) {
            subflow.caused.retransmitted_packets += 1;
        }
        subflow.next = subflow.next.max(payload.seq + 1);
        if subflow.is_exposed(now, srtt) {
            subflow.exposed.insert(payload.seq);
            self.pieces.insert((payload.dsn, place));
        }
    }

    /// A piece that another subflow carried into an outage counts once.
    fn count_reinjection(&mut self, place: usize, dsn: u64) {
        if self.pieces.is_empty() {
            return;
        }
        for other in (0..self.subflows.len()).filter(|other| *other != place) {
            if self.pieces.remove(&(dsn, other)) {
                self.subflows[other].caused.reinjected_packets += 1;
            }
        }
    }

    /// What the outages of a path made necessary.
    pub fn caused(&self, path: PathId) -> Caused {
        self.subflows[path.index()].caused
    }
}

impl Subflow {
    fn is_exposed(&mut self, now: Instant, srtt: Duration) -> bool {
        while self.outages.front().is_some_and(|outage| outage.end <= now) {
            self.outages.pop_front();
        }
        self.outages.front().is_some_and(|outage| now + srtt >= outage.start)
    }
}
