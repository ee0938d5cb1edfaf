//! The rate rule of dash.js: the best quality that nine tenths of the estimated rate sustain, held down
//! while the buffer is short, as Sabre models it (`ThroughputRule`).

use super::{Abr, Download, View, Wanted, sustained};
use parameters::{Info, Parameter, Values, number};

pub const INFO: Info = Info {
    name: "throughput",
    title: "Throughput rule of dash.js",
    source: "Sabre, ThroughputRule (Spiteri et al. 2018)",
    parameters: &[Parameter {
        name: "safety",
        unit: "",
        kind: number(0.9, 0.1, 1.5),
        meaning: "share of the estimated rate that a quality may take",
        source: "Sabre, ThroughputRule.safety_factor",
    }],
};

/// A download is looked at from here on, and given up beyond this number of chunk lengths.
const GRACE_S: f64 = 0.5;
const TOO_LONG_CHUNKS: f64 = 1.8;

#[derive(Debug)]
pub struct Throughput {
    safety: f64,
    short: ShortBuffer,
}

impl Throughput {
    pub fn new(values: &Values) -> Self {
        Self::with_safety(values.number("safety"))
    }

    /// The default, for algorithms made of several.
    pub fn with_safety(safety: f64) -> Self {
        Self { safety, short: ShortBuffer::default() }
    }
}

impl Default for Throughput {
    fn default() -> Self {
        Self::with_safety(0.9)
    }
}

impl Abr for Throughput {
    fn choose(&mut self, view: &View<'_>) -> Wanted {
        let Some(seen) = view.estimate else { return Wanted::now(0) };
        let quality = sustained(view, seen.mbps * self.safety, seen.latency_s);
        Wanted::now(self.short.cap(view, quality).unwrap_or(quality))
    }

    fn give_up(&mut self, download: &Download, view: &View<'_>) -> Option<usize> {
        if download.elapsed_s < GRACE_S || download.elapsed_s <= download.latency_s {
            return None;
        }
        let left_bytes = (download.bytes - download.received_bytes) as f64;
        let mbps = download.mbps();
        if download.elapsed_s + left_bytes * 8e-6 / mbps <= TOO_LONG_CHUNKS * view.ladder.chunk_s()
        {
            return None;
        }
        let latency_s = view.estimate.map_or(0.0, |seen| seen.latency_s);
        let quality = sustained(view, mbps * self.safety, latency_s);
        let ratio = view.ladder.mbps(quality) / view.ladder.mbps(download.quality);
        let pays = quality < download.quality && download.bytes as f64 * ratio < left_bytes;
        pays.then_some(quality)
    }
}

/// The insufficient-buffer rule of dash.js: a chunk must be small enough to come while the buffer lasts.
#[derive(Debug)]
pub struct ShortBuffer {
    safety: f64,
}

impl Default for ShortBuffer {
    fn default() -> Self {
        Self { safety: 0.9 }
    }
}

impl ShortBuffer {
    /// The best quality that is safe if this one is not.
    pub fn cap(&mut self, view: &View<'_>, quality: usize) -> Option<usize> {
        let seen = view.estimate?;
        let safe_mbit = self.safety * (view.buffer_s - seen.latency_s) * seen.mbps;
        self.safety = (self.safety * 0.9).max(0.5);
        let too_large =
            |below: &usize| view.ladder.mbps(below + 1) * view.ladder.chunk_s() > safe_mbit;
        (0..quality).find(too_large)
    }
}
