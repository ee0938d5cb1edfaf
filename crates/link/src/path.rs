//! A path is a link each way. Both engines build their links here, so that the n-th packet of a path
//! meets the same fate in virtual and in real time.

use crate::config::build::{build, outages, seconds};
use crate::{Link, LinkConfig, LinkError, WireSize, stream_seed};
use forecast::{
    Forecast, ForecastConfig, ForecastError, ForecastWindow, Update, UpdateConfig, updates,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use units::{Direction, Instant, Window};

/// A path: a link each way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathConfig {
    /// Its name in connections and in the record.
    pub name: String,
    /// Server to client.
    pub down: LinkConfig,
    /// Client to server.
    pub up: LinkConfig,
    /// Used only when no other path is usable.
    #[serde(default)]
    pub backup: bool,
    /// When the interface exists; always by default.
    #[serde(default = "always")]
    pub present: Vec<UpWindow>,
    /// What the sending end knows ahead; nothing by default.
    #[serde(default)]
    pub forecast: PathForecast,
    /// Forecasts that reach it during the run; each replaces what was known before.
    #[serde(default)]
    pub forecast_updates: Vec<UpdateConfig>,
}

impl PathConfig {
    /// The outages of both its links: in order of time, none touches the next.
    ///
    /// # Errors
    /// [`LinkError`] with the first outage that makes no sense.
    pub fn true_outages(&self) -> Result<Vec<Window>, LinkError> {
        let (down, up) = (outages(&self.down.outages)?, outages(&self.up.outages)?);
        Ok(Window::union(down.into_iter().chain(up).map(|(window, _)| window)))
    }

    /// What the sending end knows when the run begins.
    ///
    /// # Errors
    /// [`LinkError`] when it makes no sense.
    pub fn known(&self) -> Result<Forecast, LinkError> {
        let config = match &self.forecast {
            PathForecast::Word(ForecastWord::None) => ForecastConfig::default(),
            PathForecast::Word(ForecastWord::Outages) => {
                return Ok(Forecast::certain(self.true_outages()?));
            }
            PathForecast::Outages(outages) => {
                ForecastConfig { outages: outages.clone(), ..<_>::default() }
            }
            PathForecast::Whole(config) => (**config).clone(),
        };
        config.build(Instant::ZERO).map_err(|error| self.refuse("forecast", error))
    }

    /// The forecasts that reach it during the run, in order of arrival.
    ///
    /// # Errors
    /// [`LinkError`] when it makes no sense.
    pub fn updates(&self) -> Result<Vec<Update>, LinkError> {
        updates(&self.forecast_updates).map_err(|error| self.refuse("forecast_updates", error))
    }

    fn refuse(&self, field: &'static str, error: ForecastError) -> LinkError {
        LinkError::Forecast { path: self.name.clone(), field, error }
    }
}

fn always() -> Vec<UpWindow> {
    vec![UpWindow { start_s: 0.0, end_s: None }]
}

/// The interface of a path exists in [start, end).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpWindow {
    /// From here on.
    pub start_s: f64,
    /// Until here; to the end of the run if absent.
    #[serde(default)]
    pub end_s: Option<f64>,
}

/// What is known ahead of a path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PathForecast {
    /// Nothing, or the truth.
    Word(ForecastWord),
    /// These outages, true or not.
    Outages(Vec<ForecastWindow>),
    /// This and more.
    Whole(Box<ForecastConfig>),
}

impl Default for PathForecast {
    fn default() -> Self {
        Self::Word(ForecastWord::None)
    }
}

/// A forecast in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ForecastWord {
    /// Nothing.
    None,
    /// The outages of its links, in either direction (not the absences of its interface).
    Outages,
}

/// Names of the links of all paths, "NAME.down" and "NAME.up", in the order of [`build_paths`].
pub fn link_names(paths: &[String]) -> Vec<String> {
    let ends = [Direction::Down, Direction::Up];
    let both = |path| ends.map(|direction| format!("{path}.{}", direction.name()));
    paths.iter().flat_map(both).collect()
}

/// The links of all paths, empty, at time 0: down and up of the first path, down and up of the
/// second, and so on. Each draws its losses from its own stream (`seed`, name of the path, direction);
/// while the interface of a path is away, both its links drop everything.
///
/// # Errors
/// [`LinkError`] with the first description that makes no sense.
pub fn build_paths<P: WireSize>(
    paths: &[PathConfig],
    seed: u64,
) -> Result<Vec<Link<P>>, LinkError> {
    let mut names = BTreeSet::new();
    let mut links = Vec::with_capacity(2 * paths.len());
    for path in paths {
        if !names.insert(&path.name) {
            return Err(LinkError::RepeatedName(path.name.clone()));
        }
        let away = absences(path)?;
        for (direction, part) in [(Direction::Down, &path.down), (Direction::Up, &path.up)] {
            let seed = stream_seed(seed, &path.name, direction.name());
            links.push(build(part, &away, seed).map_err(|error| LinkError::OfPath {
                path: path.name.clone(),
                direction: direction.name(),
                error: Box::new(error),
            })?);
        }
    }
    Ok(links)
}

/// When the interface of a path is away: the gaps between the windows of its presence.
fn absences(path: &PathConfig) -> Result<Vec<Window>, LinkError> {
    let mut away = Vec::new();
    let mut gone_at = Some(Instant::ZERO);
    for window in &path.present {
        let start = seconds("present.start_s", window.start_s)?;
        let end = window.end_s.map(|end_s| seconds("present.end_s", end_s)).transpose()?;
        let Some(gone) = gone_at.filter(|gone| *gone <= start && end.is_none_or(|end| start < end))
        else {
            return Err(LinkError::Presence(path.name.clone()));
        };
        away.extend(Window::new(gone, start));
        gone_at = end;
    }
    away.extend(gone_at.and_then(|gone| Window::new(gone, Instant::FAR_FUTURE)));
    Ok(away)
}
