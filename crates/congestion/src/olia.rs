//! OLIA, the "opportunistic linked increases": LIA's goals, but windows move from paths with large
//! windows to the best ones (Khalili et al., "MPTCP is not Pareto-optimal", ToN 2013;
//! draft-khalili-mptcp-congestion-control).
//!
//! Deviation: Linux inflates the window in recovery and puts the threshold in its place here; the
//! window here is never inflated. Paths are equal only when their floats are.

use crate::coupled::Law;
use crate::group::{Paths, Sibling};
use parameters::Info;

pub(crate) const INFO: Info = Info {
    name: "olia",
    title: "OLIA (opportunistic coupled)",
    source: "Khalili et al. 2013; draft-khalili-mptcp-congestion-control; mptcp_olia.c",
    parameters: &[],
};

/// What a path has delivered between its losses.
#[derive(Debug, Default)]
pub(crate) struct Olia {
    /// Between the last two losses (l1).
    between_losses_bytes: u64,
    /// Since the last one (l2).
    since_loss_bytes: u64,
}

/// l/rtt^2, the quality of a path; l is the larger of l1 and l2 (draft-khalili;
/// docs/model.md §4.9).
fn quality(path: &Sibling) -> f64 {
    let rtt = path.srtt.as_secs_f64();
    path.shared / (rtt * rtt)
}

/// How much faster or slower than its share `own` grows (draft-khalili: alpha_r).
pub(crate) fn alpha(own: &Sibling, paths: Paths<'_>) -> f64 {
    let best = paths.max(quality);
    let largest = paths.max(|path| path.window_packets);
    let is_largest = |path: &Sibling| path.window_packets >= largest;
    let is_collected = |path: &Sibling| quality(path) >= best && !is_largest(path);
    let collected = paths.iter().filter(|path| is_collected(path)).count();
    if collected == 0 {
        return 0.0; // the best paths have the largest windows already
    }
    let share = 1.0 / paths.count() as f64;
    if is_collected(own) {
        share / collected as f64
    } else if is_largest(own) {
        -share / paths.iter().filter(|path| is_largest(path)).count() as f64
    } else {
        0.0
    }
}

impl Law for Olia {
    fn increase(&self, own: &Sibling, paths: Paths<'_>) -> f64 {
        let rate = paths.sum(Sibling::rate);
        let coupled = own.rate() / own.srtt.as_secs_f64() / (rate * rate);
        coupled + alpha(own, paths) / own.window_packets // draft-khalili; docs/model.md §4.9
    }

    fn shared(&self) -> f64 {
        self.since_loss_bytes.max(self.between_losses_bytes) as f64
    }

    fn on_delivered(&mut self, bytes: u64) {
        self.since_loss_bytes = self.since_loss_bytes.saturating_add(bytes);
    }

    fn on_loss(&mut self) {
        self.between_losses_bytes = self.since_loss_bytes;
        self.since_loss_bytes = 0;
    }
}
