//! What a record needs to know, and what is foretold of paths.

use super::world::*;
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

fn two(scheduler: &str, bytes: u64, links: Vec<Link>, change: fn(&mut Config)) -> World<Own, Own> {
    let client = Own::new(super::tls::client_role(), 0, scheduler, change);
    let server = Own::new(super::tls::server_role(), bytes, scheduler, change);
    let mut world = World::new(client, server, links, 1);
    assert!(
        world.run(ms(1000), |world| world.client.endpoint.add_path(world.now, PathId(1)).is_ok())
    );
    world
}

#[test]
fn what_is_worth_holding_covers_the_longest_round_trip() {
    let mut world = two("minrtt", 20 * MEGABYTE, links(), |_| {});
    assert!(world.run(ms(3000), |world| world.client.bulk.received > 5 * MEGABYTE));
    let server = &world.server.endpoint;
    let [short, long] = [0, 1].map(|net| server.path_stats(PathId(net)).unwrap());
    assert!(long.srtt > short.srtt);
    let windows = short.cwnd_bytes + long.cwnd_bytes;
    let worth = server.worth_holding_bytes();
    assert!(worth > 2 * windows, "{worth} B for windows of {windows} B");
    let stretched = long.srtt.as_nanos() / short.srtt.as_nanos() + 1;
    assert!(worth <= 2 * stretched * windows, "{worth} B, {stretched} times {windows} B");
}

#[test]
fn what_is_counted_adds_up() {
    let lossy = links().into_iter().map(|link| Link { loss: 10, ..link }).collect();
    let mut world = two("minrtt", 20 * MEGABYTE, lossy, |_| {});
    world.transfer(60);
    let (client, server) = (&world.client.endpoint, &world.server.endpoint);
    let stats = |endpoint: &Endpoint| [0, 1].map(|net| endpoint.path_stats(PathId(net)).unwrap());
    let (receiver, sender) = (stats(client), stats(server));
    let unique: u64 = receiver.iter().map(|path| path.unique_bytes).sum();
    assert_eq!(unique, 20 * MEGABYTE);
    let totals = client.totals();
    assert_eq!(totals.in_order_bytes, 20 * MEGABYTE);
    assert_eq!(totals.reorder_bytes, 0);
    assert!(totals.reorder_max_bytes > 10_000, "{totals:?}");
    let again: u64 = sender.iter().map(|path| path.retransmitted_bytes).sum();
    // What was sent again came twice at most, and what was sent again was lost mostly.
    assert!(totals.duplicate_bytes < again / 2, "{totals:?} {again}");
    for path in sender {
        assert!(path.lost_packets > 20 && path.spurious_losses <= path.lost_packets / 10);
        let again = path.retransmitted_packets + path.reinjected_packets;
        assert!(again > 0 && path.redundant_packets == 0, "{path:?}");
        assert!(path.min_rtt >= Duration::from_millis(40) && path.srtt >= path.min_rtt);
        assert!(path.pacing_rate.as_mbps() > 1.0 && path.cwnd_bytes > 1200);
        assert_eq!(path.health, Health::Good);
    }
}

#[test]
fn copies_that_the_scheduler_wants_are_told_apart() {
    let mut world = two("redundant", 5 * MEGABYTE, links(), |_| {});
    world.transfer(30);
    let paths = [0, 1].map(|net| world.server.endpoint.path_stats(PathId(net)).unwrap());
    assert!(paths[0].redundant_packets + paths[1].redundant_packets > 300, "{paths:?}");
    assert!(world.client.endpoint.totals().duplicate_bytes > MEGABYTE / 4);
}

#[test]
fn round_robin_takes_turns() {
    let mut world = two("roundrobin", 0, links(), |_| {});
    world.run(ms(300), |_| false);
    let before = [0, 1].map(|net| world.server.endpoint.path_stats(PathId(net)).unwrap());
    let stream = world.server.endpoint.open_stream(false).unwrap();
    world.server.endpoint.write(stream, &[0; 20_000]).unwrap();
    world.server.endpoint.finish(stream).unwrap();
    world.client.reads = false;
    world.run(ms(310), |_| false);
    let after = [0, 1].map(|net| world.server.endpoint.path_stats(PathId(net)).unwrap());
    let sent = [0, 1].map(|net: usize| after[net].sent_packets - before[net].sent_packets);
    assert!(sent[0] >= 8 && sent[0].abs_diff(sent[1]) <= 2, "{sent:?}");
}

