//! What a run leaves behind; the columns are those of `python/skyweave/model/record.py`.

use crate::exposure::Caused;
use application::{Column, Row};
use link::LinkTotals;
use recovery::Blocked;
use serde::Serialize;
use std::collections::BTreeMap;

/// Samples, events and totals of a run.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Names of the paths that `path` in the rows counts.
    pub path_names: Vec<String>,
    /// One row per sample time, connection and path, and one for the connection itself.
    pub samples: Vec<SampleRow>,
    /// One row per event at the sending end.
    pub events: Vec<EventRow>,
    /// What the applications measured, by kind of workload: those that have a table.
    pub applications: BTreeMap<&'static str, ApplicationTable>,
    /// Sums over the run.
    pub totals: Totals,
}

/// The rows of all connections with a kind of workload.
#[derive(Clone, Debug, Default)]
pub struct ApplicationTable {
    /// Its columns, without that of the connection.
    pub columns: &'static [Column],
    /// Place of the connection in the run, and what one of its ends measured.
    pub rows: Vec<(usize, Row)>,
}

/// One sample. A path's row leaves the connection's columns zero, and the other way round.
#[derive(Clone, Copy, Debug, Default)]
pub struct SampleRow {
    /// When.
    pub time_s: f64,
    /// Time since the sample before.
    pub interval_s: f64,
    /// Place of the connection in the run.
    pub connection: usize,
    /// Place of the path in the run; `None` in the connection's own row.
    pub path: Option<usize>,
    /// Congestion window.
    pub cwnd_packets: u64,
    /// Smoothed RTT.
    pub srtt_ms: f64,
    /// Packets in flight.
    pub in_flight_packets: u64,
    /// Pacing rate of the sender.
    pub pacing_mbps: f64,
    /// Payload delivered since the start: on the path, or to the application.
    pub delivered_bytes: u64,
    /// Packets marked lost since the start.
    pub lost_packets: u64,
    /// Packets retransmitted since the start.
    pub retransmitted_packets: u64,
    /// Bytes in the queue of the link that the data take.
    pub queue_bytes: u64,
    /// What the application got since the sample before.
    pub goodput_mbps: f64,
    /// Bytes at the receiver that wait for a hole in the stream.
    pub reorder_buffer_bytes: u64,
    /// What the receive window still admits at the sender.
    pub send_window_bytes: u64,
}

/// One event.
#[derive(Clone, Copy, Debug)]
pub struct EventRow {
    /// When.
    pub time_s: f64,
    /// Place of the connection in the run.
    pub connection: usize,
    /// Place of the path in the run, if it concerns one.
    pub path: Option<usize>,
    /// What: as [`mptcp::EventKind::name`], and `over` when QUIC gives up.
    pub event: &'static str,
    /// The number that goes with it ([`mptcp::EventKind::value`]).
    pub value: f64,
}

/// Sums over a run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Totals {
    /// Virtual time that passed.
    pub simulated_s: f64,
    /// Segments and acknowledgements that left a link.
    pub link_packets: u64,
    /// One entry per connection.
    pub connections: Vec<ConnectionTotals>,
    /// Per link, "NAME.down" and "NAME.up".
    pub links: BTreeMap<String, LinkTotals>,
}

/// Sums of one connection.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it; python/skyweave/model/totals.py lists them")]
pub struct ConnectionTotals {
    pub transport: &'static str,
    pub scheduler: String,
    pub congestion: &'static str,
    pub direction: &'static str,
    pub start_s: f64,
    pub completion_s: Option<f64>,
    pub delivered_bytes: u64,
    pub goodput_mbps: f64,
    pub longest_stall_s: Option<f64>,
    pub frozen_s: Option<f64>,
    pub in_order_wait_mean_ms: Option<f64>,
    pub in_order_wait_p50_ms: Option<f64>,
    pub in_order_wait_p99_ms: Option<f64>,
    pub in_order_wait_longest_ms: Option<f64>,
    pub duplicate_bytes: u64,
    pub reorder_buffer_max_bytes: u64,
    pub meta_timeouts: u64,
    pub window_stalls: u64,
    pub penalisations: u64,
    pub waits: u64,
    pub paths: BTreeMap<String, PathTotals>,
}

/// Sums of one path of a connection.
#[derive(Clone, Copy, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it; python/skyweave/model/totals.py lists them")]
pub struct PathTotals {
    pub sent_packets: u64,
    pub sent_bytes: u64,
    pub lost_packets: u64,
    pub retransmitted_packets: u64,
    pub reinjected_packets: u64,
    pub redundant_packets: u64,
    pub timeouts: u64,
    pub spurious_timeouts: u64,
    pub unique_bytes: u64,
    pub min_rtt_ms: f64,
    pub blocked_others_byte_s: f64,
    pub blocked_own_byte_s: f64,
    pub outage_retransmitted_packets: Option<u64>,
    pub outage_reinjected_packets: Option<u64>,
}

impl PathTotals {
    /// How long what came waited for segments on this path.
    pub(crate) fn add_blocked(&mut self, blocked: Blocked) {
        self.blocked_others_byte_s = blocked.others_byte_s;
        self.blocked_own_byte_s = blocked.own_byte_s;
    }

    /// What outages caused.
    pub(crate) fn add_caused(&mut self, caused: Caused) {
        self.outage_retransmitted_packets = Some(caused.retransmitted_packets);
        self.outage_reinjected_packets = Some(caused.reinjected_packets);
    }

    /// Together with another subflow over the same path.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        Self {
            sent_packets: self.sent_packets + other.sent_packets,
            sent_bytes: self.sent_bytes + other.sent_bytes,
            lost_packets: self.lost_packets + other.lost_packets,
            retransmitted_packets: self.retransmitted_packets + other.retransmitted_packets,
            reinjected_packets: self.reinjected_packets + other.reinjected_packets,
            redundant_packets: self.redundant_packets + other.redundant_packets,
            timeouts: self.timeouts + other.timeouts,
            spurious_timeouts: self.spurious_timeouts + other.spurious_timeouts,
            unique_bytes: self.unique_bytes + other.unique_bytes,
            min_rtt_ms: self.min_rtt_ms.min(other.min_rtt_ms),
            blocked_others_byte_s: self.blocked_others_byte_s + other.blocked_others_byte_s,
            blocked_own_byte_s: self.blocked_own_byte_s + other.blocked_own_byte_s,
            outage_retransmitted_packets: both(
                self.outage_retransmitted_packets,
                other.outage_retransmitted_packets,
            ),
            outage_reinjected_packets: both(
                self.outage_reinjected_packets,
                other.outage_reinjected_packets,
            ),
        }
    }
}

fn both(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    Some(one? + other?)
}
