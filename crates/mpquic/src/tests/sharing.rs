//! Streams beside each other: whose turn it is, and a reader that stopped beside one that goes on.

use super::world::*;
use crate::*;
use units::{Duration, Instant};

/// One bidirectional stream for each length in `bytes`; the client writes that many bytes, neither
/// end reads yet.
fn streams(
    client: impl FnOnce(&mut Config),
    server: impl FnOnce(&mut Config),
    bytes: &[usize],
) -> (World<Own, Own>, Vec<u64>) {
    let link = Link::new(20.0, 10);
    let mut world = World::new(Own::client(0, client), Own::server(0, server), vec![link], 1);
    (world.client.reads, world.server.reads) = (false, false);
    world.run(Instant::from_millis(200), |_| false);
    let endpoint = &mut world.client.endpoint;
    let open = |bytes: &usize| {
        let id = endpoint.open_stream(true).unwrap();
        endpoint.write(id, &vec![7; *bytes]).unwrap();
        id
    };
    let ids = bytes.iter().map(open).collect();
    (world, ids)
}

/// What came of a stream and is read now.
fn take(world: &mut World<Own, Own>, id: u64) -> usize {
    let mut bytes = 0;
    while let Ok(Read::Data(data)) = world.server.endpoint.read(world.now, id, usize::MAX) {
        bytes += data.len();
    }
    bytes
}

#[test]
fn streams_take_turns_of_the_length_that_is_set() {
    for (turn_bytes, both) in [(10_000, true), (u64::MAX, false)] {
        let change = |config: &mut Config| config.turn_bytes = turn_bytes;
        let (mut world, ids) = streams(change, |_| {}, &[300_000, 300_000]);
        let later = world.now + Duration::from_millis(100); // a part of it has come
        world.run(later, |_| false);
        let (first, second) = (take(&mut world, ids[0]), take(&mut world, ids[1]));
        assert!((1..300_000).contains(&first), "{first}");
        assert_eq!(second > 0, both, "{first} {second}");
        assert!(!both || first.abs_diff(second) <= 10_000 + 1200, "{first} {second}");
    }
}

/// RFC 9218 §10: what is more urgent leaves first, whenever it was written.
#[test]
fn an_urgent_stream_goes_before_the_others() {
    let (mut world, ids) = streams(|_| {}, |_| {}, &[300_000, 300_000, 30_000]);
    let endpoint = &mut world.client.endpoint;
    endpoint.set_priority(ids[0], 200, false).unwrap(); // counts as the lowest
    endpoint.set_priority(ids[2], 0, false).unwrap();
    assert_eq!(endpoint.set_priority(ids[2] + 4, 0, false), Err(Error::NoStream(ids[2] + 4)));
    world.client.endpoint.finish(ids[2]).unwrap();
    let mut came = [0; 3];
    let mut before = None;
    for _ in 0..500 {
        let later = world.now + Duration::from_millis(1);
        world.run(later, |_| false);
        for (sum, id) in came.iter_mut().zip(&ids) {
            *sum += take(&mut world, *id);
        }
        if came[2] == 30_000 && before.is_none() {
            before = Some(came);
        }
    }
    let before = before.expect("all of it");
    // What was on its way when it was written is all that came before.
    assert!(before[0] + before[1] < 40_000, "{before:?}");
    assert_eq!(came, [300_000, 300_000, 30_000]);
}

/// RFC 9218 §4.2: what is of use in pieces does not make the others wait for its end.
#[test]
fn an_incremental_stream_takes_turns() {
    for incremental in [false, true] {
        let (mut world, ids) = streams(|_| {}, |_| {}, &[3_000_000, 30_000]);
        world.client.endpoint.set_priority(ids[0], 3, incremental).unwrap();
        let later = world.now + Duration::from_millis(150);
        world.run(later, |_| false);
        let came = take(&mut world, ids[1]);
        assert_eq!(came, if incremental { 30_000 } else { 0 });
    }
}

#[test]
fn a_stream_that_nobody_reads_holds_up_no_other_one() {
    const WINDOW: u64 = 16 << 10;
    const GROWTH: u64 = 100_000;
    let bounded = |config: &mut Config| {
        config.max_streams = 4;
        config.stream_window_bytes = WINDOW;
        config.stream_growth_bytes = GROWTH;
        config.max_stream_window_bytes = 80_000;
        config.receive_window_bytes = 2 * (4 * WINDOW + GROWTH);
        config.max_receive_window_bytes = config.receive_window_bytes;
    };
    let (mut world, ids) = streams(|_| {}, bounded, &[500_000, 500_000, 2_000_000, 100_000]);
    // Two are read for a while, so that their windows grow; then nobody reads three of the four.
    let mut read = [0; 4];
    let mut until = world.now;
    for round in 0..2000 {
        until += Duration::from_millis(5);
        world.run(until, |_| false);
        for (place, id) in ids.iter().enumerate() {
            if place == 2 || (place < 2 && round < 30) {
                read[place] += take(&mut world, *id);
            }
        }
    }
    assert_eq!(read[2], 2_000_000);
    assert!(read[..2].iter().all(|bytes| (1..400_000).contains(bytes)), "{read:?}");
    let held = world.server.endpoint.held_bytes();
    assert!((3 * WINDOW..4 * WINDOW + GROWTH + 4096).contains(&held), "{held}");
    // What a stream leaves, others may take.
    assert_eq!(world.client.endpoint.room(ids[0]), Ok(0));
}
