//! The links of a run, and what travels on them.

use crate::config::{PathConfig, UpWindow, instant};
use crate::streams::stream_seed;
use crate::{Direction, RunConfig, SimError};
use link::{InFlight, Link, OutageConfig, WireSize};
use mptcp::Segment;
use std::collections::BTreeSet;
use units::{Instant, PathId};

/// A segment on its way, with the connection and the path of that connection it belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wire {
    pub connection: u16,
    pub path: PathId,
    pub segment: Segment,
}

impl WireSize for Wire {
    fn wire_bytes(&self) -> u64 {
        self.segment.wire_bytes
    }
}

/// Number of a link: down and up of the first path, down and up of the second, and so on.
pub(crate) fn link_index(path: usize, direction: Direction) -> usize {
    2 * path + usize::from(direction == Direction::Up)
}

/// Where a link with this number leads.
pub(crate) fn leads(index: usize) -> Direction {
    if index.is_multiple_of(2) { Direction::Down } else { Direction::Up }
}

pub(crate) fn build(config: &RunConfig) -> Result<Vec<Link<Wire>>, SimError> {
    let mut names = BTreeSet::new();
    let mut links = Vec::with_capacity(2 * config.paths.len());
    for path in &config.paths {
        if !names.insert(&path.name) {
            return Err(SimError::RepeatedName(path.name.clone()));
        }
        check_presence(path)?;
        for (direction, part) in [("down", &path.down), ("up", &path.up)] {
            let mut part = part.clone();
            part.outages = with_absences(&part.outages, &path.present);
            let seed = stream_seed(config.seed, &path.name, direction);
            links.push(part.build(seed).map_err(|error| SimError::Link {
                path: path.name.clone(),
                direction,
                error: Box::new(error),
            })?);
        }
    }
    Ok(links)
}

fn check_presence(path: &PathConfig) -> Result<(), SimError> {
    let mut free_from = Some(Instant::ZERO);
    for window in &path.present {
        let start = instant("present.start_s", window.start_s)?;
        let end = window.end_s.map(|end_s| instant("present.end_s", end_s)).transpose()?;
        let ordered = free_from.is_some_and(|free| start >= free);
        if !ordered || end.is_some_and(|end| end <= start) {
            return Err(SimError::Presence(path.name.clone()));
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
