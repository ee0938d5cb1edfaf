//! Proportional Rate Reduction: RFC 6937 with slow-start reduction bound (Linux
//! `tcp_cwnd_reduction`).

/// The window during one loss episode, in packets.
#[derive(Clone, Copy, Debug)]
pub struct Prr {
    ssthresh: u64,
    prior_cwnd: u64,
    delivered: u64,
    out: u64,
    cwnd: u64,
}

impl Prr {
    /// Begins an episode: the window is to come down from `prior_cwnd` to `ssthresh` packets.
    pub fn new(prior_cwnd: u64, ssthresh: u64) -> Self {
        Self { ssthresh, prior_cwnd: prior_cwnd.max(1), delivered: 0, out: 0, cwnd: prior_cwnd }
    }

    /// An acknowledgement delivered `delivered` packets; `in_flight` remain. `advanced`: it moved
    /// the cumulative acknowledgement and nothing new was marked lost.
    pub fn on_ack(&mut self, delivered: u64, in_flight: u64, advanced: bool) {
        if delivered == 0 {
            return;
        }
        self.delivered += delivered;
        let allowed = if in_flight > self.ssthresh {
            let share = (self.ssthresh * self.delivered).div_ceil(self.prior_cwnd);
            share.saturating_sub(self.out)
        } else {
            let gap = self.ssthresh - in_flight;
            let owed = self.delivered.saturating_sub(self.out).max(delivered) + u64::from(advanced);
            gap.min(owed)
        };
        // Force a fast retransmit upon entering recovery.
        let allowed = allowed.max(u64::from(self.out == 0));
        self.cwnd = in_flight + allowed;
    }

    /// A packet left during the episode.
    pub fn on_sent(&mut self) {
        self.out += 1;
    }

    /// Packets that may be in flight now.
    pub fn cwnd(&self) -> u64 {
        self.cwnd.max(1)
    }
}
