//! Spacing packets at a rate (Linux `tcp_update_skb_after_send`).

use super::{at, ms};
use crate::subflow::Pacer;
use units::Bitrate;

const BYTES: u64 = 1000;

#[test]
fn a_quantum_leaves_back_to_back_and_the_next_when_the_rate_has_caught_up() {
    let mut pacer = Pacer::default();
    let rate = Bitrate::from_mbps(1.0); // 8 ms for a packet
    for _ in 0..3 {
        assert!(pacer.allows(at(100), rate, 3 * BYTES));
        pacer.on_sent(rate, BYTES);
    }
    assert!(!pacer.allows(at(100), rate, 3 * BYTES));
    assert_eq!(pacer.next(), at(100) + ms(24));
    assert!(!pacer.allows(at(123), rate, 3 * BYTES));
    assert!(pacer.allows(at(124), rate, 3 * BYTES));
}

#[test]
fn a_pause_saves_up_no_more_than_a_quantum() {
    let mut pacer = Pacer::default();
    let rate = Bitrate::from_mbps(1.0);
    let burst = |pacer: &mut Pacer, now| {
        let mut packets = 0;
        while pacer.allows(now, rate, 2 * BYTES) {
            pacer.on_sent(rate, BYTES);
            packets += 1;
        }
        packets
    };
    assert_eq!(burst(&mut pacer, at(0)), 2);
    assert_eq!(burst(&mut pacer, at(60_000)), 2);
}

#[test]
fn no_rate_at_all_lets_one_packet_leave_and_overflows_nothing() {
    let mut pacer = Pacer::default();
    assert!(pacer.allows(at(0), Bitrate::ZERO, BYTES));
    pacer.on_sent(Bitrate::ZERO, BYTES);
    pacer.on_sent(Bitrate::ZERO, u64::MAX);
    assert!(!pacer.allows(at(3_600_000), Bitrate::ZERO, BYTES));
}
