//! What every version of BBR keeps of its dip for the minimum RTT.

use units::Instant;

/// A dip under way (PROBE_RTT), and what it makes of the bandwidth samples.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Dip {
    /// When it may end; `None` until no more than its window is in flight.
    pub(crate) done_at: Option<Instant>,
    /// A whole round has passed since then.
    pub(crate) round_done: bool,
    /// Packets that left when this range of bytes had been delivered left during the dip.
    left_at: Option<(u64, u64)>,
}

impl Dip {
    /// One that begins now.
    pub(crate) fn begin(delivered_bytes: u64) -> Self {
        Self { left_at: Some((delivered_bytes, delivered_bytes)), ..Self::default() }
    }

    /// Goes on with this much in flight.
    pub(crate) fn extend(&mut self, delivered_bytes: u64, in_flight_bytes: u64) {
        if let Some((_, to)) = &mut self.left_at {
            *to = delivered_bytes.saturating_add(in_flight_bytes);
        }
    }

    /// The sampled packet left during a dip, so its rate says nothing about the path. Linux marks
    /// the connection app-limited instead (tcp_bbr.c `bbr_update_min_rtt`); a controller here
    /// cannot, but it knows by the delivered bytes which packets that would have marked.
    pub(crate) fn covers(&self, prior_delivered_bytes: u64) -> bool {
        self.left_at.is_some_and(|(from, to)| (from..=to).contains(&prior_delivered_bytes))
    }
}
