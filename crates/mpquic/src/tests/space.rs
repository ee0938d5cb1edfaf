//! Which packets came, against a plain set.

use crate::space::Received;
use proptest::prelude::*;
use std::collections::BTreeSet;
use units::{Duration, Instant};

proptest! {
    #[test]
    fn what_came_is_acknowledged_and_known(numbers in proptest::collection::vec(0_u64..120, 1..200)) {
        let mut received = Received::default();
        let mut came = BTreeSet::new();
        for number in numbers {
            prop_assert_eq!(received.is_duplicate(number), came.contains(&number));
            if came.insert(number) {
                received.on_packet(Instant::ZERO, number, true, Duration::ZERO);
            }
            prop_assert_eq!(received.largest(), came.last().copied());
            let ranges = received.ack(Instant::ZERO, 3).unwrap().ranges;
            let acknowledged: BTreeSet<u64> = ranges.iter().cloned().flatten().collect();
            prop_assert_eq!(&acknowledged, &came);
            // Newest first, with a gap between any two: what the frame can say (RFC 9000 §19.3.1).
            prop_assert!(ranges.windows(2).all(|two| two[1].end() + 1 < *two[0].start()));
        }
    }

    /// More gaps than are remembered: what is forgotten counts as received, never as new.
    #[test]
    fn what_is_forgotten_is_not_taken_twice(numbers in proptest::collection::vec(0_u64..2000, 1..600)) {
        let mut received = Received::default();
        let mut came = BTreeSet::new();
        for number in numbers {
            if !received.is_duplicate(number) {
                prop_assert!(came.insert(number), "{} was taken twice", number);
                received.on_packet(Instant::ZERO, number, true, Duration::ZERO);
            }
            let ranges = received.ack(Instant::ZERO, 3).unwrap().ranges;
            prop_assert!(ranges.len() <= 64);
            prop_assert!(ranges.into_iter().flatten().all(|number| came.contains(&number)));
        }
    }
}
