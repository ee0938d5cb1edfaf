//! TCP and Multipath TCP.

use super::{Counts, End, Noted, Received};
use crate::outcome::{PathTotals, SampleRow};
use crate::wire::Packet;
use mptcp::Endpoint;
use scheduler::Outage;
use units::{Duration, Instant, PathId};

impl End for Endpoint {
    fn open(&mut self, _now: Instant, bytes: u64) {
        if bytes > 0 {
            self.offer(bytes);
        }
    }

    fn handle(&mut self, now: Instant, path: PathId, packet: Packet) {
        if let Packet::Segment(segment) = packet {
            Endpoint::handle(self, now, path, &segment);
        }
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(PathId, Packet)> {
        let (path, segment) = Endpoint::poll_transmit(self, now)?;
        Some((path, Packet::Segment(segment)))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        Endpoint::poll_timeout(self)
    }

    fn on_timeout(&mut self, now: Instant) {
        Endpoint::on_timeout(self, now);
    }

    fn path_up(&mut self, now: Instant, path: PathId) {
        Endpoint::path_up(self, now, path);
    }

    fn path_down(&mut self, now: Instant, path: PathId) {
        Endpoint::path_down(self, now, path);
    }

    fn set_forecast(&mut self, path: PathId, outages: Vec<Outage>) {
        Endpoint::set_forecast(self, path, outages);
    }

    fn sample(&self, path: PathId, row: &mut SampleRow) {
        let stats = self.path_stats(path);
        row.cwnd_packets = stats.cwnd_packets;
        row.srtt_ms = stats.srtt.as_secs_f64() * 1e3;
        row.in_flight_packets = stats.in_flight_packets;
        row.pacing_mbps = stats.pacing_rate.as_mbps();
        row.delivered_bytes = stats.delivered_bytes;
        row.lost_packets = stats.lost_packets;
        row.retransmitted_packets = stats.retransmitted_packets;
    }

    fn path_totals(&self, path: PathId) -> PathTotals {
        let stats = self.path_stats(path);
        PathTotals {
            sent_packets: stats.sent_packets,
            sent_bytes: stats.sent_bytes,
            lost_packets: stats.lost_packets,
            retransmitted_packets: stats.retransmitted_packets,
            reinjected_packets: stats.reinjected_packets,
            redundant_packets: stats.redundant_packets,
            timeouts: stats.timeouts,
            spurious_timeouts: stats.undone,
            unique_bytes: stats.unique_bytes,
            min_rtt_ms: stats.min_rtt.as_secs_f64() * 1e3,
            outage_retransmitted_packets: None,
            outage_reinjected_packets: None,
        }
    }

    fn srtt(&self, path: PathId) -> Duration {
        Endpoint::srtt(self, path)
    }

    fn delivered_bytes(&self) -> u64 {
        Endpoint::delivered_bytes(self)
    }

    fn counts(&self) -> Counts {
        let totals = self.totals();
        Counts {
            meta_timeouts: totals.meta_timeouts,
            window_stalls: totals.window_stalls,
            penalisations: totals.penalisations,
            waits: totals.waits,
            window_left_bytes: self.window_left_bytes(),
        }
    }

    fn received(&self) -> Received {
        let (waiting_bytes, waiting_max_bytes, duplicate_bytes) = self.reorder_bytes();
        Received { waiting_bytes, waiting_max_bytes, duplicate_bytes }
    }

    fn take_events(&mut self) -> Vec<Noted> {
        let noted = |event: mptcp::Event| Noted {
            at: event.at,
            path: event.path,
            name: event.kind.name(),
            value: event.kind.value(),
        };
        Endpoint::take_events(self).into_iter().map(noted).collect()
    }
}
