//! RACK's window for reordering (RFC 8985 §6.2 step 4) and what it measures with (steps 1 and 2).

use super::ms;
use crate::rack::Rack;
use units::Duration;

fn window(rack: &Rack, in_recovery: bool, sacked: u64) -> Duration {
    rack.reordering_window(ms(40), ms(100), in_recovery, sacked)
}

fn reordering() -> Rack {
    let mut rack = Rack::default();
    rack.reordering_seen = true;
    rack
}

#[test]
fn without_reordering_three_sacks_or_a_recovery_leave_no_window() {
    let rack = Rack::default();
    assert_eq!(window(&rack, false, 2), ms(10), "a quarter of the least RTT");
    assert_eq!(window(&rack, false, 3), Duration::ZERO);
    assert_eq!(window(&rack, true, 0), Duration::ZERO);
}

#[test]
fn a_stream_that_reorders_keeps_its_window() {
    let rack = reordering();
    assert_eq!(window(&rack, false, 3), ms(10));
    assert_eq!(window(&rack, true, 9), ms(10));
}

#[test]
fn each_duplicate_widens_the_window_by_a_quarter_up_to_the_smoothed_rtt() {
    let mut rack = reordering();
    for quarters in 2..=12 {
        rack.on_duplicate();
        assert_eq!(window(&rack, true, 9), (ms(10) * quarters).min(ms(100)));
    }
    (0..1000).for_each(|_| rack.on_duplicate());
    assert_eq!(window(&rack, true, 9), ms(100));
}

#[test]
fn the_newest_transmission_that_arrived_gives_the_rtt() {
    let mut rack = Rack::default();
    rack.on_delivered(5, ms(60));
    rack.on_delivered(3, ms(90)); // left earlier and arrived later
    assert_eq!((rack.serial, rack.rtt), (5, ms(60)));
    rack.on_delivered(6, ms(55));
    assert_eq!((rack.serial, rack.rtt), (6, ms(55)));
}
