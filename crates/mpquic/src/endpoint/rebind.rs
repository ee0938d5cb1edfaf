//! A client's packets that begin to come another way: its NAT gave it another address, or somebody
//! sends copies from his own (RFC 9000 §9.3, §21.12).
//!
//! The caller gives each pair of addresses a [`PathId`]. A path that is proven stays where it is until
//! the peer has answered a challenge on the other way; one that is not proven follows the newest
//! authentic packet, as nothing is lost by it. Only servers follow: clients know where the server is.

use super::Endpoint;
use super::receive::Arrival;
use crate::event::Event;
use crate::path::{
    AMPLIFICATION, CHALLENGE_PERIOD, CHALLENGE_TRIES, Health, LEAST_BYTES, Path, Rtt,
};
use crate::wire::{Frame, MIN_INITIAL_BYTES};
use rand::Rng;
use scheduler::PathEvent;
use units::{Instant, PathId};

/// Another way that a path's packets come, and its validation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub net: PathId,
    challenge: [u8; 8],
    /// When the challenge goes (again).
    pub at: Instant,
    tries: u32,
    came_bytes: u64,
    left_bytes: u64,
}

impl Candidate {
    fn budget(&self) -> u64 {
        (self.came_bytes * AMPLIFICATION).saturating_sub(self.left_bytes)
    }
}

impl Endpoint {
    /// An authentic packet that is no copy came for path `id`; `newest`: none with a higher number
    /// came before.
    pub(super) fn note_way(&mut self, arrival: &Arrival, id: u32, newest: bool) {
        let (net, now) = (arrival.net, arrival.now);
        let taken = self.paths.values().any(|path| path.id != id && path.net == net);
        let Some(path) = self.paths.get_mut(&id) else { return };
        if path.net == net {
            if newest {
                path.candidate = None; // what came from elsewhere were copies, or late
            }
            return;
        }
        if self.is_client || taken || path.drains_until.is_some() {
            return;
        }
        if !path.validated {
            if !newest {
                return;
            }
            path.net = net;
            (path.came_bytes, path.left_bytes) = (arrival.datagram_len as u64, 0);
            if path.challenge.is_some() {
                self.challenge_path(id);
            }
            return;
        }
        if !self.connected {
            return; // no 1-RTT packet with a challenge can leave yet
        }
        let counted = arrival.uncounted_bytes as u64;
        match &mut path.candidate {
            Some(candidate) if candidate.net == net => candidate.came_bytes += counted,
            candidate if newest => {
                let mut challenge = [0; 8];
                self.rng.fill_bytes(&mut challenge);
                *candidate = Some(Candidate {
                    net,
                    challenge,
                    at: now,
                    tries: 0,
                    came_bytes: counted,
                    left_bytes: 0,
                });
            }
            _ => {}
        }
    }

    /// The challenge that some path's other way is due.
    pub(super) fn rebind_datagram(&mut self, now: Instant) -> Option<(PathId, Vec<u8>)> {
        let due = |path: &&Path| {
            let ready = |candidate: &Candidate| {
                candidate.at <= now
                    && candidate.tries < CHALLENGE_TRIES
                    && candidate.budget() >= LEAST_BYTES
            };
            path.is_awake() && path.candidate.as_ref().is_some_and(ready)
        };
        let id = self.paths.values().find(due)?.id;
        let candidate = self.paths.get(&id)?.candidate?;
        let mut draft = self.begin_datagram(id)?;
        draft.put(&Frame::PathChallenge { data: candidate.challenge });
        // RFC 9000 §8.2.1: full size, as far as what came allows.
        draft.pad_to(MIN_INITIAL_BYTES.min(candidate.budget() as usize));
        // It says nothing about the path in use, so it is neither in flight nor ever lost there.
        (draft.eliciting, draft.padded) = (false, false);
        let (_, datagram) = self.finish_one_rtt(now, draft, id)?;
        let candidate = self.paths.get_mut(&id)?.candidate.as_mut()?;
        candidate.tries += 1;
        candidate.at = now + CHALLENGE_PERIOD;
        candidate.left_bytes += datagram.len() as u64;
        Some((candidate.net, datagram))
    }

    /// When the other way's challenge is due, or given up.
    pub(super) fn rebind_timer(path: &Path) -> Option<Instant> {
        path.candidate.filter(|_| path.is_awake()).map(|candidate| candidate.at)
    }

    pub(super) fn on_rebind_timer(&mut self, now: Instant, id: u32) {
        let no_cid = self.peer_cids.current(id).is_none();
        let Some(path) = self.paths.get_mut(&id) else { return };
        let Some(candidate) = path.candidate.as_mut().filter(|candidate| candidate.at <= now)
        else {
            return;
        };
        if candidate.tries >= CHALLENGE_TRIES {
            path.candidate = None;
        } else if no_cid || candidate.budget() < LEAST_BYTES {
            candidate.tries += 1;
            candidate.at = now + CHALLENGE_PERIOD;
        }
    }

    /// The peer answered on the other way: the path goes there, as a path of which nothing is known
    /// (RFC 9000 §9.4). Whether `data` was that answer.
    pub(super) fn rebind(&mut self, now: Instant, id: u32, data: [u8; 8]) -> bool {
        let answers =
            |path: &&Path| path.candidate.is_some_and(|candidate| candidate.challenge == data);
        let Some(old) = self.paths.get(&id).filter(answers) else { return false };
        let (from, candidate, failed) = (old.net, old.candidate, old.health == Health::Failed);
        let Some(Candidate { net: to, .. }) = candidate else { return false };
        self.give_up_flight(id); // the old way may have been dead for long
        let fresh = self.new_path(id, to);
        let Some(path) = self.paths.get_mut(&id) else { return false };
        path.candidate = None;
        path.net = to;
        (path.cc, path.rtt, path.ecn) = (fresh.cc, Rtt::default(), fresh.ecn);
        (path.feed, path.outage_noted) = (fresh.feed, false);
        path.silent_since = None;
        path.rtt_from = now; // RFC 9000 §9.4: packets sent on the old way do not measure the new one
        path.recovery_start = Some(now); // losses on the old way are not the new one's
        (path.in_recovery, path.pto_count, path.health) = (false, 0, Health::Good);
        path.cc.on_handshake(path.rtt.smoothed());
        self.events.push_back(Event::PathMoved(from, to));
        if failed {
            self.events.push_back(Event::PathRevived(to));
        }
        self.dispatch.on_path_event(now, from, PathEvent::Closed);
        self.dispatch.on_path_event(now, to, PathEvent::Established);
        true
    }
}
