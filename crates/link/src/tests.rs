//! Every test drives a link from outside, as an engine would.

use crate::{Counters, Link, LinkConfig, OutageConfig, QueueConfig, WireSize};
use units::{Duration, Instant};

mod capacity;
mod changes;
mod descriptions;
mod losses;
mod neighbours;
mod outages;
mod properties;
mod queues;

/// A payload that knows its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Packet {
    number: u64,
    bytes: u64,
}

impl WireSize for Packet {
    fn wire_bytes(&self) -> u64 {
        self.bytes
    }
}

fn full(number: u64) -> Packet {
    Packet { number, bytes: 1500 }
}

fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

fn us(micros: u64) -> Instant {
    Instant::from_nanos(micros * 1000)
}

fn built(config: &LinkConfig) -> Link<Packet> {
    config.build(7).expect("the test's description is valid")
}

fn unbounded(mbps: f64, delay_ms: f64) -> LinkConfig {
    LinkConfig { queue: QueueConfig::Infinite, ..LinkConfig::constant(mbps, delay_ms) }
}

fn with_outages(config: LinkConfig, outages: &[OutageConfig]) -> LinkConfig {
    LinkConfig { outages: outages.to_vec(), ..config }
}

/// Pops at each `next_at` until nothing more will come: when and which.
fn drain(link: &mut Link<Packet>) -> Vec<(Instant, u64)> {
    drain_until(link, Instant::FAR_FUTURE)
}

/// Like [`drain`], up to and including `end`.
fn drain_until(link: &mut Link<Packet>, end: Instant) -> Vec<(Instant, u64)> {
    let mut deliveries = Vec::new();
    while let Some(now) = link.next_at().filter(|&now| now <= end) {
        while let Some(packet) = link.pop(now) {
            deliveries.push((now, packet.number));
        }
        assert!(link.next_at().is_none_or(|next| next > now), "time stands still at {now:?}");
    }
    deliveries
}

/// Pushes full packet number n at n × `gap`, popping in between; then drains.
fn paced(config: &LinkConfig, packets: u64, gap: Duration) -> (Vec<(Instant, u64)>, Counters) {
    let mut link = built(config);
    let (mut deliveries, mut now) = (Vec::new(), Instant::ZERO);
    for number in 0..packets {
        deliveries.extend(drain_until(&mut link, now));
        let _ = link.push(now, full(number)); // refusals are counted
        now += gap;
    }
    deliveries.extend(drain(&mut link));
    let counters = link.counters();
    let lost = counters.dropped_packets() + counters.delivered_packets;
    assert_eq!(counters.offered_packets, lost, "a drained link holds nothing");
    (deliveries, counters)
}
