//! Lowest RTT first: `default` of Multipath TCP v0.96 (`mptcp_sched.c`; docs/model.md §3.1a).

use crate::default_pick::default_pick;
use crate::{ConnectionView, Decision, Scheduler};
use parameters::Info;

pub(crate) const INFO: Info = Info {
    name: "minrtt",
    title: "Lowest RTT first",
    source: "multipath-tcp.org v0.96 mptcp_sched.c",
    parameters: &[],
};

/// Sends each segment on the available path with the smallest smoothed RTT. No state: the
/// receive-buffer optimisation that belongs to it lives in the connection.
#[derive(Debug, Default)]
pub struct MinRtt;

impl Scheduler for MinRtt {
    fn select(&mut self, view: &ConnectionView<'_>) -> Decision {
        default_pick(view).map_or(Decision::Wait(None), |path| Decision::Send(path.id))
    }
}
