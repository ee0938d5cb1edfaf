//! What the end of a connection knows ahead of its paths.

use forecast::{Feed, Forecast};
use std::collections::BTreeMap;
use units::PathId;

/// The forecast of each path that was issued last. Drivers keep it for [`crate::Streams::forecast`].
#[derive(Clone, Debug, Default)]
pub struct Forecasts(BTreeMap<PathId, Feed>);

impl Forecasts {
    /// Replaces what was known of a path, unless that was issued later.
    pub fn update(&mut self, path: PathId, forecast: Forecast) {
        self.0.entry(path).or_default().update(forecast);
    }

    /// What is known of a path.
    pub fn get(&self, path: PathId) -> Option<&Forecast> {
        self.0.get(&path)?.forecast()
    }
}
