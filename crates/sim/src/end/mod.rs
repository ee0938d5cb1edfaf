//! One end of a connection, whatever transport it speaks.

mod plain;
mod quic;
mod tcp;
mod tls;

pub(crate) use quic::{QuicEnd, Setup};
pub(crate) use tcp::TcpEnd;

use crate::outcome::{PathTotals, SampleRow};
use crate::wire::Packet;
use application::Application;
use forecast::Forecast;
use recovery::InOrderWaits;
use units::{Duration, Instant, PathId};

/// An endpoint. Paths count within the connection.
///
/// Contract: after each call that takes `now`, [`End::serve`], [`End::poll_transmit`] until it returns
/// `None`, then [`End::poll_timeout`].
pub(crate) trait End: std::fmt::Debug {
    /// A client opens; a server waits for it.
    fn open(&mut self, now: Instant);
    /// Lets the application act on what happened, and on its timer.
    fn serve(&mut self, now: Instant, application: &mut dyn Application);
    /// A packet came. What is left of it is memory that its sender can use again.
    fn handle(&mut self, now: Instant, path: PathId, packet: Packet) -> Option<Vec<u8>>;
    /// Takes back the memory of a packet that has arrived.
    fn reuse(&mut self, memory: Vec<u8>);
    fn poll_transmit(&mut self, now: Instant) -> Option<(PathId, Packet)>;
    fn poll_timeout(&self) -> Option<Instant>;
    fn on_timeout(&mut self, now: Instant);
    /// The client's interface of a path came.
    fn path_up(&mut self, now: Instant, path: PathId);
    /// The client's interface of a path went.
    fn path_down(&mut self, now: Instant, path: PathId);
    /// What the application sees of what is known ahead of a path.
    fn foresee(&mut self, path: PathId, forecast: Forecast);
    /// What the endpoint knows ahead of a path from now on.
    fn set_forecast(&mut self, path: PathId, forecast: Forecast);
    /// Fills a path's columns of a sample.
    fn sample(&self, path: PathId, row: &mut SampleRow);
    /// What this end did on a path; without what outages caused.
    fn path_totals(&self, path: PathId) -> PathTotals;
    /// Smoothed RTT.
    fn srtt(&self, path: PathId) -> Duration;
    /// What came in order, and DATAGRAMs.
    fn delivered_bytes(&self) -> u64;
    fn counts(&self) -> Counts;
    /// What came more than once.
    fn duplicate_bytes(&self) -> u64;
    /// How long what came waited for earlier bytes; `None` before there is anything to ask.
    fn in_order_waits(&self) -> Option<&InOrderWaits>;
    fn take_events(&mut self) -> Vec<Noted>;
}

/// What a sender counts over all paths.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub meta_timeouts: u64,
    pub window_stalls: u64,
    pub penalisations: u64,
    pub waits: u64,
    /// What the receive window still admits.
    pub window_left_bytes: u64,
}

/// Something for the record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Noted {
    pub at: Instant,
    pub path: Option<PathId>,
    pub name: &'static str,
    pub value: f64,
}
