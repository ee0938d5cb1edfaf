use crate::Scheduler;
use crate::blest::Blest;
use crate::minrtt::MinRtt;
use crate::roundrobin::RoundRobin;
use crate::upstream::Upstream;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// Every scheduler that can be named in a study file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Algorithm {
    /// Lowest RTT first: the default of Multipath TCP v0.96.
    MinRtt,
    /// Round robin.
    RoundRobin,
    /// Blocking estimation (Ferlin et al., IFIP Networking 2016).
    Blest,
    /// The default scheduler of upstream Linux: shortest queue drain time.
    Upstream,
}

/// A name that no scheduler has.
#[derive(Clone, Debug, thiserror::Error)]
#[error("no scheduler is called '{0}'")]
pub struct UnknownAlgorithm(pub String);

impl Algorithm {
    /// All of them, in the order of the documentation.
    pub const ALL: [Self; 4] = [Self::MinRtt, Self::RoundRobin, Self::Blest, Self::Upstream];

    /// The name in study files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MinRtt => "minrtt",
            Self::RoundRobin => "roundrobin",
            Self::Blest => "blest",
            Self::Upstream => "upstream",
        }
    }

    /// Builds a fresh scheduler for one connection.
    pub fn build(self) -> Box<dyn Scheduler> {
        match self {
            Self::MinRtt => Box::new(MinRtt),
            Self::RoundRobin => Box::<RoundRobin>::default(),
            Self::Blest => Box::<Blest>::default(),
            Self::Upstream => Box::<Upstream>::default(),
        }
    }
}

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(name: &str) -> Result<Self, UnknownAlgorithm> {
        let found = Self::ALL.into_iter().find(|algorithm| algorithm.name() == name);
        found.ok_or_else(|| UnknownAlgorithm(name.to_owned()))
    }
}
