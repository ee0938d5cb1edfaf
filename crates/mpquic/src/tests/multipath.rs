//! Several paths, both ends ours.

use super::tls;
use super::world::*;
use crate::wire::Frame;
use crate::*;
use forecast::Forecast;
use units::{Duration, Instant, PathId, Window};

const MEGABYTE: u64 = 1_000_000;

fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

fn links() -> Vec<Link> {
    vec![Link::new(100.0, 20), Link::new(50.0, 40)]
}

/// Two paths; the client sends `up`, the server `down`, both with this scheduler.
fn two(
    scheduler: &str,
    (up, down): (u64, u64),
    links: Vec<Link>,
    change: fn(&mut Config),
) -> World<Own, Own> {
    let client = Own::new(tls::client_role(), up, scheduler, change);
    let server = Own::new(tls::server_role(), down, scheduler, change);
    let mut world = World::new(client, server, links, 1);
    let added =
        world.run(ms(3000), |world| world.client.endpoint.add_path(world.now, PathId(1)).is_ok());
    assert!(added);
    world
}

#[test]
fn two_paths_carry_more_than_one() {
    let mut world = two("minrtt", (0, 60 * MEGABYTE), links(), |_| {});
    let seconds = world.transfer(30).as_secs_f64();
    let mbps = 60.0 * 8.0 / seconds;
    eprintln!("two paths of 100 + 50 Mbit/s: {mbps:.1} Mbit/s");
    assert!(mbps > 120.0, "{mbps} Mbit/s");
    for net in [0, 1] {
        assert!(world.client.has(&Event::PathEstablished(PathId(net))));
        assert!(world.server.has(&Event::PathEstablished(PathId(net))));
    }
}

#[test]
fn a_hundred_megabytes_both_ways() {
    let mut world = two("minrtt", (100 * MEGABYTE, 100 * MEGABYTE), links(), |_| {});
    let seconds = world.transfer(60).as_secs_f64();
    eprintln!("100 MB each way: {:.1} Mbit/s each", 800.0 / seconds);
}

#[test]
fn every_scheduler_and_every_controller_delivers_everything() {
    for algorithm in scheduler::Algorithm::ALL {
        let lossy = links().into_iter().map(|link| Link { loss: 5, ..link }).collect();
        two(algorithm.name(), (MEGABYTE, 2 * MEGABYTE), lossy, |_| {}).transfer(120);
    }
    for algorithm in congestion::Algorithm::ALL {
        let choose = move |config: &mut Config| config.congestion = algorithm.into();
        let client = Own::client(MEGABYTE, choose);
        let mut world = World::new(client, Own::server(4 * MEGABYTE, choose), links(), 1);
        world.run(ms(3000), |world| world.client.endpoint.add_path(world.now, PathId(1)).is_ok());
        world.transfer(60);
    }
}

#[test]
fn redundant_sends_everything_on_both_paths() {
    let mut world = two("redundant", (0, 15 * MEGABYTE), links(), |_| {});
    world.transfer(30);
    let second = world.server.endpoint.path_stats(PathId(1)).unwrap();
    assert!(second.reinjected_bytes > 2 * MEGABYTE, "{second:?}");
}

/// The longest pause of the receiving application when `net` is dark for 5 s.
fn stall(net: usize, start: u64, seed: u64) -> Duration {
    let mut links = links();
    links[net].down = vec![(ms(start), ms(start + 5000))];
    let client = Own::client(0, |_| {});
    let mut world = World::new(client, Own::server(120 * MEGABYTE, |_| {}), links, seed);
    assert!(
        world.run(ms(1000), |world| world.client.endpoint.add_path(world.now, PathId(1)).is_ok())
    );
    world.transfer(60);
    let failed = Event::PathFailed(PathId(net as u8));
    let revived = Event::PathRevived(PathId(net as u8));
    assert!(world.server.has(&failed), "path {net} from {start} ms");
    let at = world.server.when(&failed).unwrap();
    assert!(at - ms(start) < Duration::from_millis(1000), "failed only at {at:?}");
    if world.now > ms(start + 6000) {
        let at = world.server.when(&revived).expect("used again");
        assert!(at - ms(start + 5000) < Duration::from_millis(600), "revived only at {at:?}");
    }
    world.client.bulk.longest_stall
}

