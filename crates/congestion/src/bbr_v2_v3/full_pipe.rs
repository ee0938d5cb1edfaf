use units::Bitrate;

/// Rounds without growth that fill the pipe (tcp_bbr2.c `bbr_full_bw_cnt`).
const FLAT_ROUNDS: u32 = 3;

/// Looks for a bandwidth that no longer grows by a quarter (tcp_bbr2.c `bbr_full_bw_thresh`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullPipe {
    /// The pipe was full once: STARTUP is over for good.
    pub(super) reached: bool,
    /// It is full now: a probe is over (version 3).
    pub(super) now: bool,
    bandwidth: Bitrate,
    flat_rounds: u32,
}

impl FullPipe {
    /// Forgets what was measured (tcp_bbr.c v3 `bbr_reset_full_bw`).
    pub(super) fn restart(&mut self) {
        self.restart_from(Bitrate::ZERO);
    }

    pub(super) fn restart_from(&mut self, bandwidth: Bitrate) {
        self.bandwidth = bandwidth;
        self.flat_rounds = 0;
        self.now = false;
    }

    /// A timeout, in version 2: what was measured may have been the gap
    /// (tcp_bbr2.c `bbr2_set_state`).
    pub(super) fn forget_bandwidth(&mut self) {
        self.bandwidth = Bitrate::ZERO;
    }

    fn grows(&self, bandwidth: Bitrate) -> bool {
        bandwidth >= self.bandwidth.scaled(5, 4) // tcp_bbr2.c bbr_full_bw_thresh: +25 %
    }

    /// Version 2: the maximum at the end of a round (tcp_bbr2.c `bbr_check_full_bw_reached`).
    pub(super) fn on_round(&mut self, max_bandwidth: Bitrate) {
        if self.reached {
            return;
        }
        if self.grows(max_bandwidth) {
            self.restart_from(max_bandwidth);
        } else {
            self.count_flat_round();
        }
    }

    /// Version 3: each sample (tcp_bbr.c v3 `bbr_check_full_bw_reached`).
    pub(super) fn on_sample(&mut self, bandwidth: Bitrate, round_started: bool) {
        if self.now {
            return;
        }
        if self.grows(bandwidth) {
            self.restart_from(bandwidth);
        } else if round_started {
            self.count_flat_round();
        }
    }

    fn count_flat_round(&mut self) {
        self.flat_rounds += 1;
        self.now = self.flat_rounds >= FLAT_ROUNDS;
        self.reached |= self.now;
    }
}
