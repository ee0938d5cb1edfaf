//! Connection IDs, ours and the peer's, by path.

use crate::crypto;
use crate::error::{Code, TransportError};
use crate::wire::{ConnectionId, Frame, NewCid, ResetToken};
use rand::Rng;
use std::collections::BTreeMap;
use subtle::{Choice, ConstantTimeEq};

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
            telling(path, (self.local.add(path, cid), cid), reset_key)
        };
        (0..missing).map(frame).collect()
    }

    /// The frames that told the peer of those of a path.
    pub fn given(&self, path: u32, reset_key: &[u8; 32]) -> Vec<Frame<'static>> {
        self.local.of(path).map(|numbered| telling(path, numbered, reset_key)).collect()
    }
}

/// The frame that tells the peer of a connection ID of ours.
fn telling(
    path: u32,
    (sequence, cid): (u64, ConnectionId),
    reset_key: &[u8; 32],
) -> Frame<'static> {
    let token = crypto::reset_token(reset_key, &cid);
    let new = NewCid { sequence, retire_prior_to: 0, cid, token };
    Frame::NewConnectionId { path: (path > 0).then_some(path), new }
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

    /// Those of a path, with their sequence numbers.
    pub fn of(&self, path: u32) -> impl Iterator<Item = (u64, ConnectionId)> + '_ {
        let own = self.known.iter().filter(move |(_, (of, _))| *of == path);
        own.map(|(cid, (_, sequence))| (*sequence, *cid))
    }

    /// The sequence number that the next one of a path will have.
    pub fn next_sequence(&self, path: u32) -> u64 {
        self.next.get(&path).copied().unwrap_or(0)
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

/// One that we send to.
#[derive(Debug)]
struct PeerCid {
    cid: ConnectionId,
    token: Option<ResetToken>,
    /// Packets carried it: the peer may answer them with its token (RFC 9000 §10.3.1).
    used: bool,
}

#[derive(Debug, Default)]
struct PathCids {
    active: BTreeMap<u64, PeerCid>,
    retired_below: u64,
}

/// Those that we send to.
#[derive(Debug, Default)]
pub(crate) struct PeerCids {
    paths: BTreeMap<u32, PathCids>,
}

impl PeerCids {
    /// The first one, from the handshake, which is in use; replaces an earlier guess.
    pub fn set_first(&mut self, cid: ConnectionId, token: Option<ResetToken>) {
        let first = PeerCid { cid, token, used: true };
        self.paths.entry(0).or_default().active.insert(0, first);
    }

    pub fn current(&self, path: u32) -> Option<ConnectionId> {
        Some(self.paths.get(&path)?.active.values().next()?.cid)
    }

    /// The one that a packet carries.
    pub fn use_current(&mut self, path: u32) -> Option<ConnectionId> {
        let current = self.paths.get_mut(&path)?.active.values_mut().next()?;
        current.used = true;
        Some(current.cid)
    }

    /// Whether one of a path with this sequence number came, be it retired since.
    pub fn has(&self, path: u32, sequence: u64) -> bool {
        let of = self.paths.get(&path);
        of.is_some_and(|of| sequence < of.retired_below || of.active.contains_key(&sequence))
    }

    /// A further one: the sequence numbers to retire (RFC 9000 §5.1.2).
    pub fn add(&mut self, path: u32, new: &NewCid) -> Result<Vec<u64>, TransportError> {
        if self.current(path).is_some_and(|cid| cid.as_slice().is_empty()) {
            let reason = "an ID of a peer that has none"; // RFC 9000 §19.15
            return Err(TransportError::new(Code::ProtocolViolation, reason));
        }
        let of = self.paths.entry(path).or_default();
        if let Some(known) = of.active.get(&new.sequence) {
            let same = known.cid == new.cid; // RFC 9000 §19.15
            let error = TransportError::new(Code::ProtocolViolation, "an ID with two meanings");
            return if same { Ok(Vec::new()) } else { Err(error) };
        }
        of.retired_below = of.retired_below.max(new.retire_prior_to);
        let mut retired: Vec<u64> = of.active.range(..of.retired_below).map(|(n, _)| *n).collect();
        of.active = of.active.split_off(&of.retired_below);
        if new.sequence < of.retired_below {
            retired.push(new.sequence);
        } else {
            let further = PeerCid { cid: new.cid, token: Some(new.token), used: false };
            of.active.insert(new.sequence, further);
        }
        if of.active.len() as u64 > PER_PATH || retired.len() as u64 > 2 * PER_PATH {
            return Err(TransportError::new(Code::ConnectionIdLimit, "too many connection IDs"));
        }
        Ok(retired)
    }

    /// Whether the end of a datagram is the token of one that was used and is not retired
    /// (RFC 9000 §10.3.1). It takes the same time whichever it is, and however near.
    pub fn is_reset(&self, tail: &[u8; 16]) -> bool {
        let used = self.paths.values().flat_map(|of| of.active.values()).filter(|one| one.used);
        let tokens = used.filter_map(|one| one.token.as_ref());
        tokens.fold(Choice::from(0), |found, token| found | token.0.ct_eq(tail)).into()
    }

    pub fn drop_path(&mut self, path: u32) {
        self.paths.remove(&path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(sequence: u64, retire_prior_to: u64) -> NewCid {
        let cid = ConnectionId::new(&[sequence as u8; 8]).unwrap();
        NewCid { sequence, retire_prior_to, cid, token: token(sequence) }
    }

    fn token(sequence: u64) -> ResetToken {
        ResetToken([sequence as u8 + 100; 16])
    }

    /// RFC 9000 §10.3.1.
    #[test]
    fn only_tokens_of_ids_in_use_end_a_connection() {
        let mut cids = PeerCids::default();
        cids.add(1, &new(0, 0)).unwrap();
        cids.add(1, &new(1, 0)).unwrap();
        assert!(!cids.is_reset(&token(0).0), "it was never used");
        cids.use_current(1);
        assert!(cids.is_reset(&token(0).0) && !cids.is_reset(&token(1).0));
        assert!(!cids.is_reset(&[100; 16].map(|byte| byte ^ 1)));
        assert_eq!(cids.add(1, &new(2, 1)).unwrap(), [0]);
        assert!(!cids.is_reset(&token(0).0), "it is retired");
        cids.use_current(1);
        assert!(cids.is_reset(&token(1).0));
        cids.drop_path(1);
        assert!(!cids.is_reset(&token(1).0));
    }

    #[test]
    fn what_is_given_is_what_is_missing() {
        use rand::SeedableRng;
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
        let mut cids = Cids::default();
        assert_eq!(cids.give(3, 2, &[0; 32], &mut rng).len(), 2);
        assert_eq!(cids.give(3, 2, &[0; 32], &mut rng).len(), 0);
        assert_eq!((cids.local.retire(3, 0), cids.local.retire(3, 0)), (Ok(true), Ok(false)));
        assert!(cids.local.retire(3, 2).is_err(), "it was never given");
        let frames = cids.give(3, 2, &[0; 32], &mut rng);
        assert!(
            matches!(&frames[..], [Frame::NewConnectionId { path: Some(3), new }] if new.sequence == 2)
        );
        cids.drop_path(3);
        assert_eq!(cids.held_bytes(), 0);
    }
}
