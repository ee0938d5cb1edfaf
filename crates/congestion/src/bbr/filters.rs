//! What BBR remembers of the path: the largest bandwidth of ten rounds, the smallest RTT of ten
//! seconds.

use units::{Bitrate, Duration, Instant};

/// Window of the bandwidth filter: one gain cycle and two rounds (tcp_bbr.c `bbr_bw_rtts`).
const BANDWIDTH_ROUNDS: u64 = 8 + 2;
/// Window of the RTT filter (tcp_bbr.c `bbr_min_rtt_win_sec`).
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, Debug, Default)]
struct Best {
    round: u64,
    rate: Bitrate,
}

/// Running maximum over the last ten rounds, in constant space: the best sample, and the best ones
/// of the later parts of the window to take over when it expires (Linux `lib/win_minmax.c`,
/// after Kathleen Nichols).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MaxBandwidth {
    best: [Best; 3],
}

impl MaxBandwidth {
    pub(crate) fn get(&self) -> Bitrate {
        self.best[0].rate
    }

    /// Forgets all but this (win_minmax.c `minmax_reset`).
    pub(crate) fn reset(&mut self, round: u64, rate: Bitrate) {
        self.best = [Best { round, rate }; 3];
    }

    pub(crate) fn update(&mut self, round: u64, rate: Bitrate) {
        let sample = Best { round, rate };
        let expired = round - self.best[2].round > BANDWIDTH_ROUNDS;
        if rate >= self.best[0].rate || expired {
            self.best = [sample; 3];
            return;
        }
        if rate >= self.best[1].rate {
            self.best[1] = sample;
            self.best[2] = sample;
        } else if rate >= self.best[2].rate {
            self.best[2] = sample;
        }
        self.age(sample);
    }

    /// Moves the runners-up forward, and renews those that stand too near to the best one
    /// (win_minmax.c `minmax_subwin_update`: after a quarter and half of the window).
    fn age(&mut self, sample: Best) {
        let age = sample.round - self.best[0].round;
        if age > BANDWIDTH_ROUNDS {
            self.best = [self.best[1], self.best[2], sample];
            if sample.round - self.best[0].round > BANDWIDTH_ROUNDS {
                self.best = [self.best[1], self.best[2], sample];
            }
        } else if self.best[1].round == self.best[0].round && age > BANDWIDTH_ROUNDS / 4 {
            self.best[1] = sample;
            self.best[2] = sample;
        } else if self.best[2].round == self.best[1].round && age > BANDWIDTH_ROUNDS / 2 {
            self.best[2] = sample;
        }
    }
}

/// Smallest RTT, renewed when it has stood for ten seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MinRtt {
    best: Option<(Duration, Instant)>,
    window: Duration,
}

impl Default for MinRtt {
    fn default() -> Self {
        Self::over(MIN_RTT_WINDOW)
    }
}

impl MinRtt {
    /// One that expires after `window`.
    pub(crate) fn over(window: Duration) -> Self {
        Self { best: None, window }
    }

    pub(crate) fn get(&self) -> Option<Duration> {
        self.best.map(|(rtt, _)| rtt)
    }

    /// True when the minimum has stood for longer than its window.
    pub(crate) fn expired(&self, now: Instant) -> bool {
        self.best.is_some_and(|(_, since)| now > since + self.window)
    }

    /// Takes a sample in place of the minimum, whatever it is (leocc.c `leocc_update_min_rtt`).
    pub(crate) fn replace(&mut self, now: Instant, rtt: Duration) {
        self.best = Some((rtt, now));
    }

    /// Takes a smaller sample always, a larger one when the old minimum has expired and the
    /// receiver did not hold the ACK back (tcp_bbr.c `bbr_update_min_rtt`: strictly smaller, so
    /// that an equal one does not put PROBE_RTT off; that matters where RTTs carry no noise).
    pub(crate) fn update(&mut self, now: Instant, rtt: Option<Duration>, ack_delayed: bool) {
        let Some(rtt) = rtt else { return };
        let smaller = self.best.is_none_or(|(best, _)| rtt < best);
        if smaller || (self.expired(now) && !ack_delayed) {
            self.best = Some((rtt, now));
        }
    }

    /// PROBE_RTT is done: the minimum stands for another window.
    pub(crate) fn renew(&mut self, now: Instant) {
        if let Some((_, since)) = &mut self.best {
            *since = now;
        }
    }
}

/// Round trips counted by packets: one ends when a packet is acknowledged that left after the
/// round began (tcp_bbr.c `bbr_update_bw`).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rounds {
    /// Rounds so far.
    pub(crate) count: u64,
    /// The acknowledgement in hand began a round.
    pub(crate) started: bool,
    end_bytes: u64,
}

impl Rounds {
    /// `prior_bytes` had been delivered when the acknowledged packet left.
    pub(crate) fn on_acked(&mut self, prior_bytes: u64, delivered_bytes: u64) {
        self.started = prior_bytes >= self.end_bytes;
        if self.started {
            self.end_bytes = delivered_bytes;
            self.count += 1;
        }
    }

    /// Lets a round begin here.
    pub(crate) fn restart(&mut self, delivered_bytes: u64) {
        self.end_bytes = delivered_bytes;
    }
}
