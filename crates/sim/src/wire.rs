//! What travels on the links of a run.

use link::WireSize;
use mptcp::Segment;
use units::PathId;

/// A segment on its way, with the connection and the path of that connection it belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wire {
    pub connection: u16,
    pub path: PathId,
    pub segment: Segment,
}

impl WireSize for Wire {
    fn wire_bytes(&self) -> u64 {
        self.segment.wire_bytes
    }
}
