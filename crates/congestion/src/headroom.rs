//! Headroom, our own control: a window of what the path delivers in its smallest RTT and a bounded queue.

use crate::{AckSample, Config, Controller, LossSample, Phase};
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
        self.queue * self.headroom as u32 / 1000
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

    fn on_lost(&mut self, _now: Instant, loss: &LossSample) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Algorithm;
    use parameters::{Given, Named};

    const MSS: u64 = 1000;

    /// A path of one flow in round trips: what is sent beyond the rate waits.
    struct Path {
        rate: Bitrate,
        base: Duration,
        now: Instant,
        delivered: u64,
        control: Headroom,
    }

    impl Path {
        fn new(mbps: f64, base_ms: u64) -> Self {
            let named = Named::Name("headroom".into());
            let choice = crate::Choice::try_from(named).unwrap();
            assert_eq!(choice.algorithm(), Algorithm::Headroom);
            Self {
                rate: Bitrate::from_mbps(mbps),
                base: Duration::from_millis(base_ms),
                now: Instant::ZERO,
                delivered: 0,
                control: Headroom::new(Config::new(MSS, 1), choice.values()),
            }
        }

        /// One round trip, after which `lost` bytes of its flight are missing: how long it took.
        fn round(&mut self, lost: u64) -> Duration {
            let flight = self.control.window_bytes();
            let rtt = self.base.max(self.rate.time_for(flight).unwrap());
            let prior_delivered_bytes = self.delivered;
            let acked = flight - lost;
            (self.now, self.delivered) = (self.now + rtt, self.delivered + acked);
            if lost > 0 {
                self.control.on_lost(
                    self.now,
                    &LossSample {
                        lost_bytes: lost,
                        in_flight_bytes: 0,
                        tx_in_flight_bytes: flight,
                        lost_since_sent_bytes: lost,
                        delivered_bytes: self.delivered,
                        new_episode: true,
                    },
                );
            }
            let rate = crate::RateSample {
                rate: Bitrate::from_bytes_per(acked, rtt),
                delivered_bytes: acked,
                interval: rtt,
                app_limited: false,
                tx_in_flight_bytes: flight,
                lost_bytes: lost,
            };
            self.control.on_acked(
                self.now,
                &AckSample {
                    acked_bytes: acked,
                    lost_bytes: lost,
                    rtt: Some(rtt),
                    ack_delayed: false,
                    srtt: rtt,
                    min_rtt: self.base,
                    prior_in_flight_bytes: flight,
                    in_flight_bytes: 0,
                    delivered_bytes: self.delivered,
                    prior_delivered_bytes,
                    rate: Some(rate),
                    window_limited: true,
                    in_recovery: false,
                },
            );
            rtt
        }

        fn rounds(&mut self, count: usize) -> Vec<Duration> {
            (0..count).map(|_| self.round(0)).collect()
        }
    }

    #[test]
    fn the_queue_is_bounded_and_the_path_is_full() {
        let mut path = Path::new(50.0, 50);
        path.rounds(30);
        for rtt in path.rounds(60) {
            // 30 ms, and four packets.
            assert!((50.0..81.5).contains(&(rtt.as_secs_f64() * 1e3)), "{rtt:?}");
        }
        let queued = path.rounds(50).iter().filter(|rtt| **rtt > path.base).count();
        assert!(queued >= 45, "{queued}"); // all but those in which it drains
    }

    #[test]
    fn random_losses_cost_nothing_and_heavy_ones_the_queue() {
        let mut path = Path::new(50.0, 50);
        path.rounds(30);
        let before = path.control.window_bytes();
        for _ in 0..20 {
            path.round(path.control.window_bytes() / 100);
        }
        assert!(path.control.window_bytes() * 100 >= before * 97);
        for _ in 0..20 {
            path.round(path.control.window_bytes() / 10);
        }
        let unqueued = path.rate.bytes_in(path.base);
        let window = path.control.window_bytes();
        assert!(window < before * 4 / 5 && window > unqueued * 8 / 10, "{window} {unqueued}");
    }

    #[test]
    fn a_rate_that_doubles_is_found_within_four_round_trips() {
        let mut path = Path::new(20.0, 50);
        path.rounds(30);
        path.rate = Bitrate::from_mbps(40.0);
        path.rounds(4);
        assert!(path.control.rate() >= Bitrate::from_mbps(39.0), "{:?}", path.control.rate());
    }

    /// The smallest RTT is measured again with an empty queue: also one that has grown.
    #[test]
    fn a_longer_way_is_found_within_seconds() {
        let mut path = Path::new(50.0, 30);
        path.rounds(30);
        path.base = Duration::from_millis(60);
        path.rounds(150);
        let base = path.control.base.unwrap().rtt;
        assert!(base >= Duration::from_millis(60) && base < Duration::from_millis(70), "{base:?}");
    }

    #[test]
    fn the_queue_is_a_parameter() {
        let parameters = [("queue_ms".to_owned(), Given::Number(100.0))].into();
        let named = Named::With { name: "headroom".into(), parameters };
        let choice = crate::Choice::try_from(named).unwrap();
        let mut path = Path::new(50.0, 50);
        path.control = Headroom::new(Config::new(MSS, 1), choice.values());
        let longest = path.rounds(60).into_iter().skip(30).max().unwrap();
        assert!((longest.as_secs_f64() - 0.15).abs() < 0.005, "{longest:?}");
    }
}
