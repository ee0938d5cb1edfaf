//! Which paths are backups (draft-ietf-quic-multipath-21 §3.3).

use super::Endpoint;
use crate::error::{Error, TransportError};
use crate::event::Event;
use crate::path::{MAX_NETS, PathStatus};
use units::PathId;

impl Endpoint {
    /// Makes the paths over `net` backups, or available again, for our scheduler and for the peer's.
    /// It holds for the present path and for those that are opened over `net` later.
    ///
    /// # Errors
    /// [`Error::Path`] for a path that a scheduler cannot tell apart from others.
    pub fn set_path_status(&mut self, net: PathId, backup: bool) -> Result<(), Error> {
        if net.0 >= MAX_NETS {
            return Err(Error::Path(net.0));
        }
        let frame = self.paths.set_backup(net, backup);
        self.control.extend(frame.filter(|_| self.paths.multipath));
        Ok(())
    }

    /// Tells the peer about the connection's first path, which began before both ends knew that they
    /// speak multipath.
    pub(super) fn announce_first_status(&mut self) {
        if let Some(path) = self.paths.get(0).filter(|path| path.local_backup) {
            self.control.push(path.status_frame());
        }
    }

    pub(super) fn on_path_status(
        &mut self,
        id: u32,
        status: PathStatus,
    ) -> Result<bool, TransportError> {
        if !self.paths.ids.is_allowed(id) {
            return Err(TransportError::violation("the status of a path beyond the limit"));
        }
        let (changed, net) = self.paths.on_status(id, status);
        if let Some(net) = net.filter(|_| changed) {
            self.trace.event(Event::PathStatus(net, status.backup));
        }
        Ok(changed)
    }
}
