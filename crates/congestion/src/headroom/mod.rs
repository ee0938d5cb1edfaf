//! Headroom, our own control: a window of what the path delivers in its smallest RTT and a bounded queue.

mod ceiling;
#[cfg(test)]
mod tests;

use crate::{AckSample, Config, Controller, LossSample, Phase};
use ceiling::Ceiling;
use parameters::{Info, Parameter, Values, number};
use std::collections::VecDeque;
use units::{Bitrate, Duration, Instant};

pub(crate) const INFO: Info = Info {
    name: "headroom",
    title: "Headroom: recent rate times base RTT and a bounded queue",
    source: "ours; docs/weave.md",
    parameters: &[Parameter {
        name: "queue_ms",
        unit: "ms",
        kind: number(30.0, 1.0, 60_000.0),
        meaning: "The queue that the window allows beyond the smallest RTT; with it the rate can \
                  grow by queue_ms / RTT in a round trip.",
        source: "ours; docs/weave.md",
    }],
};

/// A rate counts for this long, or for two round trips.
const RATE_SPAN: Duration = Duration::from_millis(400);
/// A smallest RTT that was not seen again for so long is measured anew, with an empty queue.
const RTT_SPAN: Duration = Duration::from_secs(5);
/// Packets of a window at least, and beyond its target: small shares grow towards large ones.
const LEAST_PACKETS: u64 = 4;
/// A flight that loses more than this share, and three packets, is answered (BBRv2's threshold).
const LOSS_PERCENT: u64 = 2;
/// What such a flight leaves of the headroom, and what a flight without gives back, in thousandths.
const BRAKE: u64 = 700;
const RELEASE: u64 = 50;

/// The smallest RTT and when it was seen last.
#[derive(Clone, Copy, Debug)]
struct Base {
    rtt: Duration,
    seen_at: Instant,
}

/// Our control. Loss takes headroom and never rate: random losses cost nothing.
#[derive(Debug)]
pub(crate) struct Headroom {
    mss_bytes: u64,
    initial_bytes: u64,
    queue: Duration,
    window_bytes: u64,
    /// The queue has not shown yet.
    starts: bool,
    /// Rates, falling, with when they were sampled: the first one is the largest that still counts.
    rates: VecDeque<(Instant, Bitrate)>,
    base: Option<Base>,
    /// Until when the queue is drained, and the smallest RTT since that began.
    drains: Option<(Instant, Option<Duration>)>,
    /// Of the queue, in thousandths.
    headroom: u64,
    /// What the link's own queue holds, where that is less.
    ceiling: Ceiling,
    round_ends_at: u64,
    /// The window before a timeout that may have been spurious.
    undo_bytes: u64,
}

impl Headroom {
    pub(crate) fn new(config: Config, values: &Values) -> Self {
        let mss_bytes = config.mss();
        let initial_bytes = mss_bytes * config.initial_window_packets.max(LEAST_PACKETS);
        Self {
            mss_bytes,
            initial_bytes,
            queue: Duration::from_secs_f64(values.number("queue_ms") / 1e3),
            window_bytes: initial_bytes,
            starts: true,
            rates: VecDeque::new(),
            base: None,
            drains: None,
            headroom: 1000,
            ceiling: Ceiling::default(),
            round_ends_at: 0,
            undo_bytes: 0,
        }
    }

    fn least_bytes(&self) -> u64 {
        self.mss_bytes * LEAST_PACKETS
    }

    fn rate(&self) -> Bitrate {
        self.rates.front().map_or(Bitrate::ZERO, |(_, rate)| *rate)
    }

    fn queue(&self) -> Duration {
        self.ceiling.limit(self.queue * self.headroom as u32 / 1000)
    }

    /// What may be in flight by what is known of the path.
    fn target_bytes(&self) -> u64 {
        let Some(base) = self.base else { return self.initial_bytes };
        if self.drains.is_some() {
            return (self.rate().bytes_in(base.rtt) / 4 * 3).max(self.least_bytes());
        }
        self.rate().bytes_in(base.rtt + self.queue()).saturating_add(self.least_bytes())
    }

