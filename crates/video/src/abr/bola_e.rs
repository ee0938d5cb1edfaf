//! BOLA-E: BOLA with a placeholder buffer, so that it starts fast and decides well while others decide
//! (Spiteri et al. 2018, §4; Sabre, `BolaEnh`).

use super::bola::{Score, better, utility};
use super::throughput::ShortBuffer;
use super::{Abr, Download, View, Wanted, sustained};
use parameters::{Info, Parameter, Values, flag};

pub const INFO: Info = Info {
    name: "bola-e",
    title: "BOLA-E",
    source: "Spiteri et al. 2018, §4; Sabre, BolaEnh",
    parameters: &[Parameter {
        name: "steady",
        unit: "",
        kind: flag(false),
        meaning: "stay below the rate that was measured, rather than go one above",
        source: "Spiteri et al. 2016, §5.3",
    }],
};

/// The lowest quality is taken below this buffer.
const LEAST_BUFFER_S: f64 = 10.0;
const LEAST_BUFFER_PER_QUALITY_S: f64 = 2.0;

#[derive(Debug)]
pub struct BolaE {
    steady: bool,
    short: ShortBuffer,
    /// Media that is counted as if it were in the buffer; `None` before the first choice.
    placeholder_s: Option<f64>,
    last_quality: usize,
}

/// Utilities of BOLA-E begin at 1.
fn worth(view: &View<'_>, quality: usize) -> f64 {
    utility(view, quality) + 1.0
}

fn score(view: &View<'_>) -> Score {
    let per_quality = LEAST_BUFFER_PER_QUALITY_S * view.ladder.qualities() as f64;
    let buffer_s = (LEAST_BUFFER_S + per_quality).max(view.most_buffer_s);
    let top = utility(view, view.ladder.top());
    // A ladder of one quality leaves nothing to weigh.
    let gamma_p = (top / (buffer_s / LEAST_BUFFER_S - 1.0)).max(1e-9);
    Score { v_s: LEAST_BUFFER_S / gamma_p, gamma_p }
}

/// Smallest buffer at which no lower quality is better.
fn least_buffer_s(view: &View<'_>, quality: usize) -> f64 {
    let Score { v_s, gamma_p } = score(view);
    let (rate, own) = (view.ladder.mbps(quality), worth(view, quality));
    let level = |below: usize| {
        let (lower, other) = (view.ladder.mbps(below), worth(view, below));
        v_s * (gamma_p + (rate * other - lower * own) / (rate - lower))
    };
    (0..quality).map(level).fold(0.0, f64::max)
}

fn most_buffer_s(view: &View<'_>, quality: usize) -> f64 {
    score(view).most_buffer_s(worth(view, quality))
}

impl BolaE {
    pub fn new(values: &Values) -> Self {
        Self::with(values.flag("steady"))
    }

    pub fn with(steady: bool) -> Self {
        Self { steady, short: ShortBuffer::default(), placeholder_s: None, last_quality: 0 }
    }

    /// Takes a wait out of the placeholder first: what is left to wait.
    fn wait_s(&mut self, view: &View<'_>, quality: usize, placeholder_s: f64) -> f64 {
        let beyond = view.buffer_s + placeholder_s - most_buffer_s(view, quality);
        let saved = beyond.clamp(0.0, placeholder_s.max(0.0));
        self.placeholder_s = Some(placeholder_s - saved);
        if quality == view.ladder.top() { 0.0 } else { (beyond - saved).max(0.0) }
    }
}

impl Abr for BolaE {
    fn choose(&mut self, view: &View<'_>) -> Wanted {
        let Some(seen) = view.estimate else { return Wanted::now(self.last_quality) };
        let sustained = sustained(view, seen.mbps, seen.latency_s);
        let Some(placeholder_s) = self.placeholder_s else {
            let missing = least_buffer_s(view, sustained) - view.buffer_s;
            self.placeholder_s = Some(missing.max(0.0));
            return Wanted::now(sustained);
        };
        let level_s = view.buffer_s + placeholder_s;
        let mut quality = score(view).best(view, |one| worth(view, one), level_s);
        if quality > self.last_quality && quality > sustained {
            quality = self.last_quality.max(sustained) + usize::from(!self.steady);
        }
        let quality = quality.min(view.ladder.top());
        let wait_s = self.wait_s(view, quality, placeholder_s);
        let Some(safe) = self.short.cap(view, quality) else { return Wanted { quality, wait_s } };
        let most_s = (least_buffer_s(view, safe) - view.buffer_s).max(0.0);
        self.placeholder_s = self.placeholder_s.map(|held| held.min(most_s));
        Wanted::now(safe)
    }

    fn give_up(&mut self, download: &Download, view: &View<'_>) -> Option<usize> {
        let left = download.bytes.saturating_sub(download.received_bytes) as f64;
        if download.received_bytes == 0 || left <= 0.0 {
            return None;
        }
        // Giving up costs another latency.
        let held_s = self.placeholder_s.unwrap_or(0.0);
        let buffer_s = (view.buffer_s + held_s - download.latency_s).max(0.0);
        let left = left - download.latency_s * download.mbps() * 125_000.0;
        if left <= 0.0 {
            return None;
        }
        let value = |quality: usize, bytes: f64| (most_buffer_s(view, quality) - buffer_s) / bytes;
        better(download, view, left, value)
    }

    fn on_full(&mut self, waited_s: f64) {
        self.placeholder_s = self.placeholder_s.map(|held| held + waited_s);
    }

    fn on_chunk(&mut self, download: &Download, abandoned: Option<usize>, view: &View<'_>) {
        self.last_quality = download.quality;
        let Some(held_s) = self.placeholder_s else { return };
        self.placeholder_s = Some(match abandoned {
            None => {
                let before_s = view.buffer_s + download.elapsed_s;
                let most_s = (most_buffer_s(view, download.quality) - before_s).max(0.0);
                let held_s = held_s.min(most_s);
                if view.buffer_s > 0.0 {
                    held_s.max(least_buffer_s(view, download.quality) - before_s)
                } else {
                    held_s
                }
            }
            Some(quality) => {
                let level =
                    if quality > 0 { least_buffer_s(view, quality) } else { LEAST_BUFFER_S };
                held_s.min((level - view.buffer_s).max(0.0))
            }
        });
    }
}