#[test]
fn a_blackout_of_five_seconds_stalls_the_application_for_less_than_a_second() {
    let mut stalls: Vec<Duration> =
        (0..20).map(|seed| stall((seed % 2) as usize, 1300 + 37 * seed, seed)).collect();
    stalls.sort();
    eprintln!("stall in a blackout: median {:?}, longest {:?}", stalls[10], stalls[19]);
    assert!(stalls[19] < Duration::from_millis(1000), "{stalls:?}");
}

#[test]
fn the_only_path_survives_a_blackout() {
    let mut link = Link::new(50.0, 20);
    link.down = vec![(ms(500), ms(5500))];
    let mut world =
        World::new(Own::client(0, |_| {}), Own::server(10 * MEGABYTE, |_| {}), vec![link], 1);
    let done = world.transfer(60);
    assert!(done < ms(15_000), "{done:?}");
}

#[test]
fn a_foreseen_outage_stops_the_path_before_it_fails() {
    let outage = Window { start: ms(1500), end: ms(3000) };
    let mut links = links();
    links[0].down = vec![(outage.start, outage.end)];
    let mut world = two("minrtt", (0, 60 * MEGABYTE), links, |_| {});
    world.client.endpoint.set_forecast(PathId(0), Forecast::certain([outage]));
    world.server.endpoint.set_forecast(PathId(0), Forecast::certain([outage]));
    world.run(ms(1500), |_| false);
    let before = world.server.endpoint.path_stats(PathId(0)).unwrap().sent_bytes;
    world.run(ms(2999), |_| false);
    let after = world.server.endpoint.path_stats(PathId(0)).unwrap().sent_bytes;
    assert_eq!(before, after, "nothing leaves during the outage, probes included");
    world.transfer(30);
    assert!(!world.server.has(&Event::PathFailed(PathId(0))));
    let stall = world.client.bulk.longest_stall;
    eprintln!("stall in a foreseen outage: {stall:?}");
    assert!(stall < Duration::from_millis(400), "{stall:?}");
}

#[test]
fn acknowledgements_take_the_path_that_was_chosen() {
    let acks = |ack_path: AckPath| {
        let change = move |config: &mut Config| config.ack_path = ack_path;
        let mut world =
            World::new(Own::client(0, change), Own::server(10 * MEGABYTE, change), links(), 1);
        assert!(world.run(ms(1000), |world| {
            world.client.endpoint.add_path(world.now, PathId(1)).is_ok()
        }));
        world.transfer(30);
        [0, 1].map(|net| world.client.endpoint.path_stats(PathId(net)).unwrap().acks)
    };
    let same = acks(AckPath::Same);
    assert!(same[0] > 100 && same[1] > 100, "{same:?}");
    let fastest = acks(AckPath::Fastest);
    assert!(fastest[0] > fastest[1] * 10, "{fastest:?}");
    let twice = acks(AckPath::Duplicated);
    assert!(twice[0] > 1000 && twice[0].abs_diff(twice[1]) < twice[0] / 5, "{twice:?}");
}

#[test]
fn a_backup_path_carries_nothing_while_the_other_works() {
    let mut world = two("minrtt", (0, 20 * MEGABYTE), links(), |_| {});
    world.run(ms(200), |_| false);
    world.client.endpoint.set_path_status(PathId(1), true).unwrap();
    world.run(ms(400), |_| false);
    assert!(world.server.has(&Event::PathStatus(PathId(1), true)));
    let before = world.server.endpoint.path_stats(PathId(1)).unwrap();
    world.transfer(30);
    let after = world.server.endpoint.path_stats(PathId(1)).unwrap();
    // Only copies at the tail and acknowledgements.
    assert!(after.sent_bytes - before.sent_bytes < 300_000, "{before:?} {after:?}");
}

/// The server knows the status before it may send data on the path, whichever packets come first.
#[test]
fn a_path_that_begins_as_a_backup_never_carries_data_beside_another_one() {
    for delays in [(20, 40), (200, 5)] {
        let links = vec![Link::new(100.0, delays.0), Link::new(50.0, delays.1)];
        let client = Own::client(0, |_| {});
        let mut world = World::new(client, Own::server(10 * MEGABYTE, |_| {}), links, 1);
        world.client.endpoint.set_path_status(PathId(1), true).unwrap();
        assert!(world.run(ms(3000), |world| {
            world.client.endpoint.add_path(world.now, PathId(1)).is_ok()
        }));
        world.transfer(30);
        let stats = world.server.endpoint.path_stats(PathId(1)).unwrap();
        assert!(stats.sent_bytes < 10_000, "{delays:?}: {stats:?}");
    }
}

