//! What versions 2 and 3 remember of the path: the largest bandwidth of two probing cycles, and the
//! smallest RTT of two windows.

use units::{Bitrate, Duration, Instant};

/// Window of the minimum RTT (tcp_bbr2.c `bbr_min_rtt_win_sec`).
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);

/// Largest bandwidth of the current and the last cycle (tcp_bbr2.c `bbr2_take_max_bw_sample`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MaxBandwidth {
    last: Bitrate,
    current: Bitrate,
}

impl MaxBandwidth {
    pub(super) fn get(&self) -> Bitrate {
        self.last.max(self.current)
    }

    /// What was measured before no longer holds (ours).
    pub(super) fn renew(&mut self, rate: Bitrate) {
        *self = Self { last: Bitrate::ZERO, current: rate };
    }

    pub(super) fn update(&mut self, rate: Bitrate) {
        self.current = self.current.max(rate);
    }

    /// A cycle is over; one without a sample does not count
    /// (tcp_bbr2.c `bbr2_advance_max_bw_filter`).
    pub(super) fn advance(&mut self) {
        if self.current > Bitrate::ZERO {
            self.last = self.current;
            self.current = Bitrate::ZERO;
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Minimum {
    rtt: Duration,
    since: Instant,
}

/// The minimum RTT of ten seconds, fed by the minimum of the PROBE_RTT interval
/// (tcp_bbr2.c `bbr_update_min_rtt`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MinRtt {
    probe: Option<Minimum>,
    min: Option<Minimum>,
}

impl MinRtt {
    pub(super) fn get(&self) -> Option<Duration> {
        self.min.map(|min| min.rtt)
    }

    /// Takes a sample; true when no smaller one came for `window`: time for PROBE_RTT.
    ///
    /// Strictly smaller, as version 3 has it. Version 2 takes an equal one, too, which would put
    /// PROBE_RTT off for good on a path whose RTT carries no noise.
    pub(super) fn update(
        &mut self,
        now: Instant,
        rtt: Option<Duration>,
        ack_delayed: bool,
        window: Duration,
    ) -> bool {
        let expired = self.probe.is_some_and(|probe| now > probe.since + window);
        let Some(rtt) = rtt else { return expired };
        let smaller = self.probe.is_none_or(|probe| rtt < probe.rtt);
        if smaller || (expired && !ack_delayed) {
            self.probe = Some(Minimum { rtt, since: now });
        }
        if let Some(probe) = self.probe {
            let old = |min: Minimum| probe.rtt <= min.rtt || now > min.since + MIN_RTT_WINDOW;
            if self.min.is_none_or(old) {
                self.min = Some(probe);
            }
        }
        expired
    }

    /// What was measured before no longer holds (ours).
    pub(super) fn replace(&mut self, now: Instant, rtt: Duration) {
        let fresh = Some(Minimum { rtt, since: now });
        *self = Self { probe: fresh, min: fresh };
    }

    /// PROBE_RTT is done: the next one comes after another window.
    pub(super) fn renew(&mut self, now: Instant) {
        if let Some(probe) = &mut self.probe {
            probe.since = now;
        }
    }
}
