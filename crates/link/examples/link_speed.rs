//! Packets per second through one link on one core: `cargo run --release --example link_speed`.

use link::{CapacityConfig, LinkConfig, LossConfig, QueueConfig, WireSize};
use std::io::Write;
use std::time;
use units::Instant;

const PACKETS: u64 = 20_000_000;

/// As large as a segment of the simulator.
#[derive(Clone, Copy)]
struct Segment {
    number: u64,
    _rest: [u64; 18],
}

impl WireSize for Segment {
    fn wire_bytes(&self) -> u64 {
        1500
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let plain = LinkConfig::constant(50.0, 20.0);
    let lossy = LinkConfig { loss: LossConfig::Bernoulli { ratio: 0.01 }, ..plain.clone() };
    let codel = QueueConfig::CoDel { target_ms: 5.0, interval_ms: 100.0, packets: 1000 };
    let codel = LinkConfig { queue: codel, ..plain.clone() };
    let times_s = (0..1000).map(|index| f64::from(index) / 100.0).collect();
    let mbps = (0..1000).map(|index| f64::from(20 + index % 60)).collect();
    let steps = CapacityConfig::Steps { times_s, mbps, repeat_s: Some(10.0) };
    let steps = LinkConfig { capacity: steps, ..plain.clone() };
    let opportunities =
        CapacityConfig::Opportunities { times_ms: (0..40_000).map(|n| n / 4).collect() };
    let opportunities = LinkConfig { capacity: opportunities, ..plain.clone() };
    let all = [
        ("constant", plain),
        ("bernoulli", lossy),
        ("codel", codel),
        ("steps of 10 ms", steps),
        ("opportunities", opportunities),
    ];
    let mut out = std::io::stdout().lock();
    for (name, config) in all {
        let begin = time::Instant::now();
        let sum = run(&config)?;
        let rate = PACKETS as f64 / begin.elapsed().as_secs_f64() / 1e6;
        writeln!(out, "{name:15} {rate:6.1} M packets/s   (check {sum:x})")?;
    }
    Ok(())
}

/// A window of 200 packets, each delivery lets the next packet in.
fn run(config: &LinkConfig) -> Result<u64, link::LinkError> {
    let mut link = config.build(1)?;
    let (mut now, mut number, mut sum) = (Instant::ZERO, 0, 0_u64);
    while number < PACKETS {
        while link.queued_packets() + link.flying_packets() < 200 {
            let _ = link.push(now, Segment { number, _rest: [number; 18] });
            number += 1;
        }
        now = link.next_at().unwrap_or(now);
        while let Some(segment) = link.pop(now) {
            sum = sum.wrapping_mul(31).wrapping_add(segment.number);
        }
    }
    Ok(sum)
}
