use super::*;
use crate::{CapacityConfig, DelayConfig, InFlight, LossConfig};
use proptest::prelude::*;
use trace::{Opportunities, Steps};
use units::Bitrate;

/// Gap to the packet before it in µs, and its size in bytes.
pub(super) type Push = (u64, u64);

pub(super) fn pushes() -> impl Strategy<Value = Vec<Push>> {
    prop::collection::vec((prop_oneof![Just(0), 0_u64..5000], 40_u64..3100), 1..120)
}

/// Times in ms that start at 0 and as many values, and a tail until the loop.
fn series(value: std::ops::Range<u32>) -> impl Strategy<Value = (Vec<u64>, Vec<u32>, Option<u64>)> {
    let values = prop::collection::vec(prop_oneof![1 => Just(0), 3 => value], 1..8);
    (prop::collection::vec(1_u64..30, 8), values, prop::option::of(1_u64..30)).prop_map(
        |(gaps, values, tail)| {
            let mut times = vec![0];
            for gap in &gaps[1..values.len()] {
                times.push(times[times.len() - 1] + gap);
            }
            let period = tail.map(|tail| times[times.len() - 1] + tail);
            (times, values, period)
        },
    )
}

fn secs(millis: &[u64]) -> Vec<f64> {
    millis.iter().map(|&millis| millis as f64 / 1e3).collect()
}

fn tenths(values: &[u32]) -> Vec<f64> {
    values.iter().map(|&value| f64::from(value) / 10.0).collect()
}

fn stepped_capacity() -> impl Strategy<Value = CapacityConfig> {
    series(1..300).prop_map(|(times, tenths_mbps, period)| CapacityConfig::Steps {
        times_s: secs(&times),
        mbps: tenths(&tenths_mbps),
        repeat_s: period.map(|period| period as f64 / 1e3),
    })
}

fn opportunities() -> impl Strategy<Value = CapacityConfig> {
    prop::collection::vec(0_u64..40, 1..40).prop_map(|mut times_ms| {
        times_ms.sort_unstable();
        times_ms.push(41);
        CapacityConfig::Opportunities { times_ms }
    })
}

pub(super) fn capacity() -> impl Strategy<Value = CapacityConfig> {
    let constant = (0_u32..3000)
        .prop_map(|kbps| CapacityConfig::Constant { mbps: f64::from(kbps) * 0.007_777 });
    prop_oneof![constant, stepped_capacity(), opportunities()]
}

pub(super) fn delay() -> impl Strategy<Value = DelayConfig> {
    prop_oneof![
        (0_u32..500).prop_map(|ms| DelayConfig::Constant { ms: f64::from(ms) / 10.0 }),
        series(1..500).prop_map(|(times, ms, _)| DelayConfig::Steps {
            times_s: secs(&times),
            ms: tenths(&ms),
            repeat_s: None,
        }),
    ]
}

pub(super) fn queue() -> impl Strategy<Value = QueueConfig> {
    prop_oneof![
        Just(QueueConfig::Infinite),
        (1_u64..20)
            .prop_map(|packets| QueueConfig::DropTail { bytes: None, packets: Some(packets) }),
        (1000_u64..20_000).prop_map(|b| QueueConfig::DropTail { bytes: Some(b), packets: None }),
        Just(QueueConfig::CoDel { target_ms: 1.0, interval_ms: 5.0, packets: 50 }),
    ]
}

pub(super) fn loss() -> impl Strategy<Value = LossConfig> {
    let elliott = LossConfig::GilbertElliott { p: 0.1, r: 0.3, loss_good: 0.05, loss_bad: 0.8 };
    prop_oneof![Just(LossConfig::None), Just(LossConfig::Bernoulli { ratio: 0.2 }), Just(elliott)]
}

fn outages() -> impl Strategy<Value = Vec<OutageConfig>> {
    prop::collection::vec((0_u64..40, 1_u64..30, any::<bool>()), 0..4).prop_map(|windows| {
        let mut end_ms = 0;
        let outage = |(gap, length, hold)| {
            let start_ms = end_ms + gap;
            end_ms = start_ms + length;
            let in_flight = if hold { InFlight::Hold } else { InFlight::Drop };
            OutageConfig { start_s: start_ms as f64 / 1e3, end_s: end_ms as f64 / 1e3, in_flight }
        };
        windows.into_iter().map(outage).collect()
    })
}

pub(super) fn config() -> impl Strategy<Value = LinkConfig> {
    (capacity(), delay(), queue(), loss(), outages()).prop_map(
        |(capacity, delay, queue, loss, outages)| LinkConfig {
            capacity,
            delay,
            queue,
            loss,
            outages,
        },
    )
}

