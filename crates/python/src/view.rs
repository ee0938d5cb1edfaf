//! What a scheduler written in Python sees: times in ms, rates in Mbit/s, windows in packets.

use pyo3::prelude::*;
use scheduler::{ConnectionView, PathView};
use units::{Duration, Window};

/// One path at the moment of a decision.
#[pyclass(frozen, get_all, name = "PathView", module = "skyweave._skyweave")]
pub(crate) struct PyPathView {
    /// Place of the path within the connection: what `select` returns.
    id: u8,
    /// Established and not thought dead.
    usable: bool,
    /// One more segment fits into its window (or send memory).
    has_room: bool,
    /// Used only when no other path is usable.
    backup: bool,
    /// The segment being scheduled was put on this path before.
    tried: bool,
    srtt_ms: f64,
    latest_rtt_ms: f64,
    min_rtt_ms: f64,
    /// Mean deviation of the RTT.
    mdev_ms: f64,
    /// Linux `rttvar_us`: never below 200 ms.
    rttvar_kernel_ms: f64,
    cwnd_packets: u64,
    /// `None` before the first loss.
    ssthresh_packets: Option<u64>,
    in_flight_packets: u64,
    /// Assigned and not yet sent.
    queued_packets: u64,
    /// Assigned and not acknowledged.
    unacked_bytes: u64,
    mss_bytes: u64,
    pacing_mbps: f64,
    /// Acknowledged in the last 150 ms.
    delivery_mbps: f64,
    /// The most that was acknowledged in 100 ms of the last 400 ms.
    peak_mbps: f64,
    loss_ratio: f64,
    /// Start and end in seconds of the known outage that is under way or comes next.
    forecast_s: Option<(f64, f64)>,
    /// How likely that outage is, 0 to 1.
    forecast_probability: Option<f64>,
}

/// A connection at the moment of a decision.
#[pyclass(frozen, get_all, name = "ConnectionView", module = "skyweave._skyweave")]
pub(crate) struct PyConnectionView {
    /// Seconds since the run began.
    now_s: f64,
    /// The established paths.
    paths: Vec<Py<PyPathView>>,
    segment_bytes: u64,
    /// The segment was sent before on another path.
    reinjection: bool,
    unsent_bytes: u64,
    receive_window_bytes: u64,
    window_left_bytes: u64,
    /// A stream is open that is more urgent than usual.
    urgent: bool,
}

fn ms(span: Duration) -> f64 {
    span.as_secs_f64() * 1e3
}

impl PyPathView {
    fn new(path: &PathView) -> Self {
        Self {
            id: path.id.0,
            usable: path.usable,
            has_room: path.has_room,
            backup: path.backup,
            tried: path.tried,
            srtt_ms: ms(path.srtt),
            latest_rtt_ms: ms(path.latest_rtt),
            min_rtt_ms: ms(path.min_rtt),
            mdev_ms: ms(path.mdev),
            rttvar_kernel_ms: ms(path.rttvar_kernel),
            cwnd_packets: path.cwnd_packets,
            ssthresh_packets: Some(path.ssthresh_packets).filter(|packets| *packets != u64::MAX),
            in_flight_packets: path.in_flight_packets,
            queued_packets: path.queued_packets,
            unacked_bytes: path.unacked_bytes,
            mss_bytes: path.mss_bytes,
            pacing_mbps: path.pacing_rate.as_mbps(),
            delivery_mbps: path.delivery.rate.as_mbps(),
            peak_mbps: path.delivery.peak.as_mbps(),
            loss_ratio: path.loss_ratio,
            forecast_s: path.forecast.map(|one| {
                let Window { start, end } = one.window;
                (start.as_secs_f64(), end.as_secs_f64())
            }),
            forecast_probability: path.forecast.map(|one| one.probability.get()),
        }
    }
}

impl PyConnectionView {
    pub(crate) fn new(py: Python<'_>, view: &ConnectionView<'_>) -> PyResult<Self> {
        let paths = view.paths.iter().map(|path| Py::new(py, PyPathView::new(path)));
        Ok(Self {
            now_s: view.now.as_secs_f64(),
            paths: paths.collect::<PyResult<_>>()?,
            segment_bytes: view.segment_bytes,
            reinjection: view.reinjection,
            unsent_bytes: view.unsent_bytes,
            receive_window_bytes: view.receive_window_bytes,
            window_left_bytes: view.window_left_bytes,
            urgent: view.urgent,
        })
    }
}
