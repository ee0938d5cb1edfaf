//! Which paths are backups, ours and by the peer's wish (draft-ietf-quic-multipath-21 §3.3).
//!
//! A backup path carries data only while no available path is usable; either end may ask for it.

use super::Path;
use crate::draft::Draft;
use crate::space::SentFrame;
use crate::wire::Frame;
use scheduler::PathSet;
use std::collections::BTreeMap;
use units::PathId;

/// What a PATH_STATUS_BACKUP or PATH_STATUS_AVAILABLE frame says of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PathStatus {
    pub sequence: u64,
    pub backup: bool,
}

/// The statuses of paths that do not exist yet.
#[derive(Debug, Default)]
pub(super) struct Statuses {
    /// The application wants the paths over these to be backups.
    backups: PathSet,
    /// What the peer said of path IDs before their first packet came; at most one for each path ID
    /// that we let the peer use.
    early: BTreeMap<u32, PathStatus>,
}

impl Statuses {
    /// Gives a new path the statuses that are known of it.
    pub fn apply_to(&mut self, path: &mut Path) {
        path.local_backup = self.backups.contains(path.net);
        if let Some(status) = self.early.remove(&path.id) {
            path.peer_status_sequence = Some(status.sequence);
            path.peer_backup = status.backup;
        }
    }

    /// The application's wish for the paths over `net`, this one and those to come.
    pub fn set(&mut self, net: PathId, backup: bool) {
        let backups = self.backups;
        self.backups = if backup { backups.with(net) } else { backups.without(net) };
    }

    /// The peer's wish for a path of which no packet came yet; false: it is older than another one.
    pub fn on_early(&mut self, id: u32, status: PathStatus) -> bool {
        let known = self.early.get(&id).map(|known| known.sequence);
        let newest = known.is_none_or(|known| known < status.sequence);
        if newest {
            self.early.insert(id, status);
        }
        newest
    }

    pub fn forget(&mut self, id: u32) {
        self.early.remove(&id);
    }
}

impl Path {
    /// Makes it a backup, or available again, by our wish: the frame that says so, if that is new.
    pub fn set_backup(&mut self, backup: bool) -> Option<Frame<'static>> {
        (self.local_backup != backup).then(|| {
            self.local_backup = backup;
            self.status_sequence += 1;
            self.status_frame()
        })
    }

    /// The peer's wish; false: it is older than another one.
    pub fn on_status(&mut self, status: PathStatus) -> bool {
        let newest = self.peer_status_sequence.is_none_or(|last| status.sequence > last);
        if newest {
            self.peer_status_sequence = Some(status.sequence);
            self.peer_backup = status.backup;
        }
        newest
    }

    /// What tells the peer of our wish.
    pub fn status_frame(&self) -> Frame<'static> {
        let (sequence, backup) = (self.status_sequence, self.local_backup);
        Frame::PathStatus { path: self.id, sequence, backup }
    }

    /// Writes the status of a backup path beside its challenge, so that the peer knows it before it
    /// may send data there.
    pub fn put_status(&self, draft: &mut Draft) {
        if self.local_backup && !self.validated {
            let status = self.status_frame();
            if draft.put(&status) {
                draft.frames.push(SentFrame::Control(Box::new(status)));
            }
        }
    }
}
