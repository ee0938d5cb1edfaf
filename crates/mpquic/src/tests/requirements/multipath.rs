//! draft-ietf-quic-multipath-21: path IDs that may not be, and paths that are over.

use super::*;
use crate::wire::{ConnectionId, NewCid, ResetToken, put_varint};
use units::Duration;

/// The highest path ID that either end lets the other use at first.
const LAST: u32 = 3;

fn cid(path: u32) -> Frame<'static> {
    let cid = ConnectionId::new(&[0x77; 8]).unwrap();
    let new = NewCid { sequence: 2, retire_prior_to: 1, cid, token: ResetToken([1; 16]) };
    Frame::NewConnectionId { path: Some(path), new }
}

#[test]
fn path_ids_beyond_the_limit_end_the_connection() {
    let ack = || wire::AckFrame { delay: 0, ranges: vec![0..=0], ecn: None };
    let frames: [fn(u32, wire::AckFrame) -> Frame<'static>; 7] = [
        |path, ack| Frame::Ack { path: Some(path), ack },
        |path, _| Frame::PathAbandon { path, error_code: 0 },
        |path, _| Frame::PathStatus { path, sequence: 9, backup: true },
        |path, _| cid(path),
        |path, _| Frame::RetireConnectionId { path: Some(path), sequence: 0 },
        |path, _| Frame::PathsBlocked { maximum: path },
        |path, _| Frame::PathCidsBlocked { path, next_sequence: 0 },
    ];
    for frame in frames {
        let beyond = frame(LAST + 1, ack());
        let error = error_of(Victim::server(), std::slice::from_ref(&beyond));
        assert_eq!(error, Some(Code::ProtocolViolation), "{beyond:?}");
    }
    for frame in &frames[1..] {
        let last = frame(LAST, ack());
        assert_eq!(error_of(Victim::server(), std::slice::from_ref(&last)), None, "{last:?}");
    }
}

/// §4.6: no frame can name more than 2^32 paths.
#[test]
fn path_ids_of_more_than_32_bits_are_a_violation() {
    for kind in [0x3e_u64, 0x3e75, 0x3e76, 0x3e78, 0x3e79, 0x3e7a, 0x3e7b, 0x3e7c] {
        let mut payload = Vec::new();
        put_varint(&mut payload, kind);
        put_varint(&mut payload, 1 << 32);
        payload.extend([0; 60]);
        let error = Victim::server().hears_bytes(&payload).error();
        assert_eq!(error, Some(Code::ProtocolViolation), "{kind:#x}");
    }
}

/// §4.6, §4.7.
#[test]
fn limits_only_grow_and_nobody_is_blocked_by_what_is_not_next() {
    let maximum = |maximum| [Frame::MaxPathId { maximum }];
    assert_eq!(error_of(Victim::client(), &maximum(LAST - 1)), Some(Code::ProtocolViolation));
    let mut victim = Victim::client();
    victim.hears(&maximum(9)).hears(&maximum(LAST)).hears(&maximum(8));
    assert_eq!(victim.error(), None);
    // Two IDs of each path are given: the next has number 2.
    let blocked = |next_sequence| [Frame::PathCidsBlocked { path: 1, next_sequence }];
    assert_eq!(error_of(Victim::server(), &blocked(2)), None);
    assert_eq!(error_of(Victim::server(), &blocked(3)), Some(Code::ProtocolViolation));
}

/// §2: without the extension its frames are errors.
#[test]
fn without_multipath_its_frames_end_the_connection() {
    let one = |config: &mut Config| config.max_paths = 1;
    let frames = [
        Frame::PathAbandon { path: 0, error_code: 0 },
        Frame::MaxPathId { maximum: 9 },
        Frame::PathStatus { path: 0, sequence: 0, backup: true },
    ];
    for frame in frames {
        let links = vec![Link::new(10.0, 10)];
        let mut world = World::new(Own::client(0, |_| {}), Own::server(0, one), links, 1);
        world.run(ms(500), |_| false);
        assert!(!world.client.endpoint.is_multipath() && !world.server.endpoint.is_multipath());
        world.client.endpoint.inject(frame);
        world.run(ms(1000), |_| false);
        let Some(Closed::Error(error)) = world.server.closed() else { panic!() };
        assert_eq!(error.code, Code::ProtocolViolation);
    }
}

/// §3.4: a path that is given up is given up by both, also one that never began; its ID is used no
/// more, and what comes late for it is ignored.
#[test]
fn a_path_that_is_given_up_is_given_up_by_both_and_for_ever() {
    let mut victim = Victim::server();
    let log = victim.log();
    victim.hears(&[Frame::PathAbandon { path: 2, error_code: 7 }]);
    victim.says();
    let answers = log.frames("path_abandon");
    assert_eq!((answers.len(), &answers[0]["path_id"]), (1, &2.into()));
    victim.hears(&[Frame::PathAbandon { path: 2, error_code: 7 }]);
    victim.says();
    assert_eq!(log.frames("path_abandon").len(), 1);
    victim.hears(&[cid(2), Frame::PathStatus { path: 2, sequence: 9, backup: true }]);
    victim.hears(&[Frame::RetireConnectionId { path: Some(2), sequence: 0 }]);
    assert_eq!(victim.error(), None);
    // No packet opens it again.
    victim.own.endpoint.handle_payload(victim.now, PathId(1), (2, 0), &[1]);
    victim.own.work(victim.now);
    assert_eq!((victim.own.endpoint.path_ids(), victim.error()), (vec![0], None));
}

