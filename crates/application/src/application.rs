use crate::streams::{StreamId, Streams};
use crate::table::Row;
use std::fmt::Debug;
use units::Instant;

/// One end of a workload.
///
/// Contract: the driver calls [`deliver`] for each thing that happened, and [`Signal::Timer`] once
/// [`Application::poll_at`] has come. Bytes that an application leaves unread stay where they are, and
/// in time close the window of the transport; it may read them later, from its timer for instance.
pub trait Application: Debug + Send {
    /// The connection is open: both ways.
    fn on_open(&mut self, _now: Instant, _streams: &mut dyn Streams) {}

    /// A stream has more to read, or its end.
    fn on_readable(&mut self, _now: Instant, _stream: StreamId, _streams: &mut dyn Streams) {}

    /// A write that was cut short, or a stream that could not be opened, may be tried again.
    fn on_writable(&mut self, _now: Instant, _streams: &mut dyn Streams) {}

    /// A DATAGRAM can be read.
    fn on_datagram(&mut self, _now: Instant, _streams: &mut dyn Streams) {}

    /// When [`Signal::Timer`] is due; `None`: never.
    fn poll_at(&self) -> Option<Instant> {
        None
    }

    /// [`Application::poll_at`] has come.
    fn on_timer(&mut self, _now: Instant, _streams: &mut dyn Streams) {}

    /// Everything that this end waits for has come; the connection may be closed. An end that serves
    /// the other never says so.
    fn is_done(&self) -> bool {
        false
    }

    /// Its rows of the record, in the columns of its workload, at the end of the connection; times are
    /// counted from `zero`.
    fn rows(&self, _zero: Instant, _end: Instant) -> Vec<Row> {
        Vec::new()
    }
}

/// What a driver reports to an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// [`Application::on_open`].
    Open,
    /// [`Application::on_readable`].
    Readable(StreamId),
    /// [`Application::on_writable`].
    Writable,
    /// [`Application::on_datagram`].
    Datagram,
    /// [`Application::on_timer`].
    Timer,
}

/// Hands a signal over; a timer only when it is due.
pub fn deliver(
    application: &mut dyn Application,
    now: Instant,
    signal: Signal,
    streams: &mut dyn Streams,
) {
    match signal {
        Signal::Open => application.on_open(now, streams),
        Signal::Readable(stream) => application.on_readable(now, stream, streams),
        Signal::Writable => application.on_writable(now, streams),
        Signal::Datagram => application.on_datagram(now, streams),
        Signal::Timer => {
            if application.poll_at().is_some_and(|at| at <= now) {
                application.on_timer(now, streams);
            }
        }
    }
}
