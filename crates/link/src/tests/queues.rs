use super::*;
use crate::Dropped;

fn with_queue(mbps: f64, queue: QueueConfig) -> LinkConfig {
    LinkConfig { queue, ..LinkConfig::constant(mbps, 0.0) }
}

fn codel(packets: u64) -> QueueConfig {
    QueueConfig::CoDel { target_ms: 5.0, interval_ms: 100.0, packets }
}

#[test]
fn a_tail_drop_counts_packets_with_the_one_in_service() {
    let queue = QueueConfig::DropTail { bytes: None, packets: Some(3) };
    let mut link = built(&with_queue(12.0, queue));
    for number in 0..3 {
        assert_eq!(link.push(Instant::ZERO, full(number)), Ok(()));
    }
    assert_eq!(link.push(us(999), full(3)), Err(Dropped::QueueFull));
    assert_eq!(link.push(ms(1), full(4)), Ok(()), "the first one has left");
    assert_eq!(link.push(ms(1), full(5)), Err(Dropped::QueueFull));
    let numbers: Vec<u64> = drain(&mut link).iter().map(|&(_, number)| number).collect();
    assert_eq!(numbers, [0, 1, 2, 4]);
    assert_eq!(link.counters().dropped_queue_packets, 2);
}

#[test]
fn a_tail_drop_counts_bytes() {
    let queue = QueueConfig::DropTail { bytes: Some(3100), packets: None };
    let mut link = built(&with_queue(12.0, queue));
    link.push(Instant::ZERO, full(0)).unwrap();
    link.push(Instant::ZERO, full(1)).unwrap();
    assert_eq!(link.push(Instant::ZERO, Packet { number: 2, bytes: 101 }), Err(Dropped::QueueFull));
    link.push(Instant::ZERO, Packet { number: 3, bytes: 100 }).unwrap();
    assert_eq!(link.queued_bytes(), 3100);
}

#[test]
fn both_bounds_hold_together() {
    let queue = QueueConfig::DropTail { bytes: Some(3000), packets: Some(3) };
    let mut link = built(&with_queue(12.0, queue));
    for number in 0..3 {
        link.push(Instant::ZERO, Packet { number, bytes: 40 }).unwrap();
    }
    assert!(link.push(Instant::ZERO, Packet { number: 3, bytes: 40 }).is_err());
}

#[test]
fn codel_drops_at_the_moments_of_rfc_8289() {
    // A burst of 600 packets of 1 ms: at t ms the packet at the front has waited t ms.
    // 5 ms: above the target. 105 ms: first drop. Then 100 ms / √count after the one before:
    // 205, 275.7, 333.4, 383.4, 428.2 ms, each at the next dequeue.
    let mut link = built(&with_queue(12.0, codel(1000)));
    for number in 0..600 {
        link.push(Instant::ZERO, full(number)).unwrap();
    }
    let mut next = 0;
    let mut dropped = Vec::new();
    for (at, number) in drain_until(&mut link, ms(430)) {
        dropped.extend((next..number).map(|lost| (at.as_nanos() / 1_000_000 - 1, lost)));
        next = number + 1;
    }
    assert_eq!(dropped, [(105, 105), (205, 206), (276, 278), (334, 337), (384, 388), (429, 434)]);
    assert_eq!(link.counters().dropped_aqm_packets, 6);
}

#[test]
fn codel_leaves_short_queues_alone() {
    let (deliveries, counters) =
        paced(&with_queue(12.0, codel(1000)), 10_000, Duration::from_millis(1));
    assert_eq!((deliveries.len(), counters.dropped_packets()), (10_000, 0));
    // Slow, but never more than one packet behind the one in service: RFC 8289 §5.6, MAXPACKET.
    let (_, counters) = paced(&with_queue(0.12, codel(2)), 1000, Duration::from_millis(100));
    assert_eq!(counters.dropped_aqm_packets, 0);
}

/// Mean time in the link, in milliseconds, of what is delivered after 10 s of 10 % overload by a
/// sender that does not react.
fn deaf_sender_sojourn_ms(queue: QueueConfig) -> f64 {
    let gap = Duration::from_micros(900);
    let (deliveries, _) = paced(&with_queue(12.0, queue), 40_000, gap);
    let late = deliveries.iter().filter(|(at, _)| *at > ms(10_000));
    let times: Vec<f64> =
        late.map(|&(at, number)| at.as_secs_f64() * 1e3 - 0.9 * number as f64).collect();
    times.iter().sum::<f64>() / times.len() as f64
}

/// The same for a sender that adds one packet to its window per round trip of 40 ms and halves it
/// when a packet is missing, at most once per round trip.
fn halving_sender_sojourn_ms(queue: QueueConfig) -> f64 {
    let mut link = built(&LinkConfig { queue, ..LinkConfig::constant(12.0, 40.0) });
    let (mut sent, mut window, mut expected, mut recover) = (Vec::new(), 10.0, 0, 0);
    let (mut now, mut sum_ms, mut count) = (Instant::ZERO, 0.0, 0.0);
    while now < ms(60_000) {
        while ((sent.len() as u64 - expected) as f64) < window {
            let _ = link.push(now, full(sent.len() as u64));
            sent.push(now);
        }
        now = link.next_at().unwrap();
        while let Some(Packet { number, .. }) = link.pop(now) {
            if number > expected && number >= recover {
                (window, recover) = (window / 2.0, sent.len() as u64);
            }
            window += 1.0 / window;
            expected = number + 1;
            if now > ms(10_000) {
                sum_ms += (now - sent[number as usize]).as_secs_f64() * 1e3 - 41.0;
                count += 1.0;
            }
        }
    }
    sum_ms / count
}

#[test]
fn codel_keeps_the_sojourn_near_its_target_under_overload() {
    let droptail = || QueueConfig::DropTail { bytes: None, packets: Some(1000) };
    let (deaf, halving) = (deaf_sender_sojourn_ms, halving_sender_sojourn_ms);
    assert!((1.0..10.0).contains(&halving(codel(1000))), "{} ms", halving(codel(1000)));
    assert!(halving(droptail()) > 100.0, "{} ms", halving(droptail()));
    // The drop rate grows with √count only, then starts over: a deaf sender sees a sawtooth.
    assert!((2.0..50.0).contains(&deaf(codel(1000))), "{} ms", deaf(codel(1000)));
    assert!((950.0..1000.5).contains(&deaf(droptail())), "{} ms", deaf(droptail()));
}

#[test]
fn codel_is_bounded_in_packets() {
    let mut link = built(&with_queue(12.0, codel(10)));
    for number in 0..10 {
        link.push(Instant::ZERO, full(number)).unwrap();
    }
    assert_eq!(link.push(Instant::ZERO, full(10)), Err(Dropped::QueueFull));
}

#[test]
fn an_infinite_queue_takes_everything() {
    let mut link = built(&unbounded(0.0, 0.0));
    for number in 0..100_000 {
        link.push(Instant::ZERO, full(number)).unwrap();
    }
    assert_eq!(link.queued_packets(), 100_000);
}
