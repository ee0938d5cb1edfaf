use units::Bitrate;

/// Rounds without growth that fill the pipe (tcp_bbr.c `bbr_full_bw_cnt`).
const FLAT_ROUNDS: u32 = 3;

/// Has STARTUP found the bandwidth of the path? (tcp_bbr.c `bbr_check_full_bw_reached`)
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FullPipe {
    /// True once, then for good.
    pub(crate) reached: bool,
    bandwidth: Bitrate,
    flat_rounds: u32,
}

impl FullPipe {
    /// A round that the application did not limit has ended.
    pub(crate) fn on_round(&mut self, bandwidth: Bitrate) {
        if self.reached {
            return;
        }
        if bandwidth >= self.bandwidth.scaled(5, 4) {
            // tcp_bbr.c bbr_full_bw_thresh: +25 %
            self.bandwidth = bandwidth;
            self.flat_rounds = 0;
            return;
        }
        self.flat_rounds += 1;
        self.reached = self.flat_rounds >= FLAT_ROUNDS;
    }

    /// A timeout: what was measured may have been the gap (tcp_bbr.c `bbr_set_state`).
    pub(crate) fn on_timeout(&mut self) {
        self.bandwidth = Bitrate::ZERO;
    }

    /// The slow-down was spurious: count again (tcp_bbr.c `bbr_undo_cwnd`).
    pub(crate) fn restart(&mut self) {
        self.bandwidth = Bitrate::ZERO;
        self.flat_rounds = 0;
    }
}
