//! BALIA, the "balanced linked adaptation": between LIA's friendliness and OLIA's responsiveness
//! (Peng et al., "Multipath TCP: Analysis, Design, and Implementation", ToN 2016;
//! draft-walid-mptcp-congestion-control).
//!
//! Linux `mptcp_balia.c` computes with whole numbers. In the decrease that makes a path that is
//! less than twice as slow as the fastest one halve like the fastest, where the paper takes up to
//! three quarters; `kernel_exact` does so, too.

use crate::coupled::Law;
use crate::group::{Paths, Sibling};
use parameters::{Info, Parameter, Values, flag};

pub(crate) const INFO: Info = Info {
    name: "balia",
    title: "BALIA (balanced linked adaptation)",
    source: "Peng et al. 2016; draft-walid-mptcp-congestion-control; mptcp_balia.c",
    parameters: &[Parameter {
        name: "kernel_exact",
        unit: "",
        kind: flag(false),
        meaning: "Round the ratio of rates and the packets per increment down, as Linux does.",
        source: "multipath-tcp mptcp_balia.c",
    }],
};

/// A decrease takes no more than this many halves (draft-walid; docs/model.md §4.10).
const MAX_HALVES: f64 = 1.5;

#[derive(Debug)]
pub(crate) struct Balia {
    kernel_exact: bool,
}

impl Balia {
    pub(crate) fn new(values: &Values) -> Self {
        Self { kernel_exact: values.flag("kernel_exact") }
    }
}

/// a_r: how many times faster the fastest path is (draft-walid).
pub(crate) fn ratio(own: &Sibling, paths: Paths<'_>) -> f64 {
    paths.max(Sibling::rate) / own.rate()
}

/// Acknowledged packets for one more in the window: the inverse of
/// x/(rtt (sum x)^2) (1+a)/2 (4+a)/5 of draft-walid, in the form of mptcp_balia.c.
pub(crate) fn packets_per_increment(own: &Sibling, paths: Paths<'_>) -> f64 {
    let (rate, max) = (own.rate(), paths.max(Sibling::rate));
    let sum = paths.sum(Sibling::rate);
    10.0 * sum * sum * own.window_packets / ((rate + max) * (4.0 * rate + max))
}

impl Law for Balia {
    fn increase(&self, own: &Sibling, paths: Paths<'_>) -> f64 {
        let packets = packets_per_increment(own, paths);
        1.0 / if self.kernel_exact { packets.floor().max(1.0) } else { packets }
    }

    fn surviving(&self, own: &Sibling, paths: Paths<'_>) -> f64 {
        let ratio = ratio(own, paths);
        let halves = if self.kernel_exact { ratio.floor() } else { ratio };
        1.0 - 0.5 * halves.min(MAX_HALVES) // draft-walid: w/2 min(a, 1.5) less
    }
}
