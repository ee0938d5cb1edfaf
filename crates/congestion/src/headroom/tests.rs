//! Headroom on a path of one flow, round trip by round trip.

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
