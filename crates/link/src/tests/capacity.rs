use super::*;
use crate::{CapacityConfig, DelayConfig};

fn steps(times_s: &[f64], mbps: &[f64], repeat_s: Option<f64>) -> LinkConfig {
    let capacity =
        CapacityConfig::Steps { times_s: times_s.to_vec(), mbps: mbps.to_vec(), repeat_s };
    LinkConfig { capacity, ..unbounded(0.0, 0.0) }
}

fn opportunities(times_ms: &[u64]) -> LinkConfig {
    let capacity = CapacityConfig::Opportunities { times_ms: times_ms.to_vec() };
    LinkConfig { capacity, ..unbounded(0.0, 0.0) }
}

/// Delivery times in milliseconds of packets of `sizes` bytes that all arrive at 0.
fn burst_ms(config: &LinkConfig, sizes: &[u64]) -> Vec<f64> {
    let mut link = built(config);
    for (number, &bytes) in sizes.iter().enumerate() {
        link.push(Instant::ZERO, Packet { number: number as u64, bytes }).unwrap();
    }
    drain_until(&mut link, ms(60_000)).iter().map(|(at, _)| at.as_secs_f64() * 1e3).collect()
}

#[test]
fn full_packets_at_50_mbps_depart_every_240_microseconds() {
    let mut link = built(&LinkConfig::constant(50.0, 20.0));
    for number in 0..10 {
        link.push(Instant::ZERO, full(number)).unwrap();
    }
    assert_eq!((link.queued_packets(), link.queued_bytes()), (10, 15_000));
    let expected: Vec<_> = (0..10).map(|n| (us(20_000 + 240 * (n + 1)), n)).collect();
    assert_eq!(drain(&mut link), expected);
    let counters = link.counters();
    assert_eq!((counters.delivered_packets, counters.delivered_bytes), (10, 15_000));
    assert_eq!(link.next_at(), None);
}

#[test]
fn an_idle_link_serves_from_arrival() {
    let mut link = built(&LinkConfig::constant(12.0, 5.0));
    link.push(ms(100), full(0)).unwrap();
    assert_eq!(drain(&mut link), [(ms(106), 0)]);
    link.push(ms(200), full(1)).unwrap();
    assert_eq!(link.next_at(), Some(ms(206)));
    assert_eq!(link.pop(us(205_999)), None);
    assert_eq!(link.pop(ms(206)), Some(full(1)));
}

#[test]
fn awkward_rates_have_no_error_over_a_busy_period() {
    let packets = 100_000;
    for mbps in [0.333_333, 7.777_777, 12.345_679, 999.999_999, 33.333_333] {
        let mut link = built(&unbounded(mbps, 0.0));
        for number in 0..packets {
            link.push(Instant::ZERO, full(number)).unwrap();
        }
        let bps = (mbps * 1e6_f64).round() as u128;
        let exact = (u128::from(packets) * 12_000 * 1_000_000_000).div_ceil(bps);
        let last = drain(&mut link)[packets as usize - 1].0;
        assert_eq!(u128::from(last.as_nanos()), exact, "at {mbps} Mbit/s");
    }
}

#[test]
fn packets_shorter_than_a_nanosecond_share_it() {
    let mut link = built(&unbounded(1_000_000.0, 0.0));
    for number in 0..1000 {
        link.push(Instant::ZERO, Packet { number, bytes: 40 }).unwrap();
    }
    assert_eq!(drain(&mut link)[999].0.as_nanos(), 320);
}

#[test]
fn an_idle_moment_gives_no_work_away() {
    // 12,000 bits at 7 Mbit/s end 0.29 ns before the nanosecond. Four of those would be one, but
    // each packet comes when the one before it has gone.
    let mut link = built(&unbounded(7.0, 0.0));
    let mut now = Instant::ZERO;
    for number in 0..10 {
        link.push(now, full(number)).unwrap();
        let (at, _) = drain(&mut link)[0];
        assert_eq!((at - now).as_nanos(), 1_714_286);
        now = at;
    }
}

#[test]
fn zeros_in_a_trace_suspend_service() {
    let config = steps(&[0.0, 0.001, 0.003], &[6.0, 0.0, 6.0], None);
    assert_eq!(burst_ms(&config, &[1500, 1500]), [4.0, 6.0]);
    let looped = steps(&[0.0, 0.001], &[12.0, 0.0], Some(0.010));
    assert_eq!(burst_ms(&looped, &[1500, 1500, 3000]), [1.0, 11.0, 31.0]);
}

