use crate::Offload;
use hdrhistogram::Histogram;
use link::LinkTotals;
use serde::Serialize;
use std::collections::BTreeMap;
use units::Duration;

/// What a relay has done so far.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Statistics {
    /// Per link, "NAME.down" and "NAME.up".
    pub links: BTreeMap<String, LinkTotals>,
    /// How late frames were written.
    pub lateness_us: Lateness,
    /// Seconds of processor that the relay's thread has used.
    pub cpu_s: f64,
    /// What the devices give and take.
    pub offload: Offload,
    /// What has passed the devices.
    #[serde(flatten)]
    pub counts: Counts,
    /// Why the capture has stopped, if it has.
    pub capture_error: Option<String>,
}

/// What has passed the devices of a relay.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Counts {
    /// Packets read; with offload, one may be many frames.
    pub reads: u64,
    /// Frames that they were.
    pub frames_read: u64,
    /// Packets read whose offload header cannot be followed; each passes as one frame.
    pub odd_headers: u64,
    /// Packets written.
    pub writes: u64,
    /// Frames that they were.
    pub frames_written: u64,
    /// Frames that the links delivered and a device did not take: it was down or full.
    pub device_drops: u64,
}

/// The time from the moment at which a link delivers a frame to its write, in microseconds.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Lateness {
    /// Half of the frames were not later.
    pub p50: f64,
    /// All but a hundredth were not later.
    pub p99: f64,
    /// The latest.
    pub max: f64,
    /// Frames.
    pub count: u64,
}

/// Lateness of each frame, in nanoseconds with three digits.
#[derive(Debug)]
pub(crate) struct LatenessHistogram(Histogram<u64>);

impl LatenessHistogram {
    /// What is later than a minute counts as a minute.
    const MAX_NS: u64 = 60_000_000_000;
    const DIGITS: u8 = 3;

    pub(crate) fn new() -> Self {
        let histogram = Histogram::new_with_max(Self::MAX_NS, Self::DIGITS);
        Self(histogram.expect("the bounds are constants that hdrhistogram admits"))
    }

    pub(crate) fn record(&mut self, late: Duration) {
        self.0.saturating_record(late.as_nanos());
    }

    pub(crate) fn summary(&self) -> Lateness {
        let micros = |nanos: u64| nanos as f64 / 1e3;
        Lateness {
            p50: micros(self.0.value_at_quantile(0.5)),
            p99: micros(self.0.value_at_quantile(0.99)),
            max: micros(self.0.max()),
            count: self.0.len(),
        }
    }
}