    fn see_rate(&mut self, now: Instant, ack: &AckSample) {
        let Some(sample) = ack.rate else { return };
        let span = RATE_SPAN.max(ack.srtt * 2);
        if sample.app_limited && sample.rate < self.rate() {
            return; // a lower bound
        }
        while self.rates.front().is_some_and(|(at, _)| now - *at > span) {
            self.rates.pop_front();
        }
        while self.rates.back().is_some_and(|(_, rate)| *rate <= sample.rate) {
            self.rates.pop_back();
        }
        self.rates.push_back((now, sample.rate));
    }

    fn see_rtt(&mut self, now: Instant, rtt: Duration) {
        let base = *self.base.get_or_insert(Base { rtt, seen_at: now });
        if rtt <= base.rtt + base.rtt / 16 {
            self.base = Some(Base { rtt: rtt.min(base.rtt), seen_at: now });
        }
        match &mut self.drains {
            Some((until, least)) => {
                let smallest = least.map_or(rtt, |least| least.min(rtt));
                *least = Some(smallest);
                if now >= *until {
                    self.base = Some(Base { rtt: smallest, seen_at: now });
                    self.drains = None;
                }
            }
            None if now - base.seen_at > RTT_SPAN && !self.starts => {
                // What is queued drains; then a round trip shows what is left. A pause is no round trip.
                let round = rtt.min(base.rtt * 4);
                self.drains = Some((now + self.queue() + round, None));
            }
            None => {}
        }
    }

    /// How long what was acknowledged now had waited.
    fn see_queue(&mut self, now: Instant, rtt: Duration) {
        let base = self.base.map_or(rtt, |base| base.rtt);
        self.ceiling.on_delay(now, rtt.saturating_sub(base));
    }

    fn shows_queue(&self, rtt: Duration) -> bool {
        self.base.is_some_and(|base| rtt > base.rtt + self.queue / 2)
    }
}

impl Controller for Headroom {
    fn window_bytes(&self) -> u64 {
        self.window_bytes
    }

    fn phase(&self) -> Phase {
        match (self.starts, self.drains) {
            (true, _) => Phase::SlowStart,
            (_, Some(_)) => Phase::ProbeRtt,
            _ => Phase::Avoidance,
        }
    }

    fn ssthresh_bytes(&self) -> u64 {
        if self.starts { u64::MAX } else { self.window_bytes }
    }

    fn reduces_by_prr(&self) -> bool {
        false
    }

    fn on_acked(&mut self, now: Instant, ack: &AckSample) {
        self.see_rate(now, ack);
        if let Some(rtt) = ack.rtt {
            self.see_rtt(now, rtt);
            self.see_queue(now, rtt);
            self.starts &= !self.shows_queue(rtt);
        }
        if ack.prior_delivered_bytes >= self.round_ends_at {
            self.round_ends_at = ack.delivered_bytes;
            self.headroom = (self.headroom + RELEASE).min(1000);
        }
        let grown = self.window_bytes.saturating_add(ack.acked_bytes);
        if self.starts {
            if ack.window_limited {
                self.window_bytes = grown;
            }
        } else {
            self.window_bytes = grown.min(self.target_bytes()).max(self.least_bytes());
        }
    }

    fn on_lost(&mut self, now: Instant, loss: &LossSample) {
        self.ceiling.on_lost(now, self.queue);
        let allowed = loss.tx_in_flight_bytes / 100 * LOSS_PERCENT + 3 * self.mss_bytes;
        if loss.lost_since_sent_bytes <= allowed || !loss.new_episode {
            return;
        }
        self.starts = false;
        self.headroom = self.headroom * BRAKE / 1000;
        let target = self.target_bytes().min(self.window_bytes);
        self.window_bytes = target.max(self.least_bytes());
    }

    fn on_timeout(&mut self, _now: Instant, _in_flight_bytes: u64, repeated: bool) {
        if !repeated {
            self.undo_bytes = self.window_bytes;
        }
        self.window_bytes = self.least_bytes();
    }

    fn on_spurious(&mut self, _now: Instant) {
        self.window_bytes = self.window_bytes.max(self.undo_bytes);
    }

    fn on_idle_restart(&mut self, _now: Instant, _idle: Duration, _rto: Duration) {
        let base = self.base.map_or(Duration::ZERO, |base| base.rtt);
        let unqueued = self.rate().bytes_in(base).max(self.initial_bytes);
        self.window_bytes = self.window_bytes.min(unqueued);
    }
}
