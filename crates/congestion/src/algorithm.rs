use crate::balia::Balia;
use crate::bbr::Bbr;
use crate::bbr23::Bbr23;
use crate::coupled::Coupled;
use crate::cubic::Cubic;
use crate::cubic::linux::LinuxCubic;
use crate::cubic::picoquic::PicoquicCubic;
use crate::fast::Fast;
use crate::group::Group;
use crate::hybla::Hybla;
use crate::lia::Lia;
use crate::newreno::NewReno;
use crate::olia::Olia;
use crate::wvegas::WVegas;
use crate::{Controller, balia, bbr, bbr23, cubic, fast, hybla, lia, newreno, olia, wvegas};
use parameters::{Catalogue, ChoiceError, Info, Values};
use std::fmt;
use std::str::FromStr;

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
    /// Ten segments of `mss_bytes` (RFC 6928 §2), random stream from `seed`.
    pub fn new(mss_bytes: u64, seed: u64) -> Self {
        Self { mss_bytes, initial_window_packets: 10, seed }
    }

    /// Payload bytes of one full segment; a segment of nothing counts as one byte.
    pub(crate) fn mss(&self) -> u64 {
        self.mss_bytes.max(1)
    }
}

/// Every congestion control that can be named in a study file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// NewReno: RFC 5681, RFC 6582.
    NewReno,
    /// CUBIC: RFC 9438, slow start by HyStart++ (RFC 9406) as an option.
    Cubic,
    /// BBR version 1: Linux `tcp_bbr.c`.
    Bbr,
    /// BBR version 2: google/bbr `tcp_bbr2.c`, v2alpha.
    Bbr2,
    /// BBR version 3: google/bbr `tcp_bbr.c`, draft-ietf-ccwg-bbr.
    Bbr3,
    /// CUBIC as Linux has it: `tcp_cubic.c`.
    CubicLinux,
    /// CUBIC as picoquic has it.
    CubicPicoquic,
    /// FAST as picoquic has it; not FAST TCP.
    Fast,
    /// TCP Hybla: Linux `tcp_hybla.c`.
    Hybla,
    /// LIA: RFC 6356; coupled.
    Lia,
    /// OLIA: draft-khalili-mptcp-congestion-control; coupled.
    Olia,
    /// BALIA: draft-walid-mptcp-congestion-control; coupled.
    Balia,
    /// wVegas: draft-xu-mptcp-congestion-control; coupled.
    WVegas,
}

impl Algorithm {
    /// All of them, in the order in which they are listed to the user.
    pub const ALL: [Self; 13] = [
        Self::NewReno,
        Self::Cubic,
        Self::Bbr,
        Self::Bbr2,
        Self::Bbr3,
        Self::CubicLinux,
        Self::CubicPicoquic,
        Self::Fast,
        Self::Hybla,
        Self::Lia,
        Self::Olia,
        Self::Balia,
        Self::WVegas,
    ];

    /// How the algorithm describes itself: name, source, parameters.
    pub const fn info(self) -> &'static Info {
        match self {
            Self::NewReno => &newreno::INFO,
            Self::Cubic => &cubic::INFO,
            Self::Bbr => &bbr::INFO,
            Self::Bbr2 => &bbr23::V2,
            Self::Bbr3 => &bbr23::V3,
            Self::CubicLinux => &cubic::linux::INFO,
            Self::CubicPicoquic => &cubic::picoquic::INFO,
            Self::Fast => &fast::INFO,
            Self::Hybla => &hybla::INFO,
            Self::Lia => &lia::INFO,
            Self::Olia => &olia::INFO,
            Self::Balia => &balia::INFO,
            Self::WVegas => &wvegas::INFO,
        }
    }

    /// The name in study files.
    pub const fn name(self) -> &'static str {
        self.info().name
    }

    /// Builds a fresh controller with the defaults, coupled to no other.
    pub fn build(self, config: Config) -> Box<dyn Controller> {
        build(&self.into(), config, &Group::new())
    }

    /// Builds a fresh controller for one path from checked parameters. Coupled algorithms join
    /// `group`, which all paths of a connection share.
    fn build_with(self, config: Config, values: &Values, group: &Group) -> Box<dyn Controller> {
        match self {
            Self::NewReno => Box::new(NewReno::new(config)),
            Self::Cubic => Box::new(Cubic::new(config, values)),
            Self::Bbr => Box::new(Bbr::new(config)),
            Self::Bbr2 => Box::new(Bbr23::v2(config, values)),
            Self::Bbr3 => Box::new(Bbr23::v3(config, values)),
            Self::CubicLinux => Box::new(LinuxCubic::new(config)),
            Self::CubicPicoquic => Box::new(PicoquicCubic::new(config)),
            Self::Fast => Box::new(Fast::new(config, values)),
            Self::Hybla => Box::new(Hybla::new(config, values)),
            Self::Lia => Box::new(Coupled::new(config, group, Lia)),
            Self::Olia => Box::new(Coupled::new(config, group, Olia::default())),
            Self::Balia => Box::new(Coupled::new(config, group, Balia::new(values))),
            Self::WVegas => Box::new(WVegas::new(config, values, group)),
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
    const KIND: &'static str = "congestion control";
    const CATALOGUE: &'static [Self] = &Self::ALL;

    fn description(self) -> &'static Info {
        self.info()
    }
}

/// A congestion control with checked parameters, as a study file names it.
pub type Choice = parameters::Choice<Algorithm>;

/// Builds a fresh controller for one path; coupled ones join `group`, which all paths of a
/// connection share.
pub fn build(choice: &Choice, config: Config, group: &Group) -> Box<dyn Controller> {
    choice.algorithm().build_with(config, choice.values(), group)
}
