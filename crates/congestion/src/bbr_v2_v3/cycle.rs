use units::{Duration, Instant};

/// Rounds are not counted beyond (tcp_bbr2.c `bbr2_main`).
const MAX_ROUNDS: u64 = 255;

/// Which part of a probe the acknowledgements belong to (tcp_bbr2.c `bbr_ack_phase`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Feedback {
    #[default]
    None,
    Refilling,
    /// The probe has begun; its first packets are not acknowledged yet.
    Starting,
    /// Acknowledgements of the probe.
    Coming,
    /// The probe is over; its last packets are not acknowledged yet.
    Stopping,
}

/// Where in a cycle of PROBE_BW the path is, and how the last probe ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cycle {
    /// When DOWN or UP began.
    pub(super) since: Instant,
    pub(super) wait: Duration,
    pub(super) rounds_since_probe: u64,
    pub(super) feedback: Feedback,
    /// Samples and losses are those of a probe, and nobody has reacted to it yet.
    pub(super) samples_are_of_probe: bool,
    pub(super) last_was_too_high: bool,
    /// The last probe ended at the bound, without loss.
    pub(super) stopped_at_bound: bool,
    /// Doublings of the growth of the bound in this probe.
    pub(super) up_rounds: u32,
    /// Bytes to be acknowledged for one more packet of the bound.
    pub(super) up_bytes_per_packet: u64,
    pub(super) up_acked_bytes: u64,
}

impl Cycle {
    pub(super) fn on_round(&mut self) {
        self.rounds_since_probe = (self.rounds_since_probe + 1).min(MAX_ROUNDS);
    }

    pub(super) fn has_lasted(&self, now: Instant, span: Duration) -> bool {
        now > self.since + span
    }
}
