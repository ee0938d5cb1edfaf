//! The paths of a connection, without a connection.

use super::candidate::LEAST_BYTES;
use super::{Carriers, Due, Health, PathStatus, Paths, Running};
use crate::arrival::Arrival;
use crate::config::{AckPath, Config};
use crate::tests::tls;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use units::{Duration, Instant, PathId};

fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

/// Validated paths 0, 1, … over 0, 1, …
fn paths(count: u32) -> Paths {
    let config = Config::new(tls::server_role());
    let known = (forecast::Probability::EVEN, Duration::from_millis(25));
    let mut paths = Paths::new(&config, 1, known);
    paths.ids.set_limits(8, 8);
    for id in 0..count {
        paths.ids.take(id);
        paths.add(id, PathId(id as u8)).validated = true;
    }
    paths
}

fn rng() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(7)
}

fn arrival(at: u64, net: u8) -> Arrival {
    Arrival::new(ms(at), PathId(net), None, 100)
}

#[test]
fn what_is_foretold_and_wished_waits_for_the_path() {
    let mut paths = paths(1);
    assert_eq!(paths.set_backup(PathId(1), true), None, "there is no path to tell of");
    assert_eq!(paths.on_status(2, PathStatus { sequence: 4, backup: true }), (true, None));
    assert!(paths.add(1, PathId(1)).local_backup);
    let early = paths.add(2, PathId(2));
    assert!(early.peer_backup && !early.local_backup);
    let old = PathStatus { sequence: 4, backup: false };
    let same = paths.on_status(2, old);
    assert_eq!(same, (false, Some(PathId(2))), "the same sequence number says nothing new");
    let new = PathStatus { sequence: 5, backup: false };
    assert_eq!(paths.on_status(2, new), (true, Some(PathId(2))));
    assert!(paths.set_backup(PathId(1), false).is_some());
    assert!(paths.set_backup(PathId(1), false).is_none(), "nothing new");
}

#[test]
fn counts_of_a_path_that_is_over_go_on_with_the_next_one() {
    let mut paths = paths(2);
    paths.get_mut(1).unwrap().stats.sent_bytes = 70;
    paths.remove(1);
    assert!(!paths.contains(1) && paths.stats(PathId(5)).is_none());
    paths.add(2, PathId(1)).stats.sent_bytes = 30;
    assert_eq!(paths.stats(PathId(1)).unwrap().sent_bytes, 100);
    assert_eq!(paths.id_over(PathId(1)), Some(2));
}

#[test]
fn acknowledgements_leave_their_own_path_only_when_it_does_not_work() {
    let mut paths = paths(3);
    let one = |id| Some(Carriers::One(id));
    assert_eq!(paths.ack_carriers(AckPath::Same, 2), one(2));
    paths.get_mut(2).unwrap().health = Health::Suspected;
    assert_eq!(paths.ack_carriers(AckPath::Same, 2), one(0));
    assert_eq!(paths.ack_carriers(AckPath::Duplicated, 2), Some(Carriers::Usable));
    paths.hand_ack_to(Carriers::Usable, 2);
    paths.hand_ack_to(Carriers::Usable, 2);
    let carried: Vec<_> = paths.values().map(|path| path.acks_to_carry.len()).collect();
    assert_eq!(carried, [1, 1, 0]);
    paths.values_mut().for_each(|path| path.rest_until = Some(ms(9)));
    assert_eq!(paths.ack_carriers(AckPath::Same, 2), None, "all rest");
}

#[test]
fn a_proven_path_stays_until_its_other_way_is_answered() {
    let (mut paths, mut rng) = (paths(1), rng());
    paths.note_way(&arrival(5, 7), (0, true), false, &mut rng);
    assert_eq!(paths.way_to_ask(ms(5)), None, "no challenge can leave before the handshake ends");
    paths.note_way(&arrival(5, 7), (0, true), true, &mut rng);
    assert_eq!(paths.way_to_ask(ms(5)), Some((0, false)));
    let challenge = paths.get(0).unwrap().candidate.unwrap().challenge;
    assert!(!paths.answers_other_way(0, [0; 8]) && paths.answers_other_way(0, challenge));
    paths.note_way(&arrival(6, 0), (0, true), true, &mut rng);
    assert!(!paths.answers_other_way(0, challenge), "what came were copies");
    paths.note_way(&arrival(7, 7), (0, true), true, &mut rng);
    let moved = paths.move_over(ms(8), 0, &mut rng).unwrap();
    assert_eq!((moved.from, moved.to, moved.failed), (PathId(0), PathId(7), false));
    assert_eq!(paths.id_over(PathId(7)), Some(0));
    // RFC 9000 §9.3.3: the way that it left is asked, and its answer moves nothing.
    assert_eq!(paths.way_to_ask(ms(8)), Some((0, true)));
    let former = paths.get(0).unwrap().former.unwrap();
    assert!(former.net == PathId(0) && !paths.answers_other_way(0, former.challenge));
    paths.get_mut(0).unwrap().on_former_response(former.challenge);
    assert_eq!(paths.way_to_ask(ms(8)), None);
}

