use crate::Scheduler;
use serde::{Deserialize, Serialize};

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
    /// Builds a fresh scheduler for one connection.
    pub fn build(self) -> Box<dyn Scheduler> {
        todo!()
    }
}
