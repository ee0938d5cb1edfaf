//! Connection IDs, ours and the peer's, by path.

use crate::crypto;
use crate::error::{Code, TransportError};
use crate::wire::{ConnectionId, Frame, NewCid, ResetToken};
use rand::Rng;
use std::collections::BTreeMap;

/// Length of our connection IDs.
pub const LOCAL_LEN: usize = 8;
/// Connection IDs per path that we keep of the peer's, and give it.
pub(crate) const PER_PATH: u64 = 2;

/// Memory that one takes, about: itself, its token, and its places in tables.
const EACH_BYTES: usize = 128;

/// A connection ID of ours, by chance.
pub(crate) fn random(rng: &mut impl Rng) -> ConnectionId {
    let mut bytes = [0; LOCAL_LEN];
    rng.fill_bytes(&mut bytes);
    ConnectionId::new(&bytes).unwrap_or_default() // 8 bytes are never too long
}

/// Both ends' connection IDs.
#[derive(Debug, Default)]
pub(crate) struct Cids {
    pub local: LocalCids,
    pub peer: PeerCids,
    /// Paths looked at for connection IDs that they lack: the work that the peer causes.
    #[cfg(test)]
    pub looked_at: u64,
}

impl Cids {
    pub fn drop_path(&mut self, path: u32) {
        self.local.drop_path(path);
        self.peer.drop_path(path);
    }

    /// Memory that they take, about; those of paths that are over are forgotten.
    pub fn held_bytes(&self) -> u64 {
        let theirs: usize = self.peer.paths.values().map(|of| of.active.len()).sum();
        ((self.local.known.len() + theirs) * EACH_BYTES) as u64
    }

    /// Further ones of ours for a path, until the peer has `wanted`: the frames that tell it.
    pub fn give(
        &mut self,
        path: u32,
        wanted: u64,
        reset_key: &[u8; 32],
        rng: &mut impl Rng,
    ) -> Vec<Frame<'static>> {
        #[cfg(test)]
        {
            self.looked_at += 1;
        }
        let missing = wanted.saturating_sub(self.local.active(path));
        let frame = |_| {
            let cid = random(rng);
            let sequence = self.local.add(path, cid);
            let token = crypto::reset_token(reset_key, &cid);
            let new = NewCid { sequence, retire_prior_to: 0, cid, token };
            Frame::NewConnectionId { path: (path > 0).then_some(path), new }
        };
        (0..missing).map(frame).collect()
    }
}

/// Those that the peer sends to.
#[derive(Debug, Default)]
pub(crate) struct LocalCids {
    known: BTreeMap<ConnectionId, (u32, u64)>,
    /// Next sequence number of each path.
    next: BTreeMap<u32, u64>,
    /// What came (true) and went since it was last asked for; `None` as long as nobody asked.
    changes: Option<Vec<(ConnectionId, bool)>>,
}

impl LocalCids {
    pub fn add(&mut self, path: u32, cid: ConnectionId) -> u64 {
        let next = self.next.entry(path).or_default();
        let sequence = *next;
        *next += 1;
        self.known.insert(cid, (path, sequence));
        self.changes.iter_mut().for_each(|changes| changes.push((cid, true)));
        sequence
    }

    pub fn take_changes(&mut self) -> Vec<(ConnectionId, bool)> {
        let known = || self.known.keys().map(|cid| (*cid, true)).collect();
        self.changes.replace(Vec::new()).unwrap_or_else(known)
    }

    fn keep(&mut self, keeps: impl Fn(&(u32, u64)) -> bool) {
        let changes = &mut self.changes;
        self.known.retain(|cid, place| {
            let kept = keeps(place);
            changes.iter_mut().filter(|_| !kept).for_each(|changes| changes.push((*cid, false)));
            kept
        });
    }

    pub fn path_of(&self, cid: &ConnectionId) -> Option<u32> {
        self.known.get(cid).map(|(path, _)| *path)
    }

    pub fn active(&self, path: u32) -> u64 {
        self.known.values().filter(|(of, _)| *of == path).count() as u64
    }

    /// The peer retires one; false: it did before. `Err`: it was never given.
    pub fn retire(&mut self, path: u32, sequence: u64) -> Result<bool, TransportError> {
        if self.next.get(&path).is_none_or(|next| sequence >= *next) {
            // RFC 9000 §19.16
            return Err(TransportError::new(Code::ProtocolViolation, "retired an unknown ID"));
        }
        let before = self.known.len();
        self.keep(|place| *place != (path, sequence));
        Ok(self.known.len() < before)
    }

    pub fn drop_path(&mut self, path: u32) {
        self.next.remove(&path);
        self.keep(|(of, _)| *of != path);
    }
}

#[derive(Debug, Default)]
struct PathCids {
    active: BTreeMap<u64, (ConnectionId, Option<ResetToken>)>,
    retired_below: u64,
}

/// Those that we send to.
#[derive(Debug, Default)]
pub(crate) struct PeerCids {
    paths: BTreeMap<u32, PathCids>,
}

impl PeerCids {
    /// The first one, from the handshake; replaces an earlier guess.
    pub fn set_first(&mut self, cid: ConnectionId, token: Option<ResetToken>) {
        self.paths.entry(0).or_default().active.insert(0, (cid, token));
    }

    pub fn current(&self, path: u32) -> Option<ConnectionId> {
        let (cid, _) = self.paths.get(&path)?.active.values().next()?;
        Some(*cid)
    }

    /// Whether one of a path with this sequence number came, be it retired since.
    pub fn has(&self, path: u32, sequence: u64) -> bool {
        let of = self.paths.get(&path);
        of.is_some_and(|of| sequence < of.retired_below || of.active.contains_key(&sequence))
    }

    /// A further one: the sequence numbers to retire (RFC 9000 §5.1.2).
    pub fn add(&mut self, path: u32, new: &NewCid) -> Result<Vec<u64>, TransportError> {
        let of = self.paths.entry(path).or_default();
        if let Some((cid, _)) = of.active.get(&new.sequence) {
            let same = *cid == new.cid; // RFC 9000 §19.15
            let error = TransportError::new(Code::ProtocolViolation, "an ID with two meanings");
            return if same { Ok(Vec::new()) } else { Err(error) };
        }
        of.retired_below = of.retired_below.max(new.retire_prior_to);
        let mut retired: Vec<u64> = of.active.range(..of.retired_below).map(|(n, _)| *n).collect();
        of.active = of.active.split_off(&of.retired_below);
        if new.sequence < of.retired_below {
            retired.push(new.sequence);
        } else {
            of.active.insert(new.sequence, (new.cid, Some(new.token)));
        }
        if of.active.len() as u64 > PER_PATH || retired.len() as u64 > 2 * PER_PATH {
            return Err(TransportError::new(Code::ConnectionIdLimit, "too many connection IDs"));
        }
        Ok(retired)
    }

    /// Whether `datagram` ends with the token of one of them (RFC 9000 §10.3.1).
    pub fn is_reset(&self, datagram: &[u8]) -> bool {
        let Some(tail) = datagram.last_chunk::<16>().filter(|_| datagram.len() >= 21) else {
            return false;
        };
        let tail = ResetToken(*tail);
        let cids = self.paths.values().flat_map(|of| of.active.values());
        cids.filter_map(|(_, token)| *token).any(|token| token == tail)
    }

    pub fn drop_path(&mut self, path: u32) {
        self.paths.remove(&path);
    }
}
