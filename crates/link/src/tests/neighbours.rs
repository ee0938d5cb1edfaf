//! Packets that are taken together: which are waited for, and how one takes only those it wants.

use super::*;

/// 100 µs a packet and 10 ms more; of five, three are in flight and one is in service.
fn five() -> Link<Packet> {
    let mut link = built(&LinkConfig::constant(120.0, 10.0));
    for number in 0..5 {
        link.push(ms(0), full(number)).expect("there is room");
    }
    link.advance(us(300));
    link
}

#[test]
fn what_is_known_to_come_within_the_window_is_waited_for() {
    let link = five();
    let settled = |window_us| link.settled_at(Duration::from_micros(window_us));
    assert_eq!(settled(0), link.next_at());
    assert_eq!(settled(0), Some(us(10_100)));
    assert_eq!(settled(99), Some(us(10_100)));
    assert_eq!(settled(150), Some(us(10_200)));
    assert_eq!(settled(299), Some(us(10_300)));
}

#[test]
fn behind_the_packet_in_service_more_may_come() {
    let mut link = five();
    assert_eq!(link.settled_at(Duration::from_micros(350)), Some(us(10_450)));
    link.advance(us(400));
    let alone = link.settled_at(Duration::from_micros(450));
    assert_eq!(alone, Some(us(10_500)), "the last one, and nothing waits behind it");
}

#[test]
fn a_packet_that_is_alone_is_not_waited_for() {
    let mut link = built(&LinkConfig::constant(120.0, 10.0));
    assert_eq!(link.settled_at(Duration::from_secs(1)), None);
    link.push(ms(0), full(0)).expect("there is room");
    assert_eq!(link.settled_at(Duration::from_secs(1)), Some(us(10_100)));
}

#[test]
fn a_packet_that_is_not_wanted_stays() {
    let mut link = five();
    let number = |taken: Option<(Instant, Packet)>| taken.map(|(_, packet)| packet.number);
    assert_eq!(link.pop_timed_if(us(10_099), |_| true), None);
    assert_eq!(link.pop_timed_if(us(10_200), |packet| packet.number > 0), None);
    assert_eq!(link.counters().delivered_packets, 0);
    assert_eq!(number(link.pop_timed_if(us(10_200), |packet| packet.number == 0)), Some(0));
    assert_eq!(number(link.pop_timed(us(10_200))), Some(1));
    assert_eq!(link.counters().delivered_packets, 2);
}
