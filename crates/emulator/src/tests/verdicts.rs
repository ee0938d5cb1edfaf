//! The relay adds lateness to what a link decides, and nothing else.

use super::*;
use link::{
    CapacityConfig, DelayConfig, InFlight, Link, LossConfig, OutageConfig, QueueConfig, WireSize,
    stream_seed,
};
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    pub(super) number: u32,
    pub(super) bytes: u64,
}

impl WireSize for Packet {
    fn wire_bytes(&self) -> u64 {
        self.bytes
    }
}

pub(super) fn config() -> impl Strategy<Value = LinkConfig> {
    let steps = |values: Vec<f64>| CapacityConfig::Steps {
        times_s: (0..values.len()).map(|index| index as f64 * 0.013).collect(),
        mbps: values,
        repeat_s: Some(0.2),
    };
    let capacity = prop_oneof![
        prop_oneof![Just(0.0), 0.1..40.0].prop_map(|mbps| CapacityConfig::Constant { mbps }),
        prop::collection::vec(prop_oneof![Just(0.0), 0.1..30.0], 1..8).prop_map(steps),
        prop::collection::vec(0_u64..40, 1..40).prop_map(|mut times_ms| {
            times_ms.sort_unstable();
            times_ms.push(41);
            CapacityConfig::Opportunities { times_ms }
        }),
    ];
    let delay = prop_oneof![
        (0.0..50.0).prop_map(|ms| DelayConfig::Constant { ms }),
        Just(DelayConfig::Steps { times_s: vec![0.0, 0.05], ms: vec![40.0, 3.0], repeat_s: None }),
    ];
    let queue = prop_oneof![
        Just(QueueConfig::Infinite),
        (1_u64..20).prop_map(|count| QueueConfig::DropTail { bytes: None, packets: Some(count) }),
        (1500_u64..20_000).prop_map(|b| QueueConfig::DropTail { bytes: Some(b), packets: None }),
        Just(QueueConfig::CoDel { target_ms: 1.0, interval_ms: 5.0, packets: 50 }),
    ];
    let loss = prop_oneof![
        Just(LossConfig::None),
        Just(LossConfig::Bernoulli { ratio: 0.2 }),
        Just(LossConfig::GilbertElliott { p: 0.1, r: 0.3, loss_good: 0.05, loss_bad: 0.8 }),
        Just(LossConfig::Steps { times_s: vec![0.0, 0.04], ratio: vec![0.5, 0.1], repeat_s: None }),
    ];
    let outages = (any::<bool>(), 0_u32..60, 1_u32..60).prop_map(|(hold, start_ms, length_ms)| {
        let in_flight = if hold { InFlight::Hold } else { InFlight::Drop };
        let [start_s, end_s] = [start_ms, start_ms + length_ms].map(|ms| f64::from(ms) / 1e3);
        vec![OutageConfig { start_s, end_s, in_flight }]
    });
    let outages = prop_oneof![Just(Vec::new()), outages];
    (capacity, delay, queue, loss, outages).prop_map(|(capacity, delay, queue, loss, outages)| {
        LinkConfig { capacity, delay, queue, loss, outages }
    })
}

/// The relay wakes after a gap in µs, then reads this many frames of this many bytes.
fn wakes() -> impl Strategy<Value = Vec<(u64, Vec<usize>)>> {
    let gap_us = prop_oneof![4 => 0_u64..3000, 1 => 0_u64..80_000];
    prop::collection::vec((gap_us, prop::collection::vec(40_usize..1500, 0..6)), 1..60)
}

/// When each packet is delivered, by a link that is never called late.
pub(super) fn expected(
    config: &LinkConfig,
    pushes: &[(Instant, Packet)],
    end: Instant,
) -> Vec<(Instant, u32)> {
    let mut link: Link<Packet> = config.build(stream_seed(1, "a", "up")).unwrap();
    let mut delivered = Vec::new();
    let mut drain = |link: &mut Link<Packet>, until: Instant| {
        while let Some(at) = link.next_at().filter(|at| *at <= until) {
            while let Some(packet) = link.pop(at) {
                delivered.push((at, packet.number));
            }
        }
    };
    for (now, packet) in pushes {
        drain(&mut link, *now);
        let _refused = link.push(*now, *packet);
    }
    drain(&mut link, end);
    delivered
}

proptest! {
    #![proptest_config(cases::at_least(800))]

    #[test]
    fn waking_late_delays_and_changes_no_verdict(config in config(), wakes in wakes()) {
        let mut core = core_of(&[path("a", config.clone())]);
        let (mut now, mut woken) = (Instant::ZERO, Vec::new());
        let (mut pushes, mut written) = (Vec::new(), Vec::new());
        let end = ms(20_000);
        let tail = std::iter::once(((end - Instant::ZERO).as_micros(), Vec::new()));
        for (gap_us, frames) in wakes.into_iter().chain(tail) {
            now += Duration::from_micros(gap_us);
            woken.push(now);
            for bytes in frames {
                let mut frame = vec![0; bytes];
                frame[..4].copy_from_slice(&(pushes.len() as u32).to_le_bytes());
                arrive(&mut core, now, CLIENT, &frame);
                pushes.push((now, Packet { number: pushes.len() as u32, bytes: bytes as u64 }));
            }
            deliver_all(&mut core, now, UP);
            let number = |frame: &Vec<u8>| u32::from_le_bytes([frame[0], frame[1], frame[2], frame[3]]);
            written.extend(core.devices_mut()[SERVER].written.drain(..).map(|f| (now, number(&f))));
        }
        let expected = expected(&config, &pushes, now);
        let next_wake = |due: Instant| woken.iter().find(|now| **now >= due).copied();
        let seen: Vec<_> = expected.iter().map(|(due, n)| (next_wake(*due).unwrap(), *n)).collect();
        prop_assert_eq!(written, seen);
        let totals = core.statistics().links["a.up"];
        prop_assert_eq!(totals.in_packets, pushes.len() as u64);
        prop_assert_eq!(totals.delivered_packets, expected.len() as u64);
    }
}
