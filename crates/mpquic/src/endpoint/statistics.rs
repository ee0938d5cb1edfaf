//! What can be asked of an endpoint.

use super::Endpoint;
use crate::path::{EcnPath, PathStats};
use crate::totals::Totals;
use recovery::InOrderWaits;
use units::{Duration, PathId};

impl Endpoint {
    /// Counts of the connection.
    pub fn totals(&self) -> Totals {
        let counted = &self.streams.counted;
        Totals {
            in_order_bytes: counted.in_order_bytes,
            duplicate_bytes: counted.duplicate_bytes,
            reorder_bytes: self.streams.waits.waiting_bytes(),
            reorder_max_bytes: self.streams.waits.waiting_max_bytes(),
            waits: self.scheduling.dispatch.waits(),
            idle_frames: self.control.upkeep.idle(),
            ..self.trace.totals
        }
    }

    /// Receiver: how long bytes of streams waited for earlier ones; paths are those of the caller.
    pub fn in_order_waits(&self) -> &InOrderWaits {
        &self.streams.waits
    }

    /// What the paths over `net` have carried; `None` when there never was one.
    pub fn path_stats(&self, net: PathId) -> Option<PathStats> {
        self.paths.stats(net)
    }

    /// What the peer's flow control still admits: the connection's window, and together those of the
    /// streams that are not finished.
    pub fn send_window_bytes(&self) -> u64 {
        self.streams.send_window_bytes()
    }

    /// What an application should keep in the connection's hands, so that its paths never run dry: two
    /// windows of each path (as Linux `tcp_sndbuf_expand`), and what the others carry in two round trips
    /// of the slowest, whose bytes are acknowledged last.
    pub fn worth_holding_bytes(&self) -> u64 {
        let paths = || self.paths.values().filter(|path| path.carries_data());
        let longest = paths().map(|path| path.rtt.smoothed()).max().unwrap_or(Duration::ZERO);
        let windows = paths().map(|path| {
            let (window, srtt) = (u128::from(path.cc.window_bytes()), path.rtt.smoothed());
            window * u128::from(longest.as_nanos()) / u128::from(srtt.as_nanos().max(1))
        });
        u64::try_from(2 * windows.sum::<u128>()).unwrap_or(u64::MAX)
    }

    /// Whether datagrams that leave on `net` are to be marked ECT(0): [`Config::ecn`](crate::Config::ecn), and nothing in
    /// the way there has cleared or dropped the marks (RFC 9000 §13.4.2.2).
    pub fn marks_ecn(&self, net: PathId) -> bool {
        let path = self.paths.values().rev().find(|path| path.net == net);
        path.map_or(self.config.ecn, |path| path.ecn != EcnPath::Off)
    }

    /// Bytes that the connection holds for its peer and its application, bookkeeping of pieces
    /// included.
    pub fn held_bytes(&self) -> u64 {
        let handshake = self.handshake.held_bytes();
        let owed = self.control.held_bytes() + self.cids.held_bytes();
        self.streams.held_bytes() + self.datagrams.held_bytes() + handshake as u64 + owed
    }

    /// Packets whose fate is not known yet, and bookkeeping for it; bounded by the windows.
    pub fn tracked_packets(&self) -> usize {
        self.paths.values().map(|path| path.space.sent.len()).sum()
    }
}
