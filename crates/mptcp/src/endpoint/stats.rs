//! What the record wants to know.

use super::Endpoint;
use crate::subflow::SenderStats;
use recovery::InOrderWaits;
use units::{Bitrate, Duration, PathId};

/// Totals of a connection's own level.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    /// Times the connection's own retransmission timer fired.
    pub meta_timeouts: u64,
    /// Times a path had room and data was there but the receive window was closed.
    pub window_stalls: u64,
    /// Windows halved for holding up the receive window.
    pub penalisations: u64,
    /// Decisions to wait although some path had room.
    pub waits: u64,
}

/// One path of an endpoint, now and in total.
#[derive(Clone, Copy, Debug, Default)]
pub struct PathStats {
    /// Congestion window; zero while there is no subflow.
    pub cwnd_packets: u64,
    /// Smoothed RTT.
    pub srtt: Duration,
    /// Smallest RTT.
    pub min_rtt: Duration,
    /// Sent and neither delivered nor marked lost.
    pub in_flight_packets: u64,
    /// Rate at which the stack paces or would pace.
    pub pacing_rate: Bitrate,
    /// Payload delivered on the path, copies included.
    pub delivered_bytes: u64,
    /// Packets sent, retransmissions included.
    pub sent_packets: u64,
    /// Payload sent, retransmissions included.
    pub sent_bytes: u64,
    /// Packets marked lost.
    pub lost_packets: u64,
    /// Packets sent again on the same path.
    pub retransmitted_packets: u64,
    /// Segments assigned to the path that had been assigned to another before.
    pub reinjected_packets: u64,
    /// Copies assigned to the path on purpose, while the segment was under way on another.
    pub redundant_packets: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Episodes that proved spurious.
    pub undone: u64,
    /// Receiver: payload that came first on this path.
    pub unique_bytes: u64,
}

/// Sums over the subflows that a path had before the present one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PastSubflows {
    stats: SenderStats,
    delivered_bytes: u64,
}

impl PastSubflows {
    pub fn add(&mut self, stats: &SenderStats, delivered_bytes: u64) {
        self.stats = self.stats.plus(stats);
        self.delivered_bytes += delivered_bytes;
    }
}

impl Endpoint {
    /// State and totals of one path.
    pub fn path_stats(&self, path: PathId) -> PathStats {
        let Some(state) = self.paths.get(path.index()) else { return PathStats::default() };
        let tx = self.sender(path);
        let stats = tx.map_or(state.past.stats, |tx| state.past.stats.plus(&tx.stats));
        let delivered_bytes = tx.map_or(0, |tx| tx.delivered_bytes());
        PathStats {
            cwnd_packets: tx.map_or(0, |tx| tx.cwnd_packets()),
            srtt: tx.map_or(Duration::ZERO, |tx| tx.rtt.srtt()),
            min_rtt: tx.map_or(Duration::ZERO, |tx| tx.rtt.min()),
            in_flight_packets: tx.map_or(0, |tx| tx.in_flight_packets()),
            pacing_rate: tx.map_or(Bitrate::ZERO, |tx| tx.pacing_rate()),
            delivered_bytes: state.past.delivered_bytes + delivered_bytes,
            sent_packets: stats.sent_packets,
            sent_bytes: stats.sent_bytes,
            lost_packets: stats.lost_packets,
            retransmitted_packets: stats.retransmitted_packets,
            reinjected_packets: state.reinjected_packets,
            redundant_packets: state.redundant_packets,
            timeouts: stats.timeouts,
            undone: stats.undone,
            unique_bytes: state.unique_bytes,
        }
    }

    /// Smoothed RTT of one path; zero while there is no subflow.
    pub fn srtt(&self, path: PathId) -> Duration {
        self.sender(path).map_or(Duration::ZERO, |tx| tx.rtt.srtt())
    }

    /// Totals of the connection's own level.
    pub fn totals(&self) -> Totals {
        Totals { waits: self.dispatch.waits(), ..self.totals }
    }

    /// Receiver: how long bytes waited for earlier ones, in the subflow that brought them or in the
    /// connection.
    pub fn in_order_waits(&self) -> &InOrderWaits {
        &self.waits
    }

    /// Receiver: bytes that came more than once.
    pub fn duplicate_bytes(&self) -> u64 {
        self.receive.duplicate_bytes()
    }

    /// Sender: what the receive window still admits.
    pub fn window_left_bytes(&self) -> u64 {
        self.send.window_bytes().1
    }
}
