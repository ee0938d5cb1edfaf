use crate::{Bitrate, Duration, Instant};
use proptest::prelude::*;

#[test]
fn instants_saturate_instead_of_wrapping() {
    let early = Instant::from_millis(1);
    let late = Instant::from_millis(5);
    assert_eq!(late - early, Duration::from_millis(4));
    assert_eq!(early - late, Duration::ZERO);
    assert_eq!(early.saturating_sub(Duration::from_secs(1)), Instant::ZERO);
    assert_eq!(Instant::FAR_FUTURE + Duration::MAX, Instant::FAR_FUTURE);
}

#[test]
fn a_full_packet_at_50_mbps_takes_240_microseconds() {
    let rate = Bitrate::from_mbps(50.0);
    assert_eq!(rate.time_for(1500), Some(Duration::from_micros(240)));
    assert_eq!(Bitrate::ZERO.time_for(1), None);
    assert_eq!(Bitrate::from_mbps(f64::NAN), Bitrate::ZERO);
}

proptest! {
    #[test]
    fn time_for_is_the_shortest_time_that_carries_the_bytes(bps in 1_u64..10_u64.pow(10), bytes in 0_u64..10_u64.pow(9)) {
        let rate = Bitrate::from_bps(bps);
        let span = rate.time_for(bytes).unwrap();
        prop_assert!(rate.bytes_in(span) >= bytes);
        if span > Duration::from_nanos(8) {
            prop_assert!(rate.bytes_in(span - Duration::from_nanos(1)) <= bytes);
        }
    }
}
