//! Moving averages of rate and latency, as Sabre and dash.js keep them: two half-lives, and of both
//! averages the careful one (Sabre: `Ewma`).

const HALF_LIVES_S: [f64; 2] = [3.0, 8.0];

/// What a chunk can be expected to find.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Rate from the first byte on.
    pub mbps: f64,
    /// From a request to its first byte.
    pub latency_s: f64,
}

/// The averages of one session.
#[derive(Debug)]
pub struct Estimator {
    chunk_s: f64,
    mbps: [f64; 2],
    latency_s: [f64; 2],
    seconds: f64,
    chunks: f64,
}

impl Estimator {
    /// Of chunks of this length.
    pub fn new(chunk_s: f64) -> Self {
        Self { chunk_s, mbps: [0.0; 2], latency_s: [0.0; 2], seconds: 0.0, chunks: 0.0 }
    }

    /// A chunk came in `seconds` from its first byte on.
    pub fn push(&mut self, seconds: f64, mbps: f64, latency_s: f64) {
        for (place, half_life_s) in HALF_LIVES_S.into_iter().enumerate() {
            let keep = half(seconds / half_life_s);
            self.mbps[place] = keep * self.mbps[place] + (1.0 - keep) * mbps;
            let keep = half(self.chunk_s / half_life_s);
            self.latency_s[place] = keep * self.latency_s[place] + (1.0 - keep) * latency_s;
        }
        self.seconds += seconds;
        self.chunks += 1.0;
    }

    /// The lower rate and the higher latency of both averages; `None` before the first chunk.
    pub fn estimate(&self) -> Option<Estimate> {
        if self.chunks == 0.0 {
            return None;
        }
        // The averages began at 0: what is missing of their weight is taken out.
        let mut found = Estimate { mbps: f64::INFINITY, latency_s: 0.0 };
        for (place, half_life_s) in HALF_LIVES_S.into_iter().enumerate() {
            let mbps = self.mbps[place] / (1.0 - half(self.seconds / half_life_s));
            let weight = 1.0 - half(self.chunks * self.chunk_s / half_life_s);
            found.mbps = found.mbps.min(mbps);
            found.latency_s = found.latency_s.max(self.latency_s[place] / weight);
        }
        Some(found)
    }
}

fn half(power: f64) -> f64 {
    libm::exp2(-power)
}
