//! Token-bucket policers: two stretches with heavy loss and the same delivery rate mean that
//! somebody counts, and BBR then keeps to that rate (tcp_bbr.c `bbr_lt_bw_sampling`).

use units::{Bitrate, Duration, Instant};

const MIN_ROUNDS: u32 = 4; // tcp_bbr.c bbr_lt_intvl_min_rtts
const MAX_ROUNDS: u32 = 4 * MIN_ROUNDS; // tcp_bbr.c bbr_lt_bw_sampling: "interval is too long"
const USE_ROUNDS: u32 = 48; // tcp_bbr.c bbr_lt_bw_max_rtts
const LOSS_256THS: u64 = 50; // tcp_bbr.c bbr_lt_loss_thresh: 20 % of what was delivered
const SAME_RATE_PART: u64 = 8; // tcp_bbr.c bbr_lt_bw_ratio: 1/8
const SAME_RATE_BPS: u64 = 4000; // tcp_bbr.c bbr_lt_bw_diff

/// One acknowledgement (or timeout) as the policer detector sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Observation {
    pub(super) delivered_bytes: u64,
    pub(super) lost: bool,
    pub(super) app_limited: bool,
    pub(super) round_started: bool,
    pub(super) probing_bandwidth: bool,
}

/// The long-term bandwidth ("lt_bw") and its sampling.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Policer {
    rate: Option<Bitrate>,
    in_use: bool,
    sampling: bool,
    rounds: u32,
    start: Instant,
    start_delivered_bytes: u64,
    start_lost_bytes: u64,
    lost_bytes: u64,
}

impl Policer {
    /// The policed rate, while it governs.
    pub(super) fn rate(&self) -> Option<Bitrate> {
        self.rate.filter(|_| self.in_use)
    }

    pub(super) fn on_lost(&mut self, bytes: u64) {
        self.lost_bytes = self.lost_bytes.saturating_add(bytes);
    }

    /// Forgets all (tcp_bbr.c `bbr_reset_lt_bw_sampling`).
    pub(super) fn reset(&mut self, now: Instant, delivered_bytes: u64) {
        self.rate = None;
        self.in_use = false;
        self.sampling = false;
        self.begin_interval(now, delivered_bytes);
    }

    fn begin_interval(&mut self, now: Instant, delivered_bytes: u64) {
        self.start = now;
        self.start_delivered_bytes = delivered_bytes;
        self.start_lost_bytes = self.lost_bytes;
        self.rounds = 0;
    }

    /// Returns true when the policed rate has governed for long enough: probe again.
    pub(super) fn observe(&mut self, now: Instant, seen: Observation) -> bool {
        if self.in_use {
            return self.use_up(now, seen);
        }
        if !self.sampling {
            // The first loss says that the bucket is empty; before it, the rate is the burst's.
            if !seen.lost {
                return false;
            }
            self.begin_interval(now, seen.delivered_bytes);
            self.sampling = true;
        }
        if seen.app_limited {
            self.reset(now, seen.delivered_bytes);
            return false;
        }
        self.rounds += u32::from(seen.round_started);
        if self.rounds > MAX_ROUNDS {
            self.reset(now, seen.delivered_bytes);
        } else if self.rounds >= MIN_ROUNDS && seen.lost {
            self.end_interval(now, seen.delivered_bytes);
        }
        false
    }

    fn use_up(&mut self, now: Instant, seen: Observation) -> bool {
        if !(seen.probing_bandwidth && seen.round_started) {
            return false;
        }
        self.rounds += 1;
        if self.rounds < USE_ROUNDS {
            return false;
        }
        self.reset(now, seen.delivered_bytes);
        true
    }

    /// Compares this interval with the last one (tcp_bbr.c `bbr_lt_bw_interval_done`).
    fn end_interval(&mut self, now: Instant, delivered_bytes: u64) {
        let lost = self.lost_bytes - self.start_lost_bytes;
        let delivered = delivered_bytes.saturating_sub(self.start_delivered_bytes);
        let span = now - self.start;
        let enough_lost = lost.saturating_mul(256) >= delivered.saturating_mul(LOSS_256THS);
        if delivered == 0 || !enough_lost || span < Duration::from_millis(1) {
            return; // wait for more
        }
        let rate = Bitrate::from_bytes_per(delivered, span);
        if let Some(last) = self.rate.filter(|last| alike(rate, *last)) {
            self.rate = Some(Bitrate::from_bps(rate.as_bps().midpoint(last.as_bps())));
            self.in_use = true;
            self.rounds = 0;
            return;
        }
        self.rate = Some(rate);
        self.begin_interval(now, delivered_bytes);
    }
}

fn alike(rate: Bitrate, last: Bitrate) -> bool {
    let apart = rate.as_bps().abs_diff(last.as_bps());
    apart <= last.as_bps() / SAME_RATE_PART || apart <= SAME_RATE_BPS
}
