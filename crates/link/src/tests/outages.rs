use super::*;
use crate::{CapacityConfig, Dropped, InFlight, LossConfig};

fn window(start_ms: u64, end_ms: u64, in_flight: InFlight) -> OutageConfig {
    OutageConfig { start_s: start_ms as f64 / 1e3, end_s: end_ms as f64 / 1e3, in_flight }
}

/// One packet per millisecond on a link that is just fast enough, 10 ms long: packet n departs at
/// n + 1 and arrives at n + 11 ms.
fn arrivals_ms(outages: &[OutageConfig], packets: u64) -> (Vec<(u64, u64)>, Counters) {
    let config = with_outages(unbounded(12.0, 10.0), outages);
    let (deliveries, counters) = paced(&config, packets, Duration::from_millis(1));
    (deliveries.iter().map(|(at, number)| (*number, at.as_nanos() / 1_000_000)).collect(), counters)
}

#[test]
fn a_dropping_outage_takes_what_the_link_holds() {
    let (arrivals, counters) = arrivals_ms(&[window(20, 30, InFlight::Drop)], 40);
    let expected: Vec<_> = (0..9).chain(30..40).map(|n| (n, n + 11)).collect();
    assert_eq!(arrivals, expected);
    assert_eq!(counters.dropped_outage_packets, 21);
}

#[test]
fn a_holding_outage_delays_what_the_link_holds() {
    let (arrivals, counters) = arrivals_ms(&[window(20, 30, InFlight::Hold)], 40);
    let held = |n: u64| if n < 9 { (n, n + 11) } else { (n, n + 21) };
    assert_eq!(arrivals, (0..40).map(held).collect::<Vec<_>>());
    assert_eq!(counters.dropped_packets(), 0);
}

#[test]
fn a_holding_outage_splits_a_service() {
    let config = with_outages(unbounded(6.0, 0.0), &[window(1, 5, InFlight::Hold)]);
    let mut link = built(&config);
    link.push(Instant::ZERO, full(0)).unwrap();
    link.push(ms(3), full(1)).unwrap();
    assert_eq!(drain(&mut link), [(ms(6), 0), (ms(8), 1)]);
}

#[test]
fn several_windows_add_up_and_mix() {
    let holds = [window(12, 14, InFlight::Hold), window(16, 20, InFlight::Hold)];
    let (arrivals, _) = arrivals_ms(&holds, 3);
    // Packet 0 is there at 11; 1 would be at 12, is held to 14; 2 is held to 15.
    assert_eq!(arrivals, [(0, 11), (1, 14), (2, 15)]);
    let (arrivals, _) = arrivals_ms(&holds, 5);
    assert_eq!(arrivals[3..], [(3, 20), (4, 21)], "14 + 2 = 16 falls into the second window");
    let mixed = [window(12, 14, InFlight::Hold), window(14, 16, InFlight::Drop)];
    let (arrivals, counters) = arrivals_ms(&mixed, 20);
    assert_eq!(arrivals, [(0, 11), (16, 27), (17, 28), (18, 29), (19, 30)]);
    assert_eq!(counters.dropped_outage_packets, 15);
}

#[test]
fn arrivals_in_a_dropping_outage_are_refused() {
    let config = with_outages(unbounded(12.0, 0.0), &[window(0, 5, InFlight::Drop)]);
    let mut link = built(&config);
    assert_eq!(link.push(Instant::ZERO, full(0)), Err(Dropped::Outage));
    assert_eq!(link.push(us(4999), full(1)), Err(Dropped::Outage));
    assert_eq!(link.push(ms(5), full(2)), Ok(()));
    assert_eq!(drain(&mut link), [(ms(6), 2)]);
}

#[test]
fn a_late_poll_sees_the_same_outage() {
    for in_flight in [InFlight::Drop, InFlight::Hold] {
        let config = with_outages(unbounded(12.0, 10.0), &[window(20, 30, in_flight)]);
        let (early, counters) = paced(&config, 20, Duration::from_millis(1));
        let mut link = built(&config);
        for number in 0..20 {
            link.push(ms(number), full(number)).unwrap();
        }
        let late: Vec<u64> = std::iter::from_fn(|| link.pop(ms(500))).map(|p| p.number).collect();
        assert_eq!(late, early.iter().map(|&(_, number)| number).collect::<Vec<_>>());
        assert_eq!(link.counters(), counters);
    }
}

#[test]
fn opportunities_in_an_outage_are_gone() {
    let capacity = CapacityConfig::Opportunities { times_ms: (1..=10).collect() };
    let link = LinkConfig { capacity, ..unbounded(0.0, 0.0) };
    let held = with_outages(link.clone(), &[window(2, 5, InFlight::Hold)]);
    let mut held = built(&held);
    let mut dropped = built(&with_outages(link, &[window(2, 5, InFlight::Drop)]));
    for number in 0..3 {
        held.push(Instant::ZERO, full(number)).unwrap();
        dropped.push(Instant::ZERO, Packet { number, bytes: 9000 }).unwrap();
    }
    assert_eq!(drain(&mut held), [(ms(1), 0), (ms(5), 1), (ms(6), 2)]);
    // The packet of six opportunities was planned up to 6 ms; that plan binds nobody.
    dropped.push(ms(5), full(3)).unwrap();
    assert_eq!(drain(&mut dropped), [(ms(5), 3)]);
}

#[test]
fn an_outage_draws_no_random_numbers() {
    let alternate = LossConfig::GilbertElliott { p: 1.0, r: 1.0, loss_good: 0.0, loss_bad: 1.0 };
    let link = LinkConfig { loss: alternate, ..unbounded(12.0, 0.0) };
    let config = with_outages(link, &[window(1, 5, InFlight::Drop)]);
    let mut link = built(&config);
    link.push(us(500), full(0)).unwrap(); // lost while being served
    for number in 1..4 {
        link.push(ms(5), full(number)).unwrap();
    }
    assert_eq!(drain(&mut link), [(ms(6), 1), (ms(8), 3)]);
}