/// The connection's first path is a backup as soon as the peer can know.
#[test]
fn the_first_path_may_be_a_backup() {
    let client = Own::client(0, |_| {});
    let mut world = World::new(client, Own::server(20 * MEGABYTE, |_| {}), links(), 1);
    world.client.endpoint.set_path_status(PathId(0), true).unwrap();
    world.run(ms(3000), |world| world.client.endpoint.add_path(world.now, PathId(1)).is_ok());
    world.transfer(30);
    assert!(world.server.has(&Event::PathStatus(PathId(0), true)));
    let [first, second] = [0, 1].map(|net| world.server.endpoint.path_stats(PathId(net)).unwrap());
    assert!(first.sent_bytes < 2 * MEGABYTE && second.sent_bytes > 18 * MEGABYTE, "{first:?}");
}

/// What the peer says of a path that did not begin yet is kept, the newest of it.
#[test]
fn a_status_that_comes_before_its_path_counts() {
    let mut world = two("minrtt", (0, 0), links(), |_| {});
    for (sequence, backup) in [(1, true), (0, false)] {
        world.client.endpoint.inject(Frame::PathStatus { path: 2, sequence, backup });
    }
    let until = world.now + Duration::from_millis(200);
    world.run(until, |_| false);
    world.client.endpoint.abandon_path(world.now, PathId(1)).unwrap();
    world.client.endpoint.add_path(world.now, PathId(1)).unwrap();
    let until = world.now + Duration::from_secs(1);
    world.run(until, |_| false);
    assert_eq!(world.server.endpoint.is_backup(PathId(1)), Some(true));
    world.client.endpoint.inject(Frame::PathStatus { path: 1000, sequence: 0, backup: true });
    let until = world.now + Duration::from_secs(1);
    world.run(until, |_| false);
    assert!(world.server.closed().is_some(), "a path beyond the limit");
}

/// What such a scheduler leaves to the rule against deadlocks keeps off a backup path, however fast.
#[test]
fn a_scheduler_that_only_waits_deadlocks_nothing_and_spares_a_backup_path() {
    #[derive(Debug)]
    struct Procrastinator;
    impl scheduler::Scheduler for Procrastinator {
        fn select(&mut self, _: &scheduler::ConnectionView<'_>) -> scheduler::Decision {
            scheduler::Decision::Wait(None)
        }
    }
    let lazy = Box::new(Procrastinator);
    let server = Own::with_scheduler(tls::server_role(), 100_000, lazy, |_| {});
    let client = Own::client(0, |_| {});
    let links = vec![Link::new(20.0, 60), Link::new(20.0, 20)];
    let mut world = World::new(client, server, links, 1);
    world.run(ms(3000), |world| world.client.endpoint.add_path(world.now, PathId(1)).is_ok());
    let marked = |world: &mut World<Own, Own>| {
        world.client.endpoint.set_path_status(PathId(1), true).is_ok()
    };
    assert!(world.run(ms(3000), marked));
    assert!(world.run(ms(3000), |world| world.server.has(&Event::PathStatus(PathId(1), true))));
    let before = world.server.endpoint.path_stats(PathId(1)).unwrap();
    world.transfer(60);
    let after = world.server.endpoint.path_stats(PathId(1)).unwrap();
    // Acknowledgements, probes, and the copies of the last packet in flight.
    assert!(after.sent_bytes - before.sent_bytes < 10_000, "{before:?} {after:?}");
}

#[test]
fn paths_come_and_go_many_times() {
    let mut world = two("minrtt", (20 * MEGABYTE, 40 * MEGABYTE), links(), |_| {});
    for round in 0..12 {
        let (gone, until) = (PathId(round % 2), world.now + Duration::from_millis(250));
        world.run(until, |_| false);
        if world.client.endpoint.abandon_path(world.now, gone).is_ok() {
            let until = world.now + Duration::from_secs(5);
            let back =
                world.run(until, |world| world.client.endpoint.add_path(world.now, gone).is_ok());
            assert!(back, "round {round}");
        }
    }
    world.transfer(60);
    assert!(world.client.closed().is_none() && world.server.closed().is_none());
}

#[test]
fn a_path_that_does_not_answer_is_given_up() {
    let mut dead = links();
    dead[1].loss = 1000;
    let mut world = two("minrtt", (0, MEGABYTE), dead, |_| {});
    world.run(ms(8000), |_| false);
    assert!(
        world.client.events.iter().any(|(_, e)| matches!(e, Event::PathAbandoned(PathId(1), _)))
    );
    assert!(world.client.bulk.ended);
}
