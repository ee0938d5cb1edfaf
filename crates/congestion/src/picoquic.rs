//! What picoquic's FAST and CUBIC share (`picoquic/cc_common.c`): the filter of the last RTTs, the
//! test that forgives single losses, and the pace.

use units::{Bitrate, Duration};

/// Samples that the filter holds (cc_common.h `PICOQUIC_MIN_MAX_RTT_SCOPE`).
pub(crate) const SAMPLES: usize = 7;
/// Weight of one packet in the rate of loss (cc_common.h `PICOQUIC_SMOOTHED_LOSS_FACTOR`).
const FACTOR: f64 = 1.0 / 16.0;
/// Packets after which nothing is remembered (cc_common.h `PICOQUIC_SMOOTHED_LOSS_SCOPE`).
const SCOPE: u64 = 32;
/// Rate of loss that is congestion (cc_common.h `PICOQUIC_SMOOTHED_LOSS_THRESHOLD`).
const THRESHOLD: f64 = 0.15;
/// Smallest window in packets (picoquic_internal.h `PICOQUIC_CWIN_MINIMUM`).
pub(crate) const MIN_WINDOW_PACKETS: u64 = 2;
/// Packets that leave back to back (sender.c `picoquic_update_pacing_data`).
const QUANTUM_PACKETS: std::ops::RangeInclusive<u64> = 2..=16;

/// The last seven RTT samples.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RttFilter {
    samples: [Duration; SAMPLES],
    next: usize,
    full: bool,
}

impl RttFilter {
    /// Adds a sample; the smallest and the largest of the last seven, once there are seven.
    pub(crate) fn add(&mut self, rtt: Duration) -> Option<(Duration, Duration)> {
        self.samples[self.next] = rtt;
        self.next = (self.next + 1) % SAMPLES;
        self.full |= self.next == 0;
        let smallest = self.samples.iter().fold(Duration::MAX, |least, rtt| least.min(*rtt));
        let largest = self.samples.iter().fold(Duration::ZERO, |most, rtt| most.max(*rtt));
        self.full.then_some((smallest, largest))
    }
}

/// Is a loss more than a random one? (cc_common.c `picoquic_hystart_loss_test`)
///
/// picoquic counts by packet numbers. A controller here does not see them, but on a path that keeps
/// the order, the newest lost packet's is what was delivered and lost before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LossFilter {
    mss_bytes: u64,
    rate: f64,
    lost_bytes: u64,
    /// Bytes delivered at the last loss.
    delivered_bytes: u64,
}

impl LossFilter {
    pub(crate) fn new(mss_bytes: u64) -> Self {
        Self { mss_bytes, rate: 0.0, lost_bytes: 0, delivered_bytes: 0 }
    }

    /// Takes in packets that were lost after `delivered_bytes` had been delivered in total; true if
    /// the smoothed rate of loss says congestion.
    pub(crate) fn on_lost(&mut self, lost_bytes: u64, delivered_bytes: u64) -> bool {
        let delivered = delivered_bytes.saturating_sub(self.delivered_bytes) / self.mss_bytes;
        self.delivered_bytes = self.delivered_bytes.max(delivered_bytes);
        self.lost_bytes = self.lost_bytes.saturating_add(lost_bytes);
        let mut gap = delivered.saturating_add(1).min(SCOPE);
        for _ in 0..lost_bytes.div_ceil(self.mss_bytes).min(SCOPE) {
            for _ in 0..gap {
                self.rate *= 1.0 - FACTOR;
            }
            self.rate += (1.0 - self.rate) * FACTOR;
            gap = 1; // the others of a batch follow at once
        }
        self.rate > THRESHOLD
    }

    /// Bytes that have left the path: the place of the newest lost packet in the stream.
    pub(crate) fn position(&self) -> u64 {
        self.delivered_bytes.saturating_add(self.lost_bytes)
    }
}

/// A quarter of a window (picoquic `picoquic_update_pacing_data`).
pub(crate) fn quantum(window_bytes: u64, mss_bytes: u64) -> u64 {
    let (least, most) = (*QUANTUM_PACKETS.start(), *QUANTUM_PACKETS.end());
    (window_bytes / 4).clamp(mss_bytes.saturating_mul(least), mss_bytes.saturating_mul(most))
}

/// One window per smoothed RTT (picoquic `picoquic_update_pacing_data`), at least one packet per
/// second; `None` before the first RTT.
pub(crate) fn pace(window_bytes: u64, srtt: Duration, mss_bytes: u64) -> Option<Bitrate> {
    let least = Bitrate::from_bps(mss_bytes.saturating_mul(8));
    (!srtt.is_zero()).then(|| Bitrate::from_bytes_per(window_bytes, srtt).max(least))
}
