//! Active and standby: one path carries everything, the others wait for it to fail.

use crate::default_pick::serving;
use crate::{Capabilities, ConnectionView, Decision, Scheduler};
use parameters::Info;

pub(crate) const INFO: Info = Info {
    name: "backup",
    title: "Active and standby: the first path alone while it is usable",
    source: "ours, after the backup flag of RFC 8684 §3.2",
    parameters: &[],
};

/// Sends on the first usable path in the order of their ids, and waits for room there; the others
/// serve while no earlier one is usable. A path that is flagged as a backup comes after those that
/// are not. A reinjection goes to the first that did not carry the segment.
#[derive(Debug, Default)]
pub struct Backup;

impl Scheduler for Backup {
    fn select(&mut self, view: &ConnectionView<'_>) -> Decision {
        match serving(view).find(|path| !path.tried) {
            Some(path) if path.has_room => Decision::Send(path.id),
            _ => Decision::Wait(None),
        }
    }

    /// It would send the head of the stream again on the standby paths.
    fn capabilities(&self) -> Capabilities {
        Capabilities { receive_buffer_optimisation: false, ..Capabilities::default() }
    }
}
