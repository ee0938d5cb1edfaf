//! How fast packets leave, and how many at once.

use super::gain::Gain;
use units::{Bitrate, Duration};

/// Pace 1 % below the bandwidth, so that queues shrink (tcp_bbr.c `bbr_pacing_margin_percent`).
const MARGIN_PERCENT: u64 = 1;
/// RTT before the first sample (tcp_bbr.c `bbr_init_pacing_rate_from_rtt`: 1 ms).
const NOMINAL_RTT: Duration = Duration::from_millis(1);
/// Below this rate, one packet at a time (tcp_bbr.c `bbr_min_tso_rate`).
const SINGLE_PACKET_BPS: u64 = 1_200_000;
/// A burst holds the bytes of 1/1024 s (Linux `sk_pacing_shift` = 10, about 1 ms) ...
const BURST_SHIFT: u32 = 10;
/// ... but no more than one segmentation offload (Linux `GSO_LEGACY_MAX_SIZE` - 1 -
/// `MAX_TCP_HEADER`, which is 320 on x86-64) ...
const BURST_MAX_BYTES: u64 = 65_536 - 1 - 320;
/// ... nor than this many packets (tcp_bbr.c `bbr_tso_segs_goal`).
const BURST_MAX_PACKETS: u64 = 0x7f;

/// The pacing rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pacing {
    rate: Bitrate,
    has_seen_rtt: bool,
    /// One packet per second: never so slow that the path stands still (ours; Linux has no floor).
    floor: Bitrate,
    /// Gain on the initial window.
    initial_gain: Gain,
}

impl Pacing {
    /// The initial window in one nominal RTT, times the gain of STARTUP.
    pub(crate) fn new(window_bytes: u64, mss_bytes: u64, initial_gain: Gain) -> Self {
        let floor = Bitrate::from_bps(mss_bytes.saturating_mul(8));
        let mut pacing = Self { rate: floor, has_seen_rtt: false, floor, initial_gain };
        pacing.start(window_bytes, NOMINAL_RTT);
        pacing
    }

    pub(crate) fn rate(&self) -> Bitrate {
        self.rate
    }

    /// The first RTT sample replaces the nominal one (tcp_bbr.c `bbr_init_pacing_rate_from_rtt`).
    pub(crate) fn on_srtt(&mut self, window_bytes: u64, srtt: Duration) {
        if !self.has_seen_rtt && !srtt.is_zero() {
            self.has_seen_rtt = true;
            self.start(window_bytes, srtt.max(Duration::from_micros(1)));
        }
    }

    fn start(&mut self, window_bytes: u64, rtt: Duration) {
        self.set(Bitrate::from_bytes_per(window_bytes, rtt), self.initial_gain);
    }

    /// Follows the model: `may_fall` once the pipe has been full, only upwards before
    /// (tcp_bbr.c `bbr_set_pacing_rate`).
    pub(crate) fn follow(&mut self, bandwidth: Bitrate, gain: Gain, may_fall: bool) {
        let before = self.rate;
        self.set(bandwidth, gain);
        if !may_fall {
            self.rate = self.rate.max(before);
        }
    }

    fn set(&mut self, bandwidth: Bitrate, gain: Gain) {
        self.rate = gain.of(bandwidth).scaled(100 - MARGIN_PERCENT, 100).max(self.floor);
    }

    /// Packets that may leave back to back (tcp_bbr.c `bbr_tso_segs_goal`, which also sizes the
    /// budget in the window): about a millisecond's worth, at least two, one at low rates.
    pub(crate) fn quantum_packets(&self, mss_bytes: u64) -> u64 {
        let least = if self.rate.as_bps() < SINGLE_PACKET_BPS { 1 } else { 2 };
        let bytes = ((self.rate.as_bps() / 8) >> BURST_SHIFT).min(BURST_MAX_BYTES);
        (bytes / mss_bytes).max(least).min(BURST_MAX_PACKETS)
    }
}
