//! TCP and Multipath TCP: the model carries byte counts, and what the bytes are stays beside it.

use super::{Counts, End, Noted};
use crate::outcome::{PathTotals, SampleRow};
use crate::wire::Packet;
use application::{
    Application, Forecasts, PathStatus, Pipe, Read, Signal, StreamId, Streams, deliver,
};
use forecast::Forecast;
use mptcp::Endpoint;
use recovery::{BlockedTime, InOrderWaits};
use std::cell::RefCell;
use std::rc::Rc;
use units::{Duration, Instant, PathId};

/// The only stream.
const STREAM: StreamId = StreamId(0);

/// One end, and the bytes of both directions.
#[derive(Debug)]
pub(crate) struct TcpEnd {
    endpoint: Endpoint,
    paths: usize,
    /// When the application was called last.
    now: Instant,
    forecasts: Forecasts,
    sent: Rc<RefCell<Pipe>>,
    received: Rc<RefCell<Pipe>>,
    is_open: bool,
    /// What the application has heard of.
    signalled_bytes: u64,
    signalled_end: bool,
}

impl TcpEnd {
    /// Both ends of a connection, client first.
    pub fn pair(client: Endpoint, server: Endpoint, paths: usize) -> (Self, Self) {
        let [up, down] = [(); 2].map(|()| Rc::new(RefCell::new(Pipe::default())));
        let end = |endpoint, sent: &Rc<_>, received: &Rc<_>| Self {
            endpoint,
            paths,
            now: Instant::ZERO,
            forecasts: Forecasts::default(),
            sent: Rc::clone(sent),
            received: Rc::clone(received),
            is_open: false,
            signalled_bytes: 0,
            signalled_end: false,
        };
        (end(client, &up, &down), end(server, &down, &up))
    }
}

impl Streams for TcpEnd {
    fn has_one_stream(&self) -> bool {
        true
    }

    fn open(&mut self, _both_ways: bool) -> Option<StreamId> {
        Some(STREAM)
    }

    /// The model takes everything and cuts off what its send buffer holds.
    fn write(&mut self, _stream: StreamId, data: &[u8]) -> usize {
        self.sent.borrow_mut().write(data);
        self.endpoint.offer(data.len() as u64);
        data.len()
    }

    fn write_filler(&mut self, _stream: StreamId, bytes: u64) -> u64 {
        let written = self.sent.borrow_mut().write_zeros(bytes);
        self.endpoint.offer(written);
        written
    }

    fn finish(&mut self, _stream: StreamId) {
        self.sent.borrow_mut().finish();
    }

    fn read(&mut self, _stream: StreamId, most_bytes: usize) -> Read {
        let mut received = self.received.borrow_mut();
        let unread = self.endpoint.delivered_bytes() - received.read_bytes();
        let most = usize::try_from(unread).unwrap_or(usize::MAX).min(most_bytes);
        match received.read(most) {
            data if !data.is_empty() => {
                self.endpoint.read(self.now, data.len() as u64);
                Read::Data(data)
            }
            _ if received.is_drained() => Read::Finished,
            _ => Read::Blocked,
        }
    }

    fn skip(&mut self, _stream: StreamId, most_bytes: u64) -> u64 {
        let mut received = self.received.borrow_mut();
        let unread = self.endpoint.delivered_bytes() - received.read_bytes();
        let skipped = received.skip(most_bytes.min(unread));
        if skipped > 0 {
            self.endpoint.read(self.now, skipped);
        }
        skipped
    }

    fn blocked_time(&self) -> Option<BlockedTime> {
        Some(self.endpoint.in_order_waits().blocked_time())
    }

    fn forecast(&self, path: PathId) -> Option<&Forecast> {
        self.forecasts.get(path)
    }

    fn paths(&self) -> Vec<PathStatus> {
        let status = |path: usize| {
            let path = PathId(path as u8);
            let stats = self.endpoint.path_stats(path);
            let mss_bytes = self.endpoint.mss_bytes();
            PathStatus {
                path,
                srtt: stats.srtt,
                min_rtt: stats.min_rtt,
                cwnd_bytes: stats.cwnd_packets * mss_bytes,
                in_flight_bytes: stats.in_flight_packets * mss_bytes,
                pacing_rate: stats.pacing_rate,
                acked_bytes: stats.delivered_bytes,
                received_bytes: stats.unique_bytes,
            }
        };
        (0..self.paths).map(status).filter(|status| status.cwnd_bytes > 0).collect()
    }
}

