//! RTT estimation and retransmission timeout: RFC 6298 with Linux's changes (`tcp_input.c`,
//! `tcp_rtt_estimator` and `tcp_set_rto`; docs/model.md §1.1).

use units::Duration;

/// Linux `TCP_RTO_MIN`.
pub const RTO_MIN: Duration = Duration::from_millis(200);
/// Linux `TCP_RTO_MAX`.
pub const RTO_MAX: Duration = Duration::from_secs(120);
/// RFC 6298 (2.1), Linux `TCP_TIMEOUT_INIT`.
pub const RTO_INITIAL: Duration = Duration::from_secs(1);

const RTO_MIN_NS: u64 = RTO_MIN.as_nanos();

/// Smoothed RTT, its deviation and the timeout that follows from them.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    /// 8 × smoothed RTT in ns (Linux `srtt_us`); zero before the first sample.
    srtt_x8_ns: u64,
    /// 4 × mean deviation in ns (Linux `mdev_us`).
    mdev_x4_ns: u64,
    /// Largest `mdev_x4_ns` of this round trip, never below the RTO floor (Linux `mdev_max_us`).
    mdev_max_ns: u64,
    /// Linux `rttvar_us`: 4 × deviation, smoothed maximum, never below the RTO floor.
    rttvar_ns: u64,
    /// The round trip ends when this packet is acknowledged (Linux `rtt_seq`).
    round_end: u64,
    latest: Duration,
    min: Duration,
}

impl Default for RttEstimator {
    fn default() -> Self {
        Self {
            srtt_x8_ns: 0,
            mdev_x4_ns: 0,
            mdev_max_ns: RTO_MIN_NS,
            rttvar_ns: RTO_MIN_NS,
            round_end: 0,
            latest: Duration::ZERO,
            min: Duration::MAX,
        }
    }
}

impl RttEstimator {
    /// Takes one sample. `una` and `next` are the first unacknowledged and the next new packet
    /// after the acknowledgement: they delimit the round trips in which the deviation may fall.
    pub fn on_sample(&mut self, rtt: Duration, una: u64, next: u64) {
        let rtt_ns = (rtt.as_nanos()).max(1);
        self.latest = rtt;
        if self.srtt_x8_ns == 0 {
            self.srtt_x8_ns = rtt_ns * 8;
            self.mdev_x4_ns = rtt_ns * 2; // RFC 6298 (2.2): var = R/2
            self.rttvar_ns = self.mdev_x4_ns.max(RTO_MIN_NS);
            self.mdev_max_ns = self.rttvar_ns;
            self.round_end = next;
            return;
        }
        self.smooth(rtt_ns);
        if self.mdev_x4_ns > self.mdev_max_ns {
            self.mdev_max_ns = self.mdev_x4_ns;
            self.rttvar_ns = self.rttvar_ns.max(self.mdev_max_ns);
        }
        if una > self.round_end {
            if self.mdev_max_ns < self.rttvar_ns {
                self.rttvar_ns -= (self.rttvar_ns - self.mdev_max_ns) / 4;
            }
            self.round_end = next;
            self.mdev_max_ns = RTO_MIN_NS;
        }
    }

    fn smooth(&mut self, rtt_ns: u64) {
        let srtt_ns = self.srtt_x8_ns / 8;
        let error_ns = rtt_ns.abs_diff(srtt_ns);
        let mdev_ns = self.mdev_x4_ns / 4;
        if rtt_ns < srtt_ns {
            self.srtt_x8_ns -= error_ns;
        } else {
            self.srtt_x8_ns += error_ns;
        }
        if error_ns <= mdev_ns {
            self.mdev_x4_ns -= mdev_ns - error_ns;
        } else if rtt_ns < srtt_ns {
            // A falling RTT raises the deviation eight times slower ("Eifel" in tcp_input.c).
            self.mdev_x4_ns += (error_ns - mdev_ns) / 8;
        } else {
            self.mdev_x4_ns += error_ns - mdev_ns;
        }
    }

    /// Takes a sample for the minimum only: the newest packet of an acknowledgement, without the
    /// wait of a delayed ACK (Linux `tcp_update_rtt_min(ca_rtt_us)`).
    pub fn on_min_sample(&mut self, rtt: Duration) {
        self.min = self.min.min(rtt);
    }

    /// Whether a sample was taken.
    pub fn has_sample(&self) -> bool {
        self.srtt_x8_ns != 0
    }

    /// Smoothed RTT; zero before the first sample.
    pub fn srtt(&self) -> Duration {
        Duration::from_nanos(self.srtt_x8_ns / 8)
    }

    /// Latest sample.
    pub fn latest(&self) -> Duration {
        self.latest
    }

    /// Smallest sample; zero before the first one.
    pub fn min(&self) -> Duration {
        if self.min == Duration::MAX { self.srtt() } else { self.min }
    }

    /// Mean deviation as it is.
    pub fn mdev(&self) -> Duration {
        Duration::from_nanos(self.mdev_x4_ns / 4)
    }

    /// Linux `rttvar_us`: never below 200 ms (docs/model.md §1.1).
    pub fn rttvar_kernel(&self) -> Duration {
        Duration::from_nanos(self.rttvar_ns)
    }

    /// Retransmission timeout after `backoff` doublings, at most [`RTO_MAX`].
    pub fn rto(&self, backoff: u32) -> Duration {
        let base_ns =
            if self.has_sample() { self.srtt_x8_ns / 8 + self.rttvar_ns } else { RTO_INITIAL_NS };
        let doubled = u128::from(base_ns) << backoff.min(32);
        Duration::from_nanos(doubled.min(u128::from(RTO_MAX.as_nanos())) as u64)
    }
}

const RTO_INITIAL_NS: u64 = RTO_INITIAL.as_nanos();
