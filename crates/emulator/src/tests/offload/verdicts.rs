//! The relay with offload does to frames what it does without, and holds them for 100 µs at most.

use super::*;
use crate::moderation::{Moderation, Pause, Turn};
use crate::tests::verdicts::{Packet, config, expected};

/// The relay wakes after a gap in µs, then reads these.
type Wakes = Vec<(u64, Vec<Made>)>;

fn wakes() -> impl Strategy<Value = Wakes> {
    let gap_us = prop_oneof![4 => 0_u64..3000, 1 => 0_u64..80_000];
    prop::collection::vec((gap_us, prop::collection::vec(made(12), 0..3)), 1..25)
}

/// The end, long after the last frame.
const TAIL_US: u64 = 20_000_000;

fn core_for(config: &LinkConfig, offload: Offload) -> Core<Fake> {
    core_with(&[path("a", config.clone())], offload)
}

/// What has been written at the server since the last time.
fn written(core: &mut Core<Fake>) -> Vec<Vec<u8>> {
    core.devices_mut()[SERVER].written.drain(..).collect()
}

proptest! {
    #![proptest_config(cases::at_least(150))]

    #[test]
    fn frames_meet_the_same_fate_with_and_without(config in config(), wakes in wakes()) {
        let mut plain = core_for(&config, Offload::None);
        let mut offload = core_for(&config, Offload::TcpUdp);
        let mut now = Instant::ZERO;
        for (gap_us, made) in wakes.into_iter().chain([(TAIL_US, Vec::new())]) {
            now += Duration::from_micros(gap_us);
            for made in made {
                made.segments().iter().for_each(|packet| arrive(&mut plain, now, CLIENT, packet));
                arrive(&mut offload, now, CLIENT, &made.super_packet());
            }
            deliver_all(&mut plain, now, UP);
            deliver_all(&mut offload, now, UP);
            let seen: Vec<_> = written(&mut offload).iter().flat_map(|packet| split(packet)).collect();
            prop_assert_eq!(seen, written(&mut plain));
        }
        let (plain, offload) = (plain.statistics(), offload.statistics());
        prop_assert_eq!(&plain.links, &offload.links);
        let late = |of: &crate::Statistics| {
            let late = of.lateness_us;
            (late.p50, late.p99, late.max, late.count)
        };
        prop_assert_eq!(late(&plain), late(&offload));
    }

    #[test]
    fn frames_are_never_early_and_held_for_a_moment(config in config(), wakes in wakes()) {
        let mut core = core_for(&config, Offload::TcpUdp);
        let (mut arrivals, mut at) = (std::collections::VecDeque::new(), Instant::ZERO);
        for (gap_us, made) in wakes {
            at += Duration::from_micros(gap_us);
            arrivals.extend(made.into_iter().map(|made| (at, made)));
        }
        let end = at + Duration::from_micros(TAIL_US);
        let (mut now, mut pushes, mut bytes) = (Instant::ZERO, Vec::new(), Vec::new());
        let (mut seen, mut rounds) = (Vec::new(), 0);
        let mut moderation = Moderation::new(core.window());
        while now < end {
            while arrivals.front().is_some_and(|(at, _)| *at <= now) {
                let Some((_, made)) = arrivals.pop_front() else { break };
                for packet in made.segments() {
                    let number = pushes.len() as u32;
                    pushes.push((now, Packet { number, bytes: packet.len() as u64 }));
                    bytes.push(packet);
                }
                core.devices_mut()[CLIENT].to_read.push_back(made.super_packet());
            }
            let mut turn = Turn::default();
            while core.receive(now, CLIENT).unwrap() > 0 {}
            turn.batch(|| core.deliver(now, UP)).unwrap();
            let frames = written(&mut core);
            seen.extend(frames.iter().flat_map(|packet| split(packet)).map(|frame| (now, frame)));
            let arrival = arrivals.front().map_or(end, |(at, _)| *at);
            now = match moderation.pause(now, turn) {
                Pause::None => now,
                Pause::Sleep => now + core.window(),
                Pause::Poll => core.next_at().min(arrival).max(now),
            };
            rounds += 1;
            prop_assert!(rounds < 100_000, "it wakes for nothing");
        }
        let expected = expected(&config, &pushes, now);
        prop_assert_eq!(seen.len(), expected.len());
        for ((now, frame), (due, number)) in seen.iter().zip(&expected) {
            prop_assert_eq!(frame, &bytes[*number as usize]);
            prop_assert!(now >= due && *now <= *due + Duration::from_micros(100), "{now:?} {due:?}");
        }
    }
}

/// A flow of segments of 1200 bytes.
fn flow(segments: usize) -> Made {
    Made {
        is_v4: true,
        is_tcp: true,
        options: Vec::new(),
        ip_options: false,
        traffic_class: 0,
        id: 1,
        port: 1,
        sequence: 1,
        flags: 0x10,
        mss: 1200,
        payload: vec![1; 1200 * segments],
    }
}

/// A relay with offload over a link that takes this many µs for a segment, and 10 ms more.
fn core_of_us(us: f64) -> Core<Fake> {
    core_for(&LinkConfig::constant(1240.0 * 8.0 / us, 10.0), Offload::TcpUdp)
}

#[test]
fn what_is_due_together_is_written_as_one() {
    let mut core = core_of_us(40.0);
    arrive(&mut core, ms(0), CLIENT, &flow(5).super_packet());
    let after = |us| Instant::ZERO + Duration::from_micros(us);
    assert_eq!(core.next_at(), after(10_040));
    assert_eq!(core.deliver(after(10_120), UP).unwrap(), 3);
    assert_eq!(core.next_at(), after(10_160));
    assert_eq!(core.deliver(after(10_200), UP).unwrap(), 2);
    let counts = core.statistics().counts;
    assert_eq!((counts.reads, counts.frames_read), (1, 5));
    assert_eq!((counts.writes, counts.frames_written), (2, 5));
}

#[test]
fn a_device_that_takes_nothing_costs_all_frames_of_the_write() {
    let mut core = core_of_us(1.0);
    core.devices_mut()[SERVER].mood = Mood::Refuses;
    arrive(&mut core, ms(0), CLIENT, &flow(5).super_packet());
    deliver_all(&mut core, ms(11), UP);
    let statistics = core.statistics();
    assert_eq!((statistics.counts.device_drops, statistics.lateness_us.count), (5, 0));
    assert_eq!(statistics.links["a.up"].delivered_packets, 5);
}
