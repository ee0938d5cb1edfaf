//! Which packets came and which are acknowledged, against plain sets.

use super::losses::packet;
use crate::path::{Rtt, Space};
use crate::space::Received;
use crate::wire::AckFrame;
use proptest::prelude::*;
use std::collections::BTreeSet;
use units::{Duration, Instant, Ranges};

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

    /// Acknowledgements may be lost, and so may what says that they arrived; either comes late. What they
    /// leave out, the peer has.
    #[test]
    fn what_the_peer_may_not_have_is_repeated(
        steps in proptest::collection::vec((0_u64..6, 0_u64..12, any::<bool>(), 0_usize..8), 1..120),
    ) {
        let mut received = Received::default();
        let (mut came, mut has) = (BTreeSet::new(), BTreeSet::new());
        let (mut newest, mut arrived) = (0, Vec::new());
        for (ahead, behind, arrives, tells) in steps {
            newest += ahead;
            let number = if ahead > 0 { newest } else { newest.saturating_sub(behind) };
            if !received.is_duplicate(number) {
                received.on_packet(Instant::ZERO, number, true, Duration::ZERO);
                came.insert(number);
            }
            let ack = received.ack(Instant::ZERO, 3).unwrap();
            let said: BTreeSet<u64> = ack.ranges.iter().cloned().flatten().collect();
            prop_assert!(said.is_subset(&came));
            prop_assert!(came.difference(&said).all(|number| has.contains(number)));
            if arrives {
                has.extend(said);
                arrived.push(*ack.ranges[0].end());
            }
            if let Some(largest) = arrived.iter().rev().nth(tells) {
                received.settle_through(*largest);
            }
        }
    }

    /// Whatever an acknowledgement repeats, extends or leaves out of those before, and whichever of them
    /// comes late: each packet is taken once, by the first that covers it, and known as lost until then.
    #[test]
    fn an_acknowledgement_takes_what_it_is_the_first_to_cover(
        steps in proptest::collection::vec((1_usize..6, 0_u64..u64::MAX, 0_usize..4, 0_usize..12), 1..60),
    ) {
        let (mut space, rtt) = (Space::default(), Rtt::default());
        let (mut came, mut said) = (Ranges::default(), Vec::<AckFrame>::new());
        let (mut outstanding, mut lost) = (BTreeSet::new(), BTreeSet::new());
        for (sends, arrivals, left_out, late) in steps {
            for _ in 0..sends {
                outstanding.insert(space.sent.next());
                space.sent.push(packet(Instant::ZERO));
            }
            let sent: Vec<u64> = outstanding.union(&lost).copied().collect();
            for (place, number) in sent.into_iter().rev().take(64).enumerate() {
                if arrivals >> place & 1 == 1 {
                    came.insert(number..number + 1);
                }
            }
            let mut ranges: Vec<_> = came.iter().rev().map(|one| one.start..=one.end - 1).collect();
            ranges.truncate(ranges.len().saturating_sub(left_out).max(1));
            if ranges.is_empty() {
                continue;
            }
            said.push(AckFrame { delay: 0, ranges, ecn: None });
            let ack = &said[said.len() - 1 - late.min(said.len() - 1) / 4];
            let covered: BTreeSet<u64> = ack.ranges.iter().cloned().flatten().collect();
            let acked = space.take_acked(ack).unwrap();
            let taken: Vec<u64> = acked.packets.iter().map(|(number, _)| *number).collect();
            prop_assert_eq!(&taken, &outstanding.intersection(&covered).copied().collect::<Vec<_>>());
            prop_assert_eq!(acked.spurious, lost.intersection(&covered).count() as u64);
            outstanding.retain(|number| !covered.contains(number));
            lost.retain(|number| !covered.contains(number));
            for (number, _) in space.take_lost(Instant::ZERO, &rtt) {
                outstanding.remove(&number);
                lost.insert(number);
            }
        }
    }
}
