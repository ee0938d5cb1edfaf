//! STTF, shortest transfer time first: Hurtig, Grinnemo, Brunstrom, Ferlin, Alay, Kuhn,
//! "Low-Latency Scheduling in MPTCP", IEEE/ACM ToN 2019, after the Karlstad group's `mptcp_sttf.c`
//! (docs/model.md §3.7).

use crate::default_pick::serving;
use crate::{Capabilities, ConnectionView, Decision, PathView, Scheduler};
use parameters::{Info, Parameter, Values, integer};
use units::Duration;

pub(crate) const INFO: Info = Info {
    name: "sttf",
    title: "STTF, shortest transfer time first (without the optional rescheduling)",
    source: "Hurtig et al., ToN 2019; Karlstad mptcp_sttf.c (full text of the paper not read)",
    parameters: &[QUEUE_WINDOWS],
};

pub(crate) const QUEUE_WINDOWS: Parameter = Parameter {
    name: "queue_windows",
    unit: "windows",
    kind: integer(2.0, 1.0, 64.0),
    meaning: "Congestion windows' worth of segments that may wait in the queue of a full path.",
    source: "ours: stands for the send memory of a subflow, which bounds the kernel's queues",
};

/// Puts each segment where it arrives first, even behind a full window.
#[derive(Debug)]
pub struct Sttf {
    queue_windows: u64,
}

impl Sttf {
    pub(crate) fn new(values: &Values) -> Self {
        Self { queue_windows: values.whole("queue_windows") }
    }
}

/// Time until one more segment arrives over this path. Counts the round trips that it waits in the
/// queue with a window that grows by slow start, then by one a round (§3.7); the RTT is the latest
/// sample, not the smoothed one.
pub(crate) fn transfer_time(path: &PathView) -> Duration {
    let rtt = path.latest_rtt;
    let mut waiting = 1 + path.queued_packets; // §3.7: q = 1 + unsent
    let free = path.cwnd_packets.saturating_sub(path.in_flight_packets);
    if waiting <= free {
        return rtt / 2;
    }
    waiting -= free;
    let mut window = grown(path.cwnd_packets, path.ssthresh_packets);
    let mut rounds: u32 = 1; // §3.7: T = rtt + (r - 1) * rtt + rtt / 2
    while waiting > window {
        waiting -= window;
        window = grown(window, path.ssthresh_packets);
        rounds += 1;
    }
    rtt * rounds + rtt / 2
}

/// The window one round later: doubled up to ssthresh, then one more (§3.7).
fn grown(window: u64, ssthresh: u64) -> u64 {
    if window < ssthresh { window.saturating_mul(2).min(ssthresh).max(1) } else { window + 1 }
}

impl Scheduler for Sttf {
    /// The mask of paths that carried a reinjection is respected; the Karlstad port clears it.
    fn select(&mut self, view: &ConnectionView<'_>) -> Decision {
        let first = serving(view).filter(|path| !path.tried).min_by_key(|path| transfer_time(path));
        match first {
            Some(path) if path.accepts(self.queue_windows) => Decision::Send(path.id),
            _ => Decision::Wait(None),
        }
    }

    /// The receive-buffer optimisation is off in the port (§3.7).
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            queue_limit_windows: self.queue_windows,
            receive_buffer_optimisation: false,
            ..Capabilities::default()
        }
    }
}
