//! The description of a run: the JSON of `python/skyweave/model/config.py`, whose units are in the names.

use crate::SimError;
use application::Workload;
use congestion::Choice as Congestion;
use link::PathConfig;
use mpquic::QuicConfig;
use mptcp::Mode;
use scheduler::Choice as Scheduling;
use serde::{Deserialize, Serialize};
use units::Instant;

/// Everything that decides the outcome of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunConfig {
    /// The paths between clients and servers.
    pub paths: Vec<PathConfig>,
    /// The connections over them; several share the links.
    pub connections: Vec<ConnectionConfig>,
    /// Every random stream of the run is derived from this.
    #[serde(default = "one")]
    pub seed: u64,
    /// The run ends here at the latest.
    #[serde(default = "an_hour")]
    pub stop_after_s: f64,
    /// Spacing of the samples.
    #[serde(default = "tenth_of_a_second")]
    pub sample_interval_ms: u64,
}

fn one() -> u64 {
    1
}

fn an_hour() -> f64 {
    3600.0
}

fn tenth_of_a_second() -> u64 {
    100
}

/// Which transport a connection speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// Single-path TCP on the first of its paths.
    Tcp,
    /// Multipath TCP on all of them.
    Mptcp,
    /// Multipath QUIC on all of them.
    Mpquic,
}

fn one_subflow() -> usize {
    1
}

/// What a connection waits for: programs open one when another has brought what they need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct After {
    /// The other connection, by its place in the run.
    pub connection: usize,
    /// What it must have delivered, in order, to its receiving application.
    pub bytes: u64,
}

/// One connection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConnectionConfig {
    /// Names of its paths in the order in which they are joined; all of them if empty.
    #[serde(default)]
    pub paths: Vec<String>,
    /// TCP, Multipath TCP or multipath QUIC.
    pub transport: Transport,
    /// Of multipath QUIC alone.
    #[serde(default)]
    pub quic: QuicConfig,
    /// Subflows over each path, which share its links (`ndiffports` of v0.96, several endpoints of
    /// one address upstream).
    #[serde(default = "one_subflow")]
    pub subflows_per_path: usize,
    /// Whose Multipath TCP.
    pub mode: Mode,
    /// Packet scheduler, by name or with parameters.
    pub scheduler: Scheduling,
    /// Congestion control, by name or with parameters.
    pub congestion: Congestion,
    /// What runs over it.
    pub workload: Workload,
    /// When the client opens it.
    #[serde(default)]
    pub start_s: f64,
    /// Opens it not at `start_s`, but once another connection has brought so much.
    #[serde(default)]
    pub after: Option<After>,
    /// The connection that closes this one when it opens, by its place in the run.
    #[serde(default)]
    pub until: Option<usize>,
    /// Send buffer.
    pub send_buffer_bytes: u64,
    /// Receive buffer, as the window that it amounts to.
    pub receive_buffer_bytes: u64,
    /// Let the receive buffer grow with the data rate.
    #[serde(default)]
    pub autotune: bool,
}

impl ConnectionConfig {
    /// The mode of its endpoints: plain headers for TCP.
    pub fn effective_mode(&self) -> Mode {
        match self.transport {
            Transport::Tcp => Mode::Tcp,
            Transport::Mptcp | Transport::Mpquic => self.mode,
        }
    }

    /// The path of each of its subflows, as an index into `all`, in joining order.
    pub(crate) fn path_indices(
        &self,
        at: usize,
        all: &[PathConfig],
    ) -> Result<Vec<usize>, SimError> {
        let find = |name: &String| {
            let found = all.iter().position(|path| path.name == *name);
            found.ok_or_else(|| SimError::UnknownPath { connection: at, name: name.clone() })
        };
        let mut indices: Vec<usize> = if self.paths.is_empty() {
            (0..all.len()).collect()
        } else {
            self.paths.iter().map(find).collect::<Result<_, _>>()?
        };
        let mut seen = std::collections::BTreeSet::new();
        if let Some(twice) = indices.iter().find(|index| !seen.insert(**index)) {
            return Err(SimError::RepeatedPath { connection: at, name: all[*twice].name.clone() });
        }
        if self.transport == Transport::Tcp {
            indices.truncate(1);
            return Ok(indices);
        }
        if self.transport == Transport::Mpquic {
            return Ok(indices);
        }
        // One subflow over each path before the second one over any.
        Ok(indices.repeat(self.subflows_per_path.max(1)))
    }
}

/// Seconds of a study file as an instant.
pub(crate) fn instant(field: &'static str, seconds: f64) -> Result<Instant, SimError> {
    if !(0.0..=1e9).contains(&seconds) {
        return Err(SimError::Time { field, seconds });
    }
    Ok(Instant::from_nanos((seconds * 1e9).round() as u64))
}