#[test]
fn a_service_spans_as_many_steps_as_it_needs() {
    let config = steps(&[0.0, 0.001, 0.002], &[1.0, 2.0, 3.0], Some(0.003));
    // 6 bits per µs × 1000 in each turn: 12,000 bits are two turns.
    assert_eq!(burst_ms(&config, &[1500, 1500]), [6.0, 12.0]);
}

#[test]
fn no_capacity_ever_means_no_next_event() {
    let zeros = [
        unbounded(0.0, 5.0),
        steps(&[0.0, 1.0], &[0.0, 0.0], Some(2.0)),
        steps(&[0.0], &[0.0], Some(1.0)),
    ];
    for config in zeros {
        let mut link = built(&config);
        link.push(ms(3), full(0)).unwrap();
        assert_eq!(link.next_at(), None);
        assert_eq!(link.pop(ms(1_000_000)), None);
        assert_eq!(link.pop(Instant::FAR_FUTURE), None);
        assert_eq!(link.queued_packets(), 1);
    }
    let ends = steps(&[0.0, 1.0], &[12.0, 0.0], None);
    let mut link = built(&ends);
    link.push(us(999_500), full(0)).unwrap();
    assert_eq!(link.next_at(), None, "half a packet is never enough");
}

#[test]
fn late_pops_lose_no_capacity() {
    let mut link = built(&LinkConfig::constant(12.0, 10.0));
    let (mut now, mut offered, mut popped) = (Instant::ZERO, 0, 0);
    while now <= ms(10_010) {
        while link.pop(now).is_some() {
            popped += 1;
        }
        while link.push(now, full(offered)).is_ok() {
            offered += 1;
        }
        now += Duration::from_micros(77_000); // wakes up 13 times a second
    }
    let last_wake = 77 * (10_010 / 77);
    assert_eq!(popped, last_wake - 10, "one packet per millisecond after the first 10 ms");
}

#[test]
fn opportunities_carry_one_full_packet_each_and_loop() {
    let config = opportunities(&[1, 1, 3]);
    assert_eq!(burst_ms(&config, &[1500; 7]), [1.0, 1.0, 3.0, 4.0, 4.0, 6.0, 7.0]);
}

#[test]
fn packets_share_and_span_opportunities() {
    let config = opportunities(&[2, 5]);
    assert_eq!(burst_ms(&config, &[700, 700, 200, 1400]), [2.0, 2.0, 5.0, 5.0]);
    assert_eq!(burst_ms(&config, &[3000, 1, 1499]), [5.0, 7.0, 7.0]);
}

#[test]
fn an_opportunity_is_lost_when_nobody_waits() {
    let mut link = built(&opportunities(&[1, 3, 10]));
    let small = |number| Packet { number, bytes: 100 };
    link.push(Instant::ZERO, small(0)).unwrap();
    link.push(ms(1), small(1)).unwrap(); // just in time for the rest of it
    link.push(us(1500), small(2)).unwrap(); // too late
    assert_eq!(drain(&mut link), [(ms(1), 0), (ms(1), 1), (ms(3), 2)]);
    link.push(ms(3), small(3)).unwrap();
    link.push(us(3001), small(4)).unwrap();
    link.push(ms(10_000_009), small(5)).unwrap();
    assert_eq!(drain(&mut link), [(ms(3), 3), (ms(10), 4), (ms(10_000_010), 5)]);
}

#[test]
fn a_falling_delay_does_not_reorder() {
    let delay = DelayConfig::Steps {
        times_s: vec![0.0, 0.002, 0.100],
        ms: vec![50.0, 10.0, 20.0],
        repeat_s: None,
    };
    let config = LinkConfig { delay, ..unbounded(12.0, 0.0) };
    let (deliveries, _) = paced(&config, 101, Duration::from_millis(1));
    assert_eq!(deliveries[0], (ms(51), 0));
    assert_eq!(deliveries[1], (ms(51), 1), "departs at 2 ms, would arrive at 12 ms");
    assert_eq!(deliveries[41], (ms(52), 41));
    assert_eq!(deliveries[98], (ms(109), 98));
    assert_eq!(deliveries[99], (ms(120), 99));
}
