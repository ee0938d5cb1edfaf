//! Explicit congestion notification of what we send (RFC 9000 §13.4, RFC 9002 §7.1).

use super::noq::Noq;
use super::world::*;
use crate::*;
use units::{Instant, PathId};

const BYTES: u64 = 20_000_000;

fn with_ecn(config: &mut Config) {
    config.ecn = true;
}

/// A link that marks from a third of its queue on.
fn marking() -> Link {
    let link = Link::new(50.0, 20);
    Link { mark_bytes: link.queue_bytes / 3, ..link }
}

fn sending(link: Link, change: fn(&mut Config)) -> PathStats {
    let mut world = World::new(Own::client(0, |_| {}), Own::server(BYTES, change), vec![link], 1);
    world.transfer(30);
    world.server.endpoint.path_stats(PathId(0)).unwrap()
}

#[test]
fn marks_slow_the_sender_down_before_anything_is_lost() {
    let without = sending(marking(), |_| {});
    assert!(without.lost_packets > 0 && without.ecn_events == 0, "{without:?}");
    let with = sending(marking(), with_ecn);
    assert!(with.ecn_events > 1, "{with:?}");
    eprintln!("lost: {} without ECN, {} with", without.lost_packets, with.lost_packets);
    assert!(with.lost_packets < without.lost_packets / 4, "{with:?} {without:?}");
}

#[test]
fn every_controller_lives_with_marks() {
    for algorithm in congestion::Algorithm::ALL {
        let change = move |config: &mut Config| {
            config.ecn = true;
            config.congestion = algorithm.into();
        };
        let mut world =
            World::new(Own::client(0, |_| {}), Own::server(BYTES, change), vec![marking()], 1);
        world.transfer(40);
    }
}

#[test]
fn marking_ends_where_marks_do_not_come_through() {
    let link = Link { bleaches: true, ..marking() };
    let mut world =
        World::new(Own::client(0, with_ecn), Own::server(BYTES, with_ecn), vec![link], 1);
    assert!(world.client.endpoint.marks_ecn(PathId(0)));
    world.run(Instant::from_millis(500), |_| false);
    assert!(!world.server.endpoint.marks_ecn(PathId(0)));
    world.transfer(30);
    assert_eq!(world.server.endpoint.path_stats(PathId(0)).unwrap().ecn_events, 0);
}

#[test]
fn noq_counts_our_marks_as_we_expect() {
    let server = Own::server(BYTES, with_ecn);
    let mut world = World::new(Noq::client(BYTES, 1), server, vec![marking()], 1);
    world.transfer(30);
    assert!(world.server.endpoint.marks_ecn(PathId(0)));
    assert!(world.server.endpoint.path_stats(PathId(0)).unwrap().ecn_events > 1);
}

#[test]
fn a_peer_that_lies_about_marks_ends_marking() {
    use crate::path::EcnSeen;
    use crate::wire::EcnCounts;
    let counts = |ect0, ect1, ce| Some(EcnCounts { ect0, ect1, ce });
    let mut seen = EcnSeen::default();
    assert_eq!(seen.update(counts(9, 0, 1), 10, 10), Ok(1));
    assert_eq!(seen.update(None, 1, 20), Err(()), "no counts any more");
    assert_eq!(seen.update(counts(10, 0, 1), 2, 20), Err(()), "one packet is not counted");
    assert_eq!(seen.update(counts(8, 0, 5), 2, 20), Err(()), "counts shrink");
    assert_eq!(seen.update(counts(12, 1, 1), 2, 20), Err(()), "a mark that nobody sends");
    assert_eq!(seen.update(counts(20, 0, 1), 2, 20), Err(()), "more than were sent");
    assert_eq!(seen.update(counts(11, 0, 3), 4, 20), Ok(2));
}
