use crate::Controller;
use serde::{Deserialize, Serialize};

/// What every controller is built from.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Payload bytes of one full segment.
    pub mss_bytes: u64,
    /// Initial window in segments (RFC 6928: 10).
    pub initial_window_packets: u64,
    /// Seed of the controller's own random stream (BBR's starting phase).
    pub seed: u64,
}

impl Config {
    /// Ten segments of `mss_bytes` (RFC 6928), random stream from `seed`.
    pub fn new(mss_bytes: u64, seed: u64) -> Self {
        Self { mss_bytes, initial_window_packets: 10, seed }
    }
}

/// Every congestion control that can be named in a study file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Algorithm {
    /// NewReno: RFC 5681, RFC 6582.
    NewReno,
    /// CUBIC: RFC 9438, slow start by HyStart++ (RFC 9406) as an option.
    Cubic,
    /// BBR version 1: Linux `tcp_bbr.c`.
    Bbr,
}

/// A name that no congestion control has.
#[derive(Clone, Debug, thiserror::Error)]
#[error("no congestion control is called '{0}'")]
pub struct UnknownAlgorithm(pub String);

impl Algorithm {
    /// Builds a fresh controller for one path.
    pub fn build(self, _config: Config) -> Box<dyn Controller> {
        todo!()
    }
}
