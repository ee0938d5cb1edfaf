//! Quality of experience of an adaptive session: the linear combination of Yin et al. 2015 (§3.1, eq. 5),
//! with its terms apart.

use crate::Ladder;
use serde::{Deserialize, Serialize};

/// How a bitrate is valued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Value {
    /// Its megabits per second.
    #[default]
    Linear,
    /// The logarithm of its ratio to the lowest one.
    Log,
}

/// What quality, waiting and switches are worth.
#[derive(Clone, Debug, PartialEq)]
pub struct Qoe {
    values: Vec<f64>,
    rebuffer_weight: f64,
}

/// The terms of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Terms {
    /// Sum of the values of all chunks.
    pub quality: f64,
    /// Seconds of rebuffering, startup not included.
    pub rebuffer_s: f64,
    /// Sum of the differences in value from chunk to chunk.
    pub switches: f64,
}

impl Qoe {
    /// Values the qualities of a ladder. A second of rebuffering costs as much as the best quality is
    /// worth, as in Pensieve (4.3 of a ladder up to 4.3 Mbit/s; 2.66 = ln(4300 / 300) for the logarithm).
    pub fn new(value: Value, ladder: &Ladder) -> Self {
        let lowest = ladder.mbps(0);
        let worth = |mbps: &f64| match value {
            Value::Linear => *mbps,
            Value::Log => libm::log(mbps / lowest),
        };
        let values: Vec<f64> = ladder.bitrates_mbps().iter().map(worth).collect();
        let rebuffer_weight = values.last().copied().unwrap_or(0.0);
        Self { values, rebuffer_weight }
    }

    /// What a chunk in this quality is worth.
    pub fn value(&self, quality: usize) -> f64 {
        self.values[quality.min(self.values.len() - 1)]
    }

    /// What a second of rebuffering costs.
    pub fn rebuffer_weight(&self) -> f64 {
        self.rebuffer_weight
    }

    /// All terms together.
    pub fn total(&self, terms: &Terms) -> f64 {
        terms.quality - self.rebuffer_weight * terms.rebuffer_s - terms.switches
    }

    /// Adds a chunk to the terms.
    pub fn add(&self, terms: &mut Terms, before: Option<usize>, quality: usize) {
        terms.quality += self.value(quality);
        if let Some(before) = before {
            terms.switches += (self.value(quality) - self.value(before)).abs();
        }
    }
}
