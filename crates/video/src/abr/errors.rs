//! How wrong the last predictions of a rate were (Yin et al. 2015, §4.3).

use super::mpc::RECENT;

/// Relative errors of the last predictions.
#[derive(Debug, Default)]
pub(super) struct Errors {
    predicted_mbps: Option<f64>,
    /// In turn.
    recent: [f64; RECENT],
    place: usize,
}

impl Errors {
    /// What the chunk that is asked for now is expected to come at.
    pub fn expect(&mut self, mbps: f64) {
        self.predicted_mbps = Some(mbps);
    }

    /// What it came at, counted once for each [`Errors::expect`].
    pub fn came(&mut self, mbps: f64) {
        if let Some(predicted) = self.predicted_mbps.take() {
            self.recent[self.place] = (predicted - mbps).abs() / mbps.max(1e-9);
            self.place = (self.place + 1) % RECENT;
        }
    }

    /// What a rate is multiplied with: lower by the worst of them.
    pub fn discount(&self) -> f64 {
        1.0 / (1.0 + self.recent.into_iter().fold(0.0, f64::max))
    }
}
