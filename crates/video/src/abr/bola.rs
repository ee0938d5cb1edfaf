//! BOLA: the quality with the most utility for the room that it takes in the buffer (Spiteri et al. 2016,
//! §4), with the safeguards against oscillation of BOLA-U and BOLA-O, as Sabre has them (`Bola`).

use super::{Abr, Download, View, Wanted, sustained};
use parameters::{Info, Parameter, Values, flag, number};

pub const INFO: Info = Info {
    name: "bola",
    title: "BOLA, finite video (BOLA-U, BOLA-O)",
    source: "Spiteri et al. 2016; Sabre, Bola",
    parameters: &[
        GAMMA_P,
        Parameter {
            name: "steady",
            unit: "",
            kind: flag(false),
            meaning: "BOLA-O: stay below the rate that was measured and wait, rather than go one above",
            source: "Spiteri et al. 2016, §5.3",
        },
    ],
};

/// The weight of playing without a break against quality.
pub(super) const GAMMA_P: Parameter = Parameter {
    name: "gamma_p",
    unit: "",
    kind: number(5.0, 0.1, 100.0),
    meaning: "weight of a full buffer against quality, γp",
    source: "Sabre, --gamma-p",
};

/// Chunks of buffer that are aimed for, at least, at both ends of a film.
const LEAST_CHUNKS: f64 = 3.0;

#[derive(Debug)]
pub struct Bola {
    gamma_p: f64,
    steady: bool,
    score: Score,
    last_quality: usize,
}

/// What a quality is worth for the room that it takes.
#[derive(Debug, Default)]
pub(super) struct Score {
    /// The paper's V times the length of a chunk.
    pub v_s: f64,
    pub gamma_p: f64,
}

impl Score {
    /// Largest buffer at which a quality is still asked for.
    pub fn most_buffer_s(&self, utility: f64) -> f64 {
        self.v_s * (utility + self.gamma_p)
    }

    /// The best quality at a level of the buffer.
    pub fn best(&self, view: &View<'_>, utility: impl Fn(usize) -> f64, buffer_s: f64) -> usize {
        let score = |quality: usize| {
            (self.most_buffer_s(utility(quality)) - buffer_s) / view.ladder.mbps(quality)
        };
        let mut best = 0;
        for quality in 1..view.ladder.qualities() {
            if score(quality) > score(best) {
                best = quality;
            }
        }
        best
    }
}

/// ln of a bitrate, 0 for the lowest.
pub(super) fn utility(view: &View<'_>, quality: usize) -> f64 {
    libm::log(view.ladder.mbps(quality)) - libm::log(view.ladder.mbps(0))
}

impl Bola {
    pub fn new(values: &Values) -> Self {
        Self::with(values.number("gamma_p"), values.flag("steady"))
    }

    pub fn with(gamma_p: f64, steady: bool) -> Self {
        Self { gamma_p, steady, score: Score::default(), last_quality: 0 }
    }

    /// The buffer that is aimed for grows from the start of the film and shrinks to its end.
    fn set_score(&mut self, view: &View<'_>) {
        let chunk_s = view.ladder.chunk_s();
        let ends = view.chunk.min(view.ladder.chunks() - view.chunk) as f64;
        let buffer_s = view.most_buffer_s.min((ends / 2.0).max(LEAST_CHUNKS) * chunk_s);
        let top = utility(view, view.ladder.top());
        self.score =
            Score { v_s: (buffer_s - chunk_s) / (top + self.gamma_p), gamma_p: self.gamma_p };
    }
}

impl Abr for Bola {
    fn choose(&mut self, view: &View<'_>) -> Wanted {
        self.set_score(view);
        let mut quality = self.score.best(view, |one| utility(view, one), view.buffer_s);
        let mut wait_s = 0.0;
        if quality > self.last_quality {
            let seen = view.estimate.map_or(0, |seen| sustained(view, seen.mbps, seen.latency_s));
            if quality <= seen {
                // the network carries it
            } else if self.last_quality > seen {
                quality = self.last_quality;
            } else if self.steady {
                quality = seen;
                let most_s = self.score.most_buffer_s(utility(view, quality));
                wait_s = (view.buffer_s - most_s).max(0.0);
            } else {
                quality = seen + 1;
            }
        }
        self.last_quality = quality;
        Wanted { quality, wait_s }
    }

    fn give_up(&mut self, download: &Download, view: &View<'_>) -> Option<usize> {
        let left = download.bytes.saturating_sub(download.received_bytes) as f64;
        if download.received_bytes == 0 || left <= 0.0 {
            return None;
        }
        let worth = |quality: usize, bytes: f64| {
            (self.score.most_buffer_s(utility(view, quality)) - view.buffer_s) / bytes
        };
        let found = better(download, view, left, worth)?;
        self.last_quality = found;
        Some(found)
    }
}

/// The lower quality in which a chunk is worth more than the `left` bytes of it in its present one.
pub(super) fn better(
    download: &Download,
    view: &View<'_>,
    left: f64,
    worth: impl Fn(usize, f64) -> f64,
) -> Option<usize> {
    let mut score = worth(download.quality, left);
    if score < 0.0 {
        return None;
    }
    let mut found = None;
    for quality in 0..download.quality {
        let ratio = view.ladder.mbps(quality) / view.ladder.mbps(download.quality);
        let bytes = download.bytes as f64 * ratio;
        let other = worth(quality, bytes);
        if bytes < left && other > score {
            score = other;
            found = Some(quality);
        }
    }
    found
}
