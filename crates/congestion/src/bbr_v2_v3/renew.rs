//! The path has changed, and somebody knows it (ours: `boundary`).

use super::{BbrV2V3, Mode};
use crate::boundary::{Renewable, Seen};
use units::Instant;

impl Renewable for BbrV2V3 {
    /// Both filters start anew from what is seen; in PROBE_BW, a probe for bandwidth follows at once.
    /// STARTUP, DRAIN and PROBE_RTT go on: what they look for is the path as it is now.
    fn renew(&mut self, now: Instant, seen: Seen) {
        if let Some(rate) = seen.rate {
            self.max_bandwidth.renew(rate);
        }
        if let Some(rtt) = seen.rtt {
            self.min_rtt.replace(now, rtt);
        }
        if matches!(self.mode, Mode::ProbeBw(_)) {
            self.start_refill();
        }
    }
}
