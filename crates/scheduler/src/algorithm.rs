use crate::alcs::Alcs;
use crate::backup::Backup;
use crate::blest::Blest;
use crate::daps::Daps;
use crate::ecf::Ecf;
use crate::minrtt::MinRtt;
use crate::peekaboo::Peekaboo;
use crate::redundant::Redundant;
use crate::roundrobin::RoundRobin;
use crate::stms::Stms;
use crate::sttf::Sttf;
use crate::upstream::Upstream;
use crate::{
    Scheduler, alcs, backup, blest, daps, ecf, minrtt, peekaboo, redundant, roundrobin, stms, sttf,
    upstream,
};
use parameters::{Catalogue, ChoiceError, Info, Values};
use std::fmt;
use std::str::FromStr;

/// Every scheduler that can be named in a study file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// Lowest RTT first: the default of Multipath TCP v0.96.
    MinRtt,
    /// Round robin.
    RoundRobin,
    /// Blocking estimation (Ferlin et al., IFIP Networking 2016).
    Blest,
    /// The default scheduler of upstream Linux: shortest queue drain time.
    Upstream,
    /// Earliest completion first (Lim et al., CoNEXT 2017).
    Ecf,
    /// Every path carries the whole stream.
    Redundant,
    /// Delay-aware plan of deliveries (Kuhn et al., ICC 2014).
    Daps,
    /// Shortest transfer time first (Hurtig et al., ToN 2019).
    Sttf,
    /// STMS-like: the slow path runs ahead by a gap.
    Stms,
    /// Peekaboo-like: a bandit decides whether to wait.
    Peekaboo,
    /// ALCS (arXiv 2503.07973).
    Alcs,
    /// Active and standby.
    Backup,
}

impl Algorithm {
    /// All of them, in the order of the documentation.
    pub const ALL: [Self; 12] = [
        Self::MinRtt,
        Self::RoundRobin,
        Self::Blest,
        Self::Upstream,
        Self::Ecf,
        Self::Redundant,
        Self::Daps,
        Self::Sttf,
        Self::Stms,
        Self::Peekaboo,
        Self::Alcs,
        Self::Backup,
    ];

    /// How the algorithm describes itself: name, source, parameters.
    pub const fn info(self) -> &'static Info {
        match self {
            Self::MinRtt => &minrtt::INFO,
            Self::RoundRobin => &roundrobin::INFO,
            Self::Blest => &blest::INFO,
            Self::Upstream => &upstream::INFO,
            Self::Ecf => &ecf::INFO,
            Self::Redundant => &redundant::INFO,
            Self::Daps => &daps::INFO,
            Self::Sttf => &sttf::INFO,
            Self::Stms => &stms::INFO,
            Self::Peekaboo => &peekaboo::INFO,
            Self::Alcs => &alcs::INFO,
            Self::Backup => &backup::INFO,
        }
    }

    /// The name in study files.
    pub const fn name(self) -> &'static str {
        self.info().name
    }

    /// Builds a fresh scheduler with the defaults.
    pub fn build(self) -> Box<dyn Scheduler> {
        build(&self.into())
    }

    fn build_with(self, values: &Values) -> Box<dyn Scheduler> {
        match self {
            Self::MinRtt => Box::new(MinRtt),
            Self::RoundRobin => Box::new(RoundRobin::new(values)),
            Self::Blest => Box::<Blest>::default(),
            Self::Upstream => Box::<Upstream>::default(),
            Self::Ecf => Box::new(Ecf::new(values)),
            Self::Redundant => Box::<Redundant>::default(),
            Self::Daps => Box::new(Daps::new(values)),
            Self::Sttf => Box::new(Sttf::new(values)),
            Self::Stms => Box::new(Stms::new(values)),
            Self::Peekaboo => Box::new(Peekaboo::new(values)),
            Self::Alcs => Box::new(Alcs::new(values)),
            Self::Backup => Box::new(Backup),
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Algorithm {
    type Err = ChoiceError;

    fn from_str(name: &str) -> Result<Self, ChoiceError> {
        parameters::find(name)
    }
}

impl Catalogue for Algorithm {
    const KIND: &'static str = "scheduler";
    const CATALOGUE: &'static [Self] = &Self::ALL;

    fn description(self) -> &'static Info {
        self.info()
    }
}

/// A scheduler with checked parameters, as a study file names it.
pub type Choice = parameters::Choice<Algorithm>;

/// Builds a fresh scheduler for one connection.
pub fn build(choice: &Choice) -> Box<dyn Scheduler> {
    choice.algorithm().build_with(choice.values())
}
