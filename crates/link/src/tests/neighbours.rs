//! Packets that are taken together: how one takes only those that it wants.

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