/// Bytes that the capacity carries in [0, `to`], outages aside.
fn capacity_bytes(capacity: &CapacityConfig, to: Instant) -> u64 {
    match capacity {
        CapacityConfig::Constant { mbps } => {
            Steps::constant(Bitrate::from_mbps(*mbps)).bytes_between(Instant::ZERO, to)
        }
        CapacityConfig::Steps { times_s, mbps, repeat_s } => {
            let millis = |secs: f64| (secs * 1e3).round() as u64;
            let times = times_s.iter().map(|&secs| ms(millis(secs))).collect();
            let rates = mbps.iter().map(|&mbps| Bitrate::from_mbps(mbps)).collect();
            let period = repeat_s.map(|secs| Duration::from_millis(millis(secs)));
            Steps::new(times, rates, period).unwrap().bytes_between(Instant::ZERO, to)
        }
        CapacityConfig::Opportunities { times_ms } => {
            let trace = Opportunities::new(times_ms.clone()).unwrap();
            trace.bytes_between(Instant::ZERO, to)
        }
    }
}

/// Drives a link and checks at each moment what must always hold.
struct Driver {
    link: Link<Packet>,
    capacity: CapacityConfig,
    deliveries: Vec<(Instant, u64)>,
    /// How often it was woken.
    wakes: u64,
}

impl Driver {
    fn new(config: &LinkConfig) -> Self {
        Self {
            link: built(config),
            capacity: config.capacity.clone(),
            deliveries: Vec::new(),
            wakes: 0,
        }
    }

    fn pop_all(&mut self, now: Instant) {
        self.wakes += 1;
        while let Some(packet) = self.link.pop(now) {
            if let Some(&(_, before)) = self.deliveries.last() {
                assert!(packet.number > before, "{} after {before}", packet.number);
            }
            self.deliveries.push((now, packet.number));
        }
        let counters = self.link.counters();
        let held = self.link.queued_packets() + self.link.flying_packets();
        let accounted = counters.delivered_packets + counters.dropped_packets() + held;
        assert_eq!(counters.offered_packets, accounted, "at {now:?}: {counters:?}");
        assert!(counters.delivered_bytes <= capacity_bytes(&self.capacity, now), "at {now:?}");
        assert!(self.link.next_at().is_none_or(|next| next > now), "stuck at {now:?}");
    }

    /// Pushes, with `pop_all` whenever `wake` says so, up to `end`.
    fn run(&mut self, pushes: &[Push], end: Instant, wake: impl Fn(&Self) -> Option<Instant>) {
        let mut now = Instant::ZERO;
        for (number, &(gap_us, bytes)) in (0..).zip(pushes) {
            now += Duration::from_micros(gap_us);
            // What wakes at `now` wakes after the arrival, so that it sees a packet that takes no time.
            while let Some(at) = wake(self).filter(|&at| at < now) {
                self.pop_all(at);
            }
            let _ = self.link.push(now, Packet { number, bytes });
        }
        while let Some(at) = wake(self).filter(|&at| at <= end) {
            self.pop_all(at);
        }
    }
}

/// When the last packet of a stretch that never stops could leave the slowest sensible link.
const END: Instant = Instant::from_millis(3000);

proptest! {
    #![proptest_config(cases::at_least(600))]

    #[test]
    fn popping_at_next_at_is_popping_all_the_time(config in config(), pushes in pushes()) {
        let mut by_event = Driver::new(&config);
        by_event.run(&pushes, END, |driver| driver.link.next_at());
        let mut by_clock = Driver::new(&config);
        by_clock.run(&pushes, END, |driver| Some(ms(driver.wakes)));
        // The same packets in the same order, each seen at the first tick after its delivery.
        let tick = |at: Instant| ms(at.as_nanos().div_ceil(1_000_000));
        let expected: Vec<_> = by_event.deliveries.iter().map(|&(at, n)| (tick(at), n)).collect();
        prop_assert_eq!(&by_clock.deliveries, &expected);
        by_event.link.advance(END);
        prop_assert_eq!(by_clock.link.counters(), by_event.link.counters());
    }

    #[test]
    fn a_backlog_leaves_at_the_first_nanosecond_that_carries_it(
        capacity in capacity(),
        sizes in prop::collection::vec(1_u64..3100, 1..100),
    ) {
        let config = LinkConfig { capacity, ..unbounded(0.0, 0.0) };
        let mut link = built(&config);
        for (number, &bytes) in (0..).zip(&sizes) {
            link.push(Instant::ZERO, Packet { number, bytes }).unwrap();
        }
        let mut sum_bytes = 0;
        for (at, number) in drain_until(&mut link, END) {
            sum_bytes += sizes[number as usize];
            prop_assert!(capacity_bytes(&config.capacity, at) >= sum_bytes);
            if at > Instant::ZERO {
                let before = at.saturating_sub(Duration::from_nanos(1));
                prop_assert!(capacity_bytes(&config.capacity, before) < sum_bytes);
            }
        }
        let served = capacity_bytes(&config.capacity, END) >= sizes.iter().sum();
        prop_assert_eq!(link.counters().delivered_packets == sizes.len() as u64, served);
    }

    #[test]
    fn the_same_seed_gives_the_same_run(config in config(), pushes in pushes()) {
        let run = || {
            let mut driver = Driver::new(&config);
            driver.run(&pushes, END, |driver| driver.link.next_at());
            (driver.deliveries, driver.link.counters())
        };
        prop_assert_eq!(run(), run());
    }
}