/// §3.1, §3.4: a path that was tried and did not answer is closed explicitly, and its data are sent on
/// the others.
#[test]
fn a_path_that_never_answers_is_closed_explicitly() {
    let links = vec![Link::new(10.0, 10), Link { loss: 1000, ..Link::new(10.0, 10) }];
    let mut world = World::new(Own::client(0, |_| {}), Own::server(0, |_| {}), links, 1);
    world.run(ms(500), |_| false);
    world.client.endpoint.add_path(world.now, PathId(1)).unwrap();
    let log = Log::of(&mut world.client.endpoint, world.now);
    world.run(ms(6000), |_| false);
    assert_eq!(log.frames("path_abandon").len(), 1);
    assert!(!world.client.has(&Event::PathEstablished(PathId(1))));
    // Its ID is used up: the next path has another one.
    world.links[0][1].loss = 0;
    world.links[1][1].loss = 0;
    let until = world.now + Duration::from_secs(5);
    world.run(until, |world| world.client.endpoint.add_path(world.now, PathId(1)).is_ok());
    world.run(until, |world| world.client.has(&Event::PathEstablished(PathId(1))));
    assert_eq!(world.client.endpoint.path_ids(), [0, 2]);
}

/// §4.3: numbers of one path's statuses only grow.
#[test]
fn an_old_status_does_not_count() {
    let mut victim = Victim::server();
    let status = |sequence, backup| [Frame::PathStatus { path: 0, sequence, backup }];
    victim.hears(&status(5, true));
    assert_eq!(victim.own.endpoint.is_backup(PathId(0)), Some(true));
    victim.hears(&status(4, false)).hears(&status(5, false));
    assert_eq!(victim.own.endpoint.is_backup(PathId(0)), Some(true));
    victim.hears(&status(6, false));
    assert_eq!(victim.own.endpoint.is_backup(PathId(0)), Some(false));
}

/// §4.3: and ours grow.
#[test]
fn every_status_has_a_number_of_its_own() {
    let mut victim = Victim::client();
    let log = victim.log();
    for backup in [true, false, true] {
        victim.own.endpoint.set_path_status(PathId(0), backup).unwrap();
        victim.says();
    }
    let number = |kind: &str| -> Vec<u64> {
        let frames = log.frames(kind);
        let numbers = frames.iter().map(|frame| frame["path_status_sequence_number"].as_u64());
        numbers.map(Option::unwrap).collect()
    };
    let (backup, available) = (number("path_status_backup"), number("path_status_available"));
    assert_eq!((backup.len(), available.len()), (2, 1));
    assert!(backup[0] < available[0] && available[0] < backup[1], "{backup:?} {available:?}");
}

/// §3.2.1: the peer's maximum is 1, ours 3.
#[test]
fn no_connection_ids_are_given_beyond_the_peers_maximum() {
    let mut client = Own::client(0, |_| {});
    let log = Log::of(&mut client.endpoint, ms(0));
    let server = Own::server(0, |config| config.max_paths = 2);
    let mut world = World::new(client, server, vec![Link::new(10.0, 10)], 1);
    world.run(ms(500), |_| false);
    let frames = log.frames("path_new_connection_id");
    assert!(!frames.is_empty());
    assert!(frames.iter().all(|frame| frame["path_id"] == 1), "{frames:?}");
}

/// §3.4: not even what was in flight is probed.
#[test]
fn nothing_leaves_on_a_path_that_was_given_up() {
    let links = vec![Link::new(10.0, 10), Link::new(10.0, 10)];
    let (client, server) = (Own::client(2_000_000, |_| {}), Own::server(0, |_| {}));
    let mut world = World::new(client, server, links, 1);
    assert!(
        world
            .run(ms(500), |world| { world.client.endpoint.add_path(world.now, PathId(1)).is_ok() })
    );
    world.run(ms(800), |_| false);
    let before = world.links[0][1].carried;
    assert!(before > 50_000, "{before}");
    world.client.endpoint.abandon_path(world.now, PathId(1)).unwrap();
    world.transfer(20);
    assert_eq!(world.links[0][1].carried, before);
}

/// §3.4: not even the end of the connection, when it was the last.
#[test]
fn nothing_leaves_when_the_last_path_was_given_up() {
    let mut victim = Victim::server();
    victim.hears(&[Frame::PathAbandon { path: 0, error_code: 7 }]);
    assert_eq!(victim.own.endpoint.poll_transmit(victim.now), None);
    victim.own.endpoint.close(victim.now, 1, b"enough");
    assert_eq!(victim.own.endpoint.poll_transmit(victim.now), None);
    assert_eq!(victim.own.closed(), None);
}

/// §3.4: each end gives up the path that the other counts on, and neither hears of it in time. The
/// connection waits for the client to open another, and goes on there.
#[test]
fn without_any_path_the_connection_waits_for_another() {
    let links = vec![Link::new(10.0, 10), Link::new(10.0, 10)];
    let (client, server) = (Own::client(0, |_| {}), Own::server(2_000_000, |_| {}));
    let mut world = World::new(client, server, links, 1);
    let adds = |world: &mut World<Own, Own>, net| {
        world.client.endpoint.add_path(world.now, PathId(net)).is_ok()
    };
    assert!(world.run(ms(500), |world| adds(world, 1)));
    world.run(ms(800), |_| false);
    let received = world.client.bulk.received;
    assert!(received > 0 && !world.client.bulk.finished);
    for net in 0..2 {
        world.links[1][net].down.push((ms(800), ms(2000)));
    }
    world.server.endpoint.abandon_path(world.now, PathId(1)).unwrap();
    world.run(ms(820), |_| false);
    world.client.endpoint.abandon_path(world.now, PathId(0)).unwrap();
    world.run(ms(2000), |_| false);
    assert!(!world.server.endpoint.has_path(PathId(0)), "its last path is gone");
    assert_eq!((world.server.closed(), world.client.closed()), (None, None));
    assert!(world.run(ms(4000), |world| adds(world, 0)));
    world.transfer(20);
}