#[test]
fn copies_of_all_that_comes_show_a_way_that_no_newer_packet_hides() {
    let (mut paths, mut rng) = (paths(1), rng());
    paths.note_copy(&arrival(5, 7), 0, true, &mut rng);
    paths.note_way(&arrival(6, 0), (0, true), true, &mut rng);
    let seen = paths.get(0).unwrap().candidate.unwrap();
    assert!(seen.of_copies && paths.answers_other_way(0, seen.challenge));
    paths.note_copy(&arrival(7, 8), 0, true, &mut rng);
    assert!(paths.answers_other_way(0, seen.challenge), "one at a time");
}

#[test]
fn what_is_not_proven_goes_both_ways_that_its_packets_come() {
    let (mut paths, mut rng) = (paths(0), rng());
    paths.add(0, PathId(0)).came_bytes = 100;
    assert_eq!(paths.twin_of(0, 50), None);
    paths.note_copy(&arrival(5, 7), 0, false, &mut rng);
    assert_eq!((paths.twin_of(0, 250), paths.twin_of(0, 60)), (Some(PathId(7)), None));
    // The newest packet comes from there: the two change places, with what they may be sent.
    paths.note_way(&arrival(6, 7), (0, true), false, &mut rng);
    let path = paths.get(0).unwrap();
    assert_eq!((path.net, path.came_bytes, path.left_bytes), (PathId(7), 200, 250));
    assert_eq!(path.twin.unwrap().net, PathId(0));
    paths.get_mut(0).unwrap().validated = true;
    assert_eq!(paths.twin_of(0, 1), None);
}

#[test]
fn a_path_that_is_not_proven_follows_the_newest_packet() {
    let (mut paths, mut rng) = (paths(1), rng());
    let path = paths.add(1, PathId(1));
    path.begin_challenge(&mut rng);
    let first = path.challenge;
    paths.note_way(&arrival(5, 7), (1, false), true, &mut rng);
    assert_eq!(paths.get(1).unwrap().net, PathId(1), "it was late");
    paths.note_way(&arrival(5, 0), (1, true), true, &mut rng);
    assert_eq!(paths.get(1).unwrap().net, PathId(1), "that is another path's way");
    paths.note_way(&arrival(5, 7), (1, true), true, &mut rng);
    let path = paths.get(1).unwrap();
    assert_eq!((path.net, path.came_bytes), (PathId(7), 100));
    assert_ne!(path.challenge, first);
}

#[test]
fn a_challenge_that_is_never_answered_ends_its_path() {
    let (mut paths, mut rng) = (paths(1), rng());
    let path = paths.add(1, PathId(1));
    path.begin_challenge(&mut rng);
    path.came_bytes = LEAST_BYTES;
    let running = Running { confirmed: true, keep_alive: None };
    let mut tries = 0;
    let mut now = ms(0);
    while paths.due(now, 1, running).is_none() && tries < 100 {
        tries += u32::from(paths.get_mut(1).unwrap().take_challenge(now).is_some());
        now += Duration::from_millis(400);
    }
    assert_eq!((paths.due(now, 1, running), tries), (Some(Due::Unvalidated), 9));
    assert!(!paths.get_mut(1).unwrap().on_response([1; 8], &mut rng));
    let answer = paths.get(1).unwrap().challenge.unwrap();
    let path = paths.get_mut(1).unwrap();
    path.challenge_in_full = true;
    assert!(path.on_response(answer, &mut rng));
    assert_eq!(paths.due(now, 1, running), None);
}

#[test]
fn silence_fires_the_sign_of_life_only_where_it_is_wanted() {
    let mut paths = paths(1);
    let period = Duration::from_millis(1000);
    let running = |keep_alive| Running { confirmed: true, keep_alive };
    assert_eq!(paths.timer(running(None)), Instant::FAR_FUTURE);
    assert_eq!(paths.timer(running(Some(period))), ms(1000));
    assert_eq!(paths.due(ms(1000), 0, running(Some(period))), Some(Due::KeepAlive));
    paths.get_mut(0).unwrap().drains_until = Some(ms(1500));
    assert_eq!(paths.due(ms(1000), 0, running(Some(period))), None);
    assert_eq!(paths.due(ms(1500), 0, running(None)), Some(Due::Drained));
    assert!(!paths.has_any());
}