impl End for TcpEnd {
    /// The client begins with its first interface, the server when it hears of it.
    fn open(&mut self, _now: Instant) {}

    fn serve(&mut self, now: Instant, application: &mut dyn Application) {
        self.now = now;
        if !self.is_open && self.endpoint.is_open() {
            self.is_open = true;
            deliver(application, now, Signal::Open, self);
        }
        let delivered_bytes = self.endpoint.delivered_bytes();
        let ended = !self.signalled_end && self.received.borrow().is_finished_at(delivered_bytes);
        if delivered_bytes > self.signalled_bytes || ended {
            self.signalled_bytes = delivered_bytes;
            self.signalled_end |= ended;
            deliver(application, now, Signal::Readable(STREAM), self);
        }
        deliver(application, now, Signal::Timer, self);
    }

    fn handle(&mut self, now: Instant, path: PathId, packet: Packet) -> Option<Vec<u8>> {
        if let Packet::Segment(segment) = packet {
            self.endpoint.handle(now, path, &segment);
        }
        None
    }

    fn reuse(&mut self, _memory: Vec<u8>) {}

    fn poll_transmit(&mut self, now: Instant) -> Option<(PathId, Packet)> {
        let (path, segment) = self.endpoint.poll_transmit(now)?;
        Some((path, Packet::Segment(segment)))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.endpoint.poll_timeout()
    }

    fn on_timeout(&mut self, now: Instant) {
        self.endpoint.on_timeout(now);
    }

    fn path_up(&mut self, now: Instant, path: PathId) {
        self.endpoint.path_up(now, path);
    }

    fn path_down(&mut self, now: Instant, path: PathId) {
        self.endpoint.path_down(now, path);
    }

    fn foresee(&mut self, path: PathId, forecast: Forecast) {
        self.forecasts.update(path, forecast);
    }

    fn set_forecast(&mut self, path: PathId, forecast: Forecast) {
        self.endpoint.set_forecast(path, forecast);
    }

    fn sample(&self, path: PathId, row: &mut SampleRow) {
        let stats = self.endpoint.path_stats(path);
        row.cwnd_packets = stats.cwnd_packets;
        row.srtt_ms = stats.srtt.as_secs_f64() * 1e3;
        row.in_flight_packets = stats.in_flight_packets;
        row.pacing_mbps = stats.pacing_rate.as_mbps();
        row.delivered_bytes = stats.delivered_bytes;
        row.lost_packets = stats.lost_packets;
        row.retransmitted_packets = stats.retransmitted_packets;
    }

    fn path_totals(&self, path: PathId) -> PathTotals {
        let stats = self.endpoint.path_stats(path);
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
            blocked_others_byte_s: 0.0,
            blocked_own_byte_s: 0.0,
            outage_retransmitted_packets: None,
            outage_reinjected_packets: None,
        }
    }

    fn srtt(&self, path: PathId) -> Duration {
        self.endpoint.srtt(path)
    }

    fn delivered_bytes(&self) -> u64 {
        self.endpoint.delivered_bytes()
    }

    fn counts(&self) -> Counts {
        let totals = self.endpoint.totals();
        Counts {
            meta_timeouts: totals.meta_timeouts,
            window_stalls: totals.window_stalls,
            penalisations: totals.penalisations,
            waits: totals.waits,
            window_left_bytes: self.endpoint.window_left_bytes(),
        }
    }

    fn duplicate_bytes(&self) -> u64 {
        self.endpoint.duplicate_bytes()
    }

    fn in_order_waits(&self) -> Option<&InOrderWaits> {
        Some(self.endpoint.in_order_waits())
    }

    fn take_events(&mut self) -> Vec<Noted> {
        let noted = |event: mptcp::Event| Noted {
            at: event.at,
            path: event.path,
            name: event.kind.name(),
            value: event.kind.value(),
        };
        self.endpoint.take_events().into_iter().map(noted).collect()
    }
}
