use crate::Controller;
use crate::bbr::Bbr;
use crate::cubic::Cubic;
use crate::newreno::NewReno;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How CUBIC leaves its first slow start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SlowStart {
    /// RFC 5681 §3.1: double per round trip until something is lost.
    #[serde(rename = "off")]
    Classic,
    /// RFC 9406: leave when the round-trip time rises.
    #[default]
    #[serde(rename = "hystart++")]
    HyStartPlusPlus,
}

/// What every controller is built from.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Payload bytes of one full segment.
    pub mss_bytes: u64,
    /// Initial window in segments (RFC 6928: 10).
    pub initial_window_packets: u64,
    /// Seed of the controller's own random stream (BBR's starting phase).
    pub seed: u64,
    /// How CUBIC leaves its first slow start; the other controllers do not read it.
    pub hystart: SlowStart,
}

impl Config {
    /// Ten segments of `mss_bytes` (RFC 6928 §2), random stream from `seed`, HyStart++.
    pub fn new(mss_bytes: u64, seed: u64) -> Self {
        Self { mss_bytes, initial_window_packets: 10, seed, hystart: SlowStart::default() }
    }

    /// Payload bytes of one full segment; a segment of nothing counts as one byte.
    pub(crate) fn mss(&self) -> u64 {
        self.mss_bytes.max(1)
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
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no congestion control is called '{0}'")]
pub struct UnknownAlgorithm(pub String);

impl Algorithm {
    /// All of them, in the order in which they are listed to the user.
    pub const ALL: [Self; 3] = [Self::NewReno, Self::Cubic, Self::Bbr];

    /// The name in study files: lower case, the same as serde writes.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NewReno => "newreno",
            Self::Cubic => "cubic",
            Self::Bbr => "bbr",
        }
    }

    /// Builds a fresh controller for one path.
    pub fn build(self, config: Config) -> Box<dyn Controller> {
        match self {
            Self::NewReno => Box::new(NewReno::new(config)),
            Self::Cubic => Box::new(Cubic::new(config)),
            Self::Bbr => Box::new(Bbr::new(config)),
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|algorithm| algorithm.name() == name);
        known.ok_or_else(|| UnknownAlgorithm(name.to_owned()))
    }
}
