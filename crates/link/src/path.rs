//! A path is a link each way. Both engines build their links here, so that the n-th packet of a path
//! meets the same fate in virtual and in real time.

use crate::config::build::seconds;
use crate::{InFlight, Link, LinkConfig, LinkError, OutageConfig, WireSize, stream_seed};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use units::{Direction, Instant};

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
    pub forecast: Forecast,
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
pub enum Forecast {
    /// Nothing, or the truth.
    Word(ForecastWord),
    /// These windows, true or not.
    Windows(Vec<ForecastWindow>),
}

impl Default for Forecast {
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

/// An outage as it is foreseen: [start, end).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForecastWindow {
    /// From here on.
    pub start_s: f64,
    /// Until here.
    pub end_s: f64,
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
        check_presence(path)?;
        for (direction, part) in [(Direction::Down, &path.down), (Direction::Up, &path.up)] {
            let mut part = part.clone();
            part.outages = with_absences(&part.outages, &path.present);
            let seed = stream_seed(seed, &path.name, direction.name());
            links.push(part.build(seed).map_err(|error| LinkError::OfPath {
                path: path.name.clone(),
                direction: direction.name(),
                error: Box::new(error),
            })?);
        }
    }
    Ok(links)
}

fn check_presence(path: &PathConfig) -> Result<(), LinkError> {
    let mut free_from = Some(Instant::ZERO);
    for window in &path.present {
        let start = seconds("present.start_s", window.start_s)?;
        let end = window.end_s.map(|end_s| seconds("present.end_s", end_s)).transpose()?;
        let ordered = free_from.is_some_and(|free| start >= free);
        if !ordered || end.is_some_and(|end| end <= start) {
            return Err(LinkError::Presence(path.name.clone()));
        }
        free_from = end;
    }
    Ok(())
}

/// The last moment that an outage can name; later ones are as good as never.
const LAST_S: f64 = 1e9;

/// While its interface is away, a path drops everything: outages and absences as one list. Where
/// they overlap, what is in flight is dropped.
fn with_absences(outages: &[OutageConfig], present: &[UpWindow]) -> Vec<OutageConfig> {
    let mut all: Vec<OutageConfig> = outages.to_vec();
    let mut away_since = 0.0;
    for window in present {
        if window.start_s > away_since {
            all.push(away(away_since, window.start_s));
        }
        away_since = window.end_s.unwrap_or(LAST_S);
    }
    if away_since < LAST_S {
        all.push(away(away_since, LAST_S));
    }
    if all.len() == outages.len() {
        return all; // nothing added: the link judges the list as it was written
    }
    all.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
    merge(all)
}

fn away(start_s: f64, end_s: f64) -> OutageConfig {
    OutageConfig { start_s, end_s, in_flight: InFlight::Drop }
}

fn merge(sorted: Vec<OutageConfig>) -> Vec<OutageConfig> {
    let mut merged: Vec<OutageConfig> = Vec::new();
    for window in sorted {
        match merged.last_mut() {
            Some(last) if window.start_s <= last.end_s => {
                last.end_s = last.end_s.max(window.end_s);
                if window.in_flight == InFlight::Drop {
                    last.in_flight = InFlight::Drop;
                }
            }
            _ => merged.push(window),
        }
    }
    merged
}
