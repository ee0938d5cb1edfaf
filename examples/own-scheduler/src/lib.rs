//! A scheduler from outside Skyweave, in the simulator ([`simulated`]) and on sockets ([`fetched`]).

mod loopback;
mod simulator;

pub use loopback::fetched;
pub use simulator::simulated;

use scheduler::{ConnectionView, Decision, PathView, Scheduler};

/// Sends each segment on the path whose congestion window is filled least.
#[derive(Debug, Default)]
pub struct LeastFilled;

impl Scheduler for LeastFilled {
    fn select(&mut self, view: &ConnectionView<'_>) -> Decision {
        let free = view.paths.iter().filter(|path| path.usable && path.has_room && !path.tried);
        let emptiest = free.min_by(|a, b| filled(a).total_cmp(&filled(b)));
        emptiest.map_or(Decision::Wait(None), |path| Decision::Send(path.id))
    }
}

/// Share of the window that is in flight or queued.
fn filled(path: &PathView) -> f64 {
    (path.in_flight_packets + path.queued_packets) as f64 / path.cwnd_packets.max(1) as f64
}
