//! LIA, the "linked increases" of RFC 6356: together, the paths take no more than one TCP would on
//! the best of them.
//!
//! Deviation: Linux `mptcp_coupled.c` computes alpha in fixed point and keeps it between window
//! increments; here it is computed for each acknowledgement.

use crate::coupled::Law;
use crate::group::{Paths, Sibling};
use parameters::Info;

pub(crate) const INFO: Info = Info {
    name: "lia",
    title: "LIA (coupled)",
    source: "RFC 6356; multipath-tcp mptcp_coupled.c",
    parameters: &[],
};

#[derive(Debug)]
pub(crate) struct Lia;

/// alpha, for windows in packets (RFC 6356 §3 eq. 2).
pub(crate) fn alpha(paths: Paths<'_>) -> f64 {
    let total = paths.sum(|path| path.window_packets);
    let best = paths.max(|path| path.rate() / path.srtt.as_secs_f64()); // w / rtt^2
    let rate = paths.sum(Sibling::rate);
    total * best / (rate * rate)
}

impl Law for Lia {
    fn increase(&self, own: &Sibling, paths: Paths<'_>) -> f64 {
        let total = paths.sum(|path| path.window_packets);
        (alpha(paths) / total).min(1.0 / own.window_packets) // RFC 6356 §3 eq. 1
    }
}
