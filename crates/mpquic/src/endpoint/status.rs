//! Which paths are backups, ours and by the peer's wish (draft-ietf-quic-multipath-21 §3.3).
//!
//! A backup path carries data only while no available path is usable; either end may ask for it.

use super::Endpoint;
use super::frames::violation;
use super::packets::Draft;
use crate::error::{Error, TransportError};
use crate::event::Event;
use crate::path::Path;
use crate::space::SentFrame;
use crate::wire::Frame;
use scheduler::PathSet;
use std::collections::BTreeMap;
use units::PathId;

/// What a PATH_STATUS_BACKUP or PATH_STATUS_AVAILABLE frame says of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PathStatus {
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

    pub fn forget(&mut self, id: u32) {
        self.early.remove(&id);
    }
}

impl Endpoint {
    /// Makes the paths over `net` backups, or available again, for our scheduler and for the peer's.
    /// It holds for the present path and for those that are opened over `net` later.
    ///
    /// # Errors
    /// [`Error::Path`] for a path that a scheduler cannot tell apart from others.
    pub fn set_path_status(&mut self, net: PathId, backup: bool) -> Result<(), Error> {
        if net.0 >= super::paths::MAX_NET_PATHS {
            return Err(Error::Path(net.0));
        }
        let backups = self.statuses.backups;
        self.statuses.backups = if backup { backups.with(net) } else { backups.without(net) };
        let Some(path) = self.id_of(net).and_then(|id| self.paths.get_mut(&id)) else {
            return Ok(());
        };
        if path.local_backup != backup {
            path.local_backup = backup;
            path.status_sequence += 1;
            let status = status_of(path);
            if self.multipath {
                self.control.push_back(status);
            }
        }
        Ok(())
    }

    /// Tells the peer about the connection's first path, which began before both ends knew that they
    /// speak multipath.
    pub(super) fn announce_first_status(&mut self) {
        let backup = |path: &&Path| path.local_backup;
        if let Some(path) = self.paths.get(&0).filter(backup) {
            self.control.push_back(status_of(path));
        }
    }

    /// Writes the status of a backup path beside its challenge, so that the peer knows it before it
    /// may send data there.
    pub(super) fn put_status(path: &Path, draft: &mut Draft) {
        if path.local_backup && !path.validated {
            let status = status_of(path);
            if draft.put(&status) {
                draft.frames.push(SentFrame::Control(Box::new(status)));
            }
        }
    }

    pub(super) fn on_path_status(
        &mut self,
        id: u32,
        status: PathStatus,
    ) -> Result<(), TransportError> {
        if !self.path_ids.is_allowed(id) {
            return Err(violation("the status of a path beyond the limit"));
        }
        if let Some(path) = self.paths.get_mut(&id) {
            if path.peer_status_sequence.is_none_or(|last| status.sequence > last) {
                path.peer_status_sequence = Some(status.sequence);
                path.peer_backup = status.backup;
                self.events.push_back(Event::PathStatus(path.net, status.backup));
            }
        } else if !self.is_path_over(id) {
            let known = self.statuses.early.entry(id).or_insert(status);
            if known.sequence < status.sequence {
                *known = status;
            }
        }
        Ok(())
    }
}

fn status_of(path: &Path) -> Frame<'static> {
    let (sequence, backup) = (path.status_sequence, path.local_backup);
    Frame::PathStatus { path: path.id, sequence, backup }
}