#[test]
fn a_spurious_loss_is_known_as_such() {
    // Reordering by a whole delay: found lost, and acknowledged later.
    let link = Link { reorder: 20, ..Link::new(50.0, 20) };
    let mut world =
        World::new(Own::client(0, |_| {}), Own::server(5 * MEGABYTE, |_| {}), vec![link], 1);
    world.transfer(60);
    let stats = world.server.endpoint.path_stats(PathId(0)).unwrap();
    assert!(stats.spurious_losses > 20, "{stats:?}");
    assert!(stats.spurious_losses <= stats.lost_packets, "{stats:?}");
}

#[test]
fn a_closed_window_is_a_stall_and_is_counted_once() {
    let small = |config: &mut Config| {
        config.stream_window_bytes = 100_000;
        config.max_receive_window_bytes = 100_000;
        config.receive_window_bytes = 100_000;
    };
    let mut world = World::new(
        Own::client(0, small),
        Own::server(2 * MEGABYTE, |_| {}),
        vec![Link::new(100.0, 10)],
        1,
    );
    world.client.reads = false;
    world.run(ms(2000), |_| false);
    assert_eq!(world.server.endpoint.totals().window_stalls, 1);
    assert_eq!(world.server.endpoint.send_window_bytes(), 0);
    assert_eq!(world.client.endpoint.totals().in_order_bytes, 100_000);
}

#[test]
fn counts_of_a_path_go_on_when_it_comes_back() {
    let mut world = two("minrtt", 20 * MEGABYTE, links(), |_| {});
    world.run(ms(600), |_| false);
    world.client.endpoint.abandon_path(world.now, PathId(1)).unwrap();
    let before = world.server.endpoint.path_stats(PathId(1)).unwrap();
    world.run(ms(1500), |_| false);
    world.client.endpoint.add_path(world.now, PathId(1)).unwrap();
    world.transfer(30);
    let after = world.server.endpoint.path_stats(PathId(1)).unwrap();
    assert!(before.sent_bytes > 100_000, "{before:?}");
    assert!(after.sent_bytes > before.sent_bytes + 100_000, "{before:?} {after:?}");
    let totals = [0, 1].map(|net| world.client.endpoint.path_stats(PathId(net)).unwrap());
    assert_eq!(totals[0].unique_bytes + totals[1].unique_bytes, 20 * MEGABYTE);
}

#[test]
fn a_forecast_waits_for_its_path() {
    let outage = Window { start: ms(1000), end: ms(2000) };
    let mut dark = links();
    dark[1].down = vec![(outage.start, outage.end)];
    let (mut client, mut server) = (Own::client(0, |_| {}), Own::server(60 * MEGABYTE, |_| {}));
    client.endpoint.set_forecast(PathId(1), Forecast::certain([outage]));
    server.endpoint.set_forecast(PathId(1), Forecast::certain([outage]));
    let mut world = World::new(client, server, dark, 1);
    world.run(ms(900), |world| world.client.endpoint.add_path(world.now, PathId(1)).is_ok());
    world.run(ms(1000), |_| false);
    let before = world.server.endpoint.path_stats(PathId(1)).unwrap();
    assert!(before.sent_bytes > MEGABYTE);
    world.run(ms(1999), |_| false);
    let after = world.server.endpoint.path_stats(PathId(1)).unwrap();
    assert_eq!(before.sent_bytes, after.sent_bytes);
    world.transfer(30);
    assert!(!world.server.has(&Event::PathFailed(PathId(1))));
}

#[test]
fn acknowledgements_go_where_the_scheduler_says() {
    let acks = |scheduler: &str| {
        let change = |config: &mut Config| config.ack_path = AckPath::Scheduled;
        let mut world = two(scheduler, 10 * MEGABYTE, links(), change);
        world.transfer(30);
        [0, 1].map(|net| world.client.endpoint.path_stats(PathId(net)).unwrap().acks)
    };
    let fastest = acks("minrtt");
    assert!(fastest[0] > fastest[1] * 10, "{fastest:?}");
    let turns = acks("roundrobin");
    assert!(turns[0] > 500 && turns[0].abs_diff(turns[1]) < turns[0] / 5, "{turns:?}");
}
