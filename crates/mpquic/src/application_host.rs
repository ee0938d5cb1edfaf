//! An application on an endpoint: events of the one become events of the other.

use crate::{Endpoint, Event, Read as Found};
use application::{
    Application, Forecasts, PathStatus, Priority, Read, Signal, StreamId, Streams, deliver,
};
use forecast::Forecast;
use recovery::BlockedTime;
use units::{Instant, PathId};

/// Paths are counted below this by their owners.
const MAX_PATHS: u8 = 64;

/// What is remembered of an application between two calls.
#[derive(Debug, Default)]
pub struct ApplicationHost {
    /// It wants to write more than there was room for.
    blocked: bool,
    read_bytes: u64,
    written_bytes: u64,
    forecasts: Forecasts,
}

impl ApplicationHost {
    /// The application sees what is known ahead of a path. The endpoint hears of it by
    /// [`Endpoint::set_forecast`].
    pub fn foresee(&mut self, path: PathId, forecast: Forecast) {
        self.forecasts.update(path, forecast);
    }

    /// What an event of the endpoint says to an application; `None`: nothing.
    pub fn signal(event: &Event) -> Option<Signal> {
        match *event {
            Event::Connected => Some(Signal::Open),
            Event::Readable(stream) => Some(Signal::Readable(StreamId(stream))),
            Event::StreamsAvailable(_) => Some(Signal::Writable),
            Event::DatagramReceived => Some(Signal::Datagram),
            _ => None,
        }
    }

    /// Lets the application act on what happened, on its timer, and on room in the send buffer.
    /// Call it whenever the endpoint has handled datagrams or timers.
    pub fn serve(
        &mut self,
        now: Instant,
        endpoint: &mut Endpoint,
        signals: impl IntoIterator<Item = Signal>,
        application: &mut dyn Application,
    ) {
        let writable = std::mem::take(&mut self.blocked).then_some(Signal::Writable);
        let mut streams = Served { endpoint, now, host: self };
        for signal in signals.into_iter().chain([Signal::Timer]).chain(writable) {
            deliver(application, now, signal, &mut streams);
        }
    }

    /// Bytes that the application has written to streams and DATAGRAMs.
    pub fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    /// Bytes that the application has read, of streams and DATAGRAMs.
    pub fn read_bytes(&self) -> u64 {
        self.read_bytes
    }
}

struct Served<'a> {
    endpoint: &'a mut Endpoint,
    now: Instant,
    host: &'a mut ApplicationHost,
}

impl Streams for Served<'_> {
    fn has_one_stream(&self) -> bool {
        false
    }

    fn open(&mut self, both_ways: bool) -> Option<StreamId> {
        self.endpoint.open_stream(both_ways).ok().map(StreamId)
    }

    fn write(&mut self, stream: StreamId, data: &[u8]) -> usize {
        // A stream that the peer stopped takes nothing any more, and nobody waits for it.
        let Ok(taken) = self.endpoint.write(stream.0, data) else { return 0 };
        self.host.blocked |= taken < data.len();
        self.host.written_bytes += taken as u64;
        taken
    }

    fn write_filler(&mut self, stream: StreamId, bytes: u64) -> u64 {
        let wanted = usize::try_from(bytes).unwrap_or(usize::MAX);
        let Ok(taken) = self.endpoint.write_zeros(stream.0, wanted) else { return 0 };
        self.host.blocked |= taken < wanted;
        self.host.written_bytes += taken as u64;
        taken as u64
    }

    fn set_priority(&mut self, stream: StreamId, Priority { urgency, incremental }: Priority) {
        // Refused where nothing is sent any more.
        let _open = self.endpoint.set_priority(stream.0, urgency, incremental);
    }

    fn finish(&mut self, stream: StreamId) {
        let _ended = self.endpoint.finish(stream.0); // refused only when the peer stopped it
    }

    fn read(&mut self, stream: StreamId, most_bytes: usize) -> Read {
        match self.endpoint.read(self.now, stream.0, most_bytes) {
            Ok(Found::Data(data)) => {
                self.host.read_bytes += data.len() as u64;
                Read::Data(data)
            }
            Ok(Found::Blocked) => Read::Blocked,
            Ok(Found::Finished) => Read::Finished,
            Ok(Found::Reset(_)) | Err(_) => Read::Reset,
        }
    }

    fn paths(&self) -> Vec<PathStatus> {
        let open = (0..MAX_PATHS).map(PathId).filter(|path| self.endpoint.has_path(*path));
        let known = open.filter_map(|path| Some((path, self.endpoint.path_stats(path)?)));
        let status = known.map(|(path, stats)| PathStatus {
            path,
            srtt: stats.srtt,
            min_rtt: stats.min_rtt,
            cwnd_bytes: stats.cwnd_bytes,
            in_flight_bytes: stats.in_flight_bytes,
            pacing_rate: stats.pacing_rate,
            acked_bytes: stats.delivered_bytes,
            received_bytes: stats.unique_bytes,
        });
        status.collect()
    }

    fn blocked_time(&self) -> Option<BlockedTime> {
        Some(self.endpoint.in_order_waits().blocked_time())
    }

    fn forecast(&self, path: PathId) -> Option<&Forecast> {
        self.host.forecasts.get(path)
    }

    fn longest_datagram_bytes(&self) -> usize {
        self.endpoint.max_datagram_bytes()
    }

    fn send_datagram(&mut self, data: &[u8]) -> bool {
        let taken = self.endpoint.send_datagram(data).unwrap_or(false);
        self.host.written_bytes += if taken { data.len() as u64 } else { 0 };
        taken
    }

    fn read_datagram(&mut self) -> Option<Vec<u8>> {
        let data = self.endpoint.recv_datagram()?;
        self.host.read_bytes += data.len() as u64;
        Some(data)
    }
}