/// Found by random faults: a path was validated late, after its successor had been opened, and took
/// that for older than itself; data went on the successor before it was validated.
#[test]
fn a_path_gives_way_to_the_next_one_over_its_interface_when_that_is_validated() {
    let mut paths = paths(1);
    paths.add(1, PathId(0)).validated = true;
    paths.add(2, PathId(0));
    assert_eq!(paths.replace_older(1, PathId(0)), [0]);
    let replaced = |paths: &Paths| paths.ids_of(|path| path.replaced).into_vec();
    assert_eq!(replaced(&paths), [0]);
    assert_eq!(paths.carrier_over(PathId(0)), Some(1));
    assert_eq!(paths.id_over(PathId(0)), Some(2));
    paths.get_mut(2).unwrap().validated = true;
    assert_eq!(paths.replace_older(2, PathId(0)), [0, 1]);
    assert_eq!(paths.carrier_over(PathId(0)), Some(2));
}

/// Found by random inputs: nothing was left to send on when the successor of a path had been given up.
#[test]
fn a_path_counts_again_when_its_successor_is_given_up() {
    let mut paths = paths(2);
    for id in [2, 3] {
        paths.add(id, PathId(0)).validated = true;
        paths.replace_older(id, PathId(0));
    }
    for (over, carrier) in [(3, 2), (2, 0)] {
        paths.get_mut(over).unwrap().drains_until = Some(ms(5));
        assert_eq!(paths.carrier_over(PathId(0)), None);
        paths.restore_replaced();
        assert_eq!(paths.carrier_over(PathId(0)), Some(carrier));
    }
    assert_eq!(paths.carrier_over(PathId(1)), Some(1));
}

/// Found by random faults: acknowledgements of all paths left on one that was dead, and that nobody
/// suspected, for nothing on it asked for an acknowledgement.
#[test]
fn acknowledgements_ask_for_one_where_the_peer_is_silent() {
    let mut paths = paths(1);
    paths.get_mut(0).unwrap().heard_at = ms(1000);
    let asks: Vec<bool> =
        [1100, 1500, 60_000].iter().map(|at| paths.asks_with_acks(ms(*at), 0)).collect();
    assert_eq!(asks, [false, false, true]);
    paths.get_mut(0).unwrap().heard_at = ms(59_900);
    assert!(!paths.asks_with_acks(ms(60_000), 0));
}

#[test]
fn long_acknowledgements_ask_for_one_in_a_round_trip() {
    let mut paths = paths(1);
    let path = paths.get_mut(0).unwrap();
    (path.heard_at, path.space.last_eliciting_at) = (ms(1000), ms(1000));
    for number in 0..9 {
        path.space.received.on_packet(ms(1000), 2 * number, true, Duration::ZERO);
    }
    assert_eq!(path.space.received.ack(ms(1000), 3).unwrap().ranges.len(), 9);
    let rtt = path.rtt.smoothed();
    assert!(!paths.asks_with_acks(ms(1000) + rtt / 2, 0));
    assert!(paths.asks_with_acks(ms(1000) + rtt, 0));
    let received = &mut paths.get_mut(0).unwrap().space.received;
    received.settle_through(16);
    assert_eq!(received.ack(ms(1000), 3).unwrap().ranges, [16..=16]);
    assert!(!paths.asks_with_acks(ms(1000) + rtt, 0));
}

/// Found by random faults: each end gave another path up, and none was left; an answer that came late
/// found the only path gone; and so did a client whose network had been away for three seconds.
#[test]
fn a_challenge_goes_on_while_nothing_else_works() {
    let (late, lately) = (ms(60_000), ms(58_000));
    let goes_on = |spoil: &dyn Fn(&mut Paths), is_client: bool| {
        let (mut paths, mut rng) = (paths(2), rng());
        paths.add(2, PathId(2)).begin_challenge(&mut rng);
        paths.get_mut(2).unwrap().challenge_tries = 9;
        spoil(&mut paths);
        let goes_on = paths.challenge_goes_on(late, 2, is_client);
        let tries = paths.get(2).unwrap().challenge_tries;
        assert_eq!(tries, if goes_on { 6 } else { 9 });
        goes_on
    };
    let hear = |id: u32| move |paths: &mut Paths| paths.get_mut(id).unwrap().heard_at = lately;
    assert!(!goes_on(&hear(0), true), "another one works");
    assert!(!goes_on(&hear(0), false));
    assert!(goes_on(&|_: &mut Paths| (), true), "nobody was heard for long");
    assert!(goes_on(&hear(2), false), "the client sends on it");
    let alone = |paths: &mut Paths| [0, 1].into_iter().for_each(|id| paths.remove(id));
    assert!(goes_on(&alone, true), "there is no other");
}

/// Found by random inputs: a path had replaced another over its way and then moved to one of its own.
#[test]
fn a_path_counts_again_when_its_successor_moves() {
    let (mut paths, mut rng) = (paths(1), rng());
    paths.add(1, PathId(0)).validated = true;
    assert_eq!(paths.replace_older(1, PathId(0)), [0]);
    paths.note_way(&arrival(5, 7), (1, true), true, &mut rng);
    paths.move_over(ms(8), 1, &mut rng).unwrap();
    paths.restore_replaced();
    assert_eq!(paths.carrier_over(PathId(0)), Some(0));
}
