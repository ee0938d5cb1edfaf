//! A client's packets that begin to come another way: its NAT gave it another address, or somebody
//! sends copies from his own (RFC 9000 §9.3, §21.12).
//!
//! The caller gives each pair of addresses a [`PathId`]. A path that is proven stays where it is until
//! the peer has answered a challenge on the other way; one that is not proven follows the newest
//! authentic packet, as nothing is lost by it. Only servers follow: clients know where the server is.
//!
//! Somebody may be faster than the client with copies of all that it sends. Then the client's own
//! packets are the copies: they show a way, too, which is answered in a handshake and challenged after.

use super::candidate::Candidate;
use super::twin::Twin;
use super::{Health, Path, Paths, Rtt};
use crate::arrival::Arrival;
use rand::Rng;
use units::{Instant, PathId};

/// A path that moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Move {
    pub from: PathId,
    pub to: PathId,
    /// It had failed there.
    pub failed: bool,
}

impl Paths {
    /// Server: an authentic packet that is no copy came for path `id`; `newest`: none with a higher
    /// number came before. `can_ask`: a 1-RTT packet with a challenge can leave.
    pub fn note_way(
        &mut self,
        arrival: &Arrival,
        (id, newest): (u32, bool),
        can_ask: bool,
        rng: &mut impl Rng,
    ) {
        let (net, now) = (arrival.net, arrival.now);
        let taken = self.values().any(|path| path.id != id && path.net == net);
        let Some(path) = self.get_mut(id) else { return };
        if path.net == net {
            if newest {
                // What came from elsewhere were copies, or late.
                path.candidate = path.candidate.filter(|candidate| candidate.of_copies);
            }
            return;
        }
        if taken || path.drains_until.is_some() {
            return;
        }
        if !path.validated {
            if newest {
                path.follow(net, arrival.datagram_len as u64, rng);
            }
            return;
        }
        let counted = arrival.uncounted_bytes as u64;
        match &mut path.candidate {
            _ if !can_ask => {}
            Some(candidate) if candidate.net == net => candidate.on_came(counted),
            candidate if newest => *candidate = Some(Candidate::new(now, net, counted, rng)),
            _ => {}
        }
    }

    /// Server: a copy of a packet came for path `id`.
    pub fn note_copy(&mut self, arrival: &Arrival, id: u32, can_ask: bool, rng: &mut impl Rng) {
        let (net, bytes) = (arrival.net, arrival.uncounted_bytes as u64);
        let taken = self.values().any(|path| path.net == net);
        let Some(path) = self.get_mut(id).filter(|path| path.drains_until.is_none()) else {
            return;
        };
        if taken {
            return;
        }
        match (&mut path.twin, &mut path.candidate) {
            (Some(twin), _) if !path.validated && twin.net == net => twin.came_bytes += bytes,
            (twin @ None, _) if !path.validated => {
                *twin = Some(Twin { net, came_bytes: bytes, left_bytes: 0 });
            }
            (_, Some(known)) if path.validated && known.net == net => known.on_came(bytes),
            (_, candidate @ None) if path.validated && can_ask => {
                *candidate = Some(Candidate::of_copies(arrival.now, net, bytes, rng));
            }
            _ => {}
        }
    }

    /// Where else a datagram of path `id` leaves, as long as that is not proven.
    pub fn twin_of(&mut self, id: u32, bytes: u64) -> Option<PathId> {
        let path = self.get_mut(id).filter(|path| !path.validated)?;
        let twin = path.twin.as_mut()?;
        twin.takes(bytes).then_some(twin.net)
    }

    /// The path of which another way, or the former one (true), has to be challenged now.
    pub fn way_to_ask(&self, now: Instant) -> Option<(u32, bool)> {
        let is_due = |way: &Option<Candidate>| way.as_ref().is_some_and(|way| way.is_due(now));
        let due = |path: &Path| is_due(&path.candidate) || is_due(&path.former);
        let path = self.values().find(|path| path.is_awake() && due(path))?;
        Some((path.id, !is_due(&path.candidate)))
    }

    /// The peer asks on path `id`, from `net`, where the answer goes (RFC 9000 §8.2.2). Its latest question
    /// is answered alone, so that memory is bounded.
    pub fn on_challenge(&mut self, id: u32, net: PathId, data: [u8; 8]) {
        let Some(path) = self.get_mut(id) else { return };
        let ways = [&mut path.candidate, &mut path.former];
        match ways.into_iter().flatten().find(|way| way.net == net && path.net != net) {
            Some(way) => way.response = Some(data),
            None => path.response = Some(data),
        }
    }

    /// Whether a PATH_RESPONSE is the answer to the challenge on the other way of a path.
    pub fn answers_other_way(&self, id: u32, data: [u8; 8]) -> bool {
        let candidate = self.get(id).and_then(|path| path.candidate);
        candidate.is_some_and(|candidate| candidate.challenge == data)
    }

    /// The peer answered there: the path moves, as one of which nothing is known (RFC 9000 §9.4). Where
    /// it was is challenged, so that a peer that is still there says so (§9.3.3).
    pub fn move_over(&mut self, now: Instant, id: u32, rng: &mut impl Rng) -> Option<Move> {
        let Candidate { net: to, in_full, .. } = self.get(id)?.candidate?;
        let fresh = self.make(id, to);
        let path = self.get_mut(id)?;
        let moved = Move { from: path.net, to, failed: path.health == Health::Failed };
        path.candidate = None;
        path.former = Some(Candidate::former(now, path.net, rng));
        path.net = to;
        (path.cc, path.rtt, path.ecn) = (fresh.cc, Rtt::default(), fresh.ecn);
        (path.feed, path.outage_noted) = (fresh.feed, false);
        path.silent_since = None;
        // What was sent on the old way says nothing of the new one's RTT, rate and window.
        (path.moved_at, path.rtt_from) = (now, now);
        path.mtu.restart(now); // RFC 9000 §14.3: the new way may be narrower
        path.recovery_start = Some(now); // losses on the old way are not the new one's
        (path.in_recovery, path.pto_count, path.health) = (false, 0, Health::Good);
        path.cc.on_handshake(path.rtt.smoothed());
        if !in_full {
            path.begin_challenge(rng); // RFC 9000 §8.2.3: whether full datagrams pass
        }
        Some(moved)
    }
}

impl Path {
    /// Not proven: it goes where the newest packet came from.
    fn follow(&mut self, net: PathId, bytes: u64, rng: &mut impl Rng) {
        let old = Twin { net: self.net, came_bytes: self.came_bytes, left_bytes: self.left_bytes };
        let known = self.twin.filter(|twin| twin.net == net);
        self.net = net;
        (self.came_bytes, self.left_bytes) = (bytes, 0);
        if let Some(twin) = known {
            (self.came_bytes, self.left_bytes) = (twin.came_bytes + bytes, twin.left_bytes);
            self.twin = Some(old);
        }
        if self.challenge.is_some() {
            self.begin_challenge(rng);
        }
    }
}
