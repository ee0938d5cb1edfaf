//! Hostile networks, hostile peers, and bounds.

use super::world::*;
use crate::*;
use proptest::prelude::*;
use units::{Duration, Instant, PathId};

/// When frames of streams come, and on which path.
const CAME: (Instant, PathId, Duration) = (Instant::ZERO, PathId(0), Duration::from_millis(50));

fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

proptest! {
    #![proptest_config(cases::at_least(400))]

    /// Whatever the network does, every byte arrives once and in order, or not at all.
    #[test]
    fn an_adversarial_network_cannot_change_what_arrives(
        seed in any::<u64>(),
        (loss, reorder, duplicate) in (0_u32..80, 0_u32..100, 0_u32..100),
        (corrupt, truncate, replay) in (0_u32..50, 0_u32..50, 0_u32..100),
        moves in proptest::collection::vec((10_u64..400, any::<bool>(), 0_u8..2), 0..8),
    ) {
        let link = |mbps, delay| Link { loss, reorder, duplicate, corrupt, truncate, ..Link::new(mbps, delay) };
        let (client, server) = (Own::client(300_000, |_| {}), Own::server(300_000, |_| {}));
        let mut world = World::new(client, server, vec![link(20.0, 10), link(10.0, 30)], seed);
        world.replay = replay;
        for (wait, adds, net) in moves {
            let until = world.now + Duration::from_millis(wait);
            world.run(until, |_| false);
            let endpoint = &mut world.client.endpoint;
            let _ = if adds { endpoint.add_path(until, PathId(net)) } else { endpoint.abandon_path(until, PathId(net)) };
            let _ = endpoint.update_keys(until);
        }
        let until = world.now + Duration::from_secs(120);
        let done = world.run(until, |world| {
            (world.client.bulk.ended && world.server.bulk.ended)
                || (world.client.closed().is_some() && world.server.closed().is_some())
        });
        // A handshake may die of a forged close or of its idle timer; established data may not.
        prop_assert!(done, "stuck: {:?} {:?}", world.client.events, world.server.events);
        for host in [&world.client, &world.server] {
            prop_assert!(host.endpoint.held_bytes() < 4_000_000);
            prop_assert!(!matches!(host.closed(), Some(Closed::Error(_))), "{:?}", host.closed());
        }
        prop_assert!(world.client.bulk.ended && world.server.bulk.ended, "{:?} {:?}", world.client.closed(), world.server.closed());
    }

    /// Datagrams of a stranger change nothing and cost nothing.
    #[test]
    fn strangers_cannot_disturb_a_connection(junk in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..100), 1..40), seed in any::<u64>()) {
        let mut world = World::new(Own::client(100_000, |_| {}), Own::server(0, |_| {}), vec![Link::new(50.0, 5)], seed);
        world.run(ms(30), |_| false);
        let (_, valid) = {
            let stream = world.client.endpoint.open_stream(false).unwrap();
            world.client.endpoint.write(stream, b"").unwrap();
            world.client.endpoint.finish(stream).unwrap();
            world.client.endpoint.poll_transmit(world.now).unwrap_or((PathId(0), vec![0x40; 40]))
        };
        for mut bytes in junk {
            // With and without a connection ID that exists.
            bytes.extend(vec![0; 30]);
            world.server.endpoint.handle(world.now, PathId(0), bytes.clone(), None);
            let head = valid.len().min(9);
            bytes[..head].copy_from_slice(&valid[..head]);
            world.server.endpoint.handle(world.now, PathId(0), bytes, None);
        }
        prop_assert!(world.server.endpoint.is_connected());
        prop_assert!(world.server.endpoint.held_bytes() < 200_000);
    }
}

/// RFC 9000 §8.1: a server sends at most three times what came before the address is proven.
#[test]
fn a_server_never_amplifies() {
    for seed in 0..20 {
        let mut client = Own::client(0, |_| {});
        let mut server = Own::new(super::tls::server_role(), 0, "minrtt", |_| {});
        let mut now = Instant::ZERO;
        let (mut came, mut left) = (0, 0);
        // The client's first datagrams come again and again (a spoofed address never answers).
        let mut datagrams = Vec::new();
        while let Some((_, datagram)) = client.endpoint.poll_transmit(now) {
            datagrams.push(datagram);
        }
        for _ in 0..30 {
            if seed % 3 == 0 || came == 0 {
                for datagram in &datagrams {
                    came += datagram.len();
                    server.endpoint.handle(now, PathId(0), datagram.clone(), None);
                }
            }
            while let Some((_, datagram)) = server.endpoint.poll_transmit(now) {
                left += datagram.len();
                assert!(left <= 3 * came, "{left} bytes for {came}");
            }
            let Some(at) = server.endpoint.poll_timeout() else { break };
            now = now.max(at);
            server.endpoint.on_timeout(now);
        }
        assert!(left > 0);
    }
}

/// A new path of the server's is bound by the same limit until the client answers there.
#[test]
fn a_path_that_was_not_validated_is_not_flooded() {
    let mut links = vec![Link::new(50.0, 10), Link::new(50.0, 10)];
    let (client, server) = (Own::client(0, |_| {}), Own::server(5_000_000, |_| {}));
    links[1].loss = 0;
    let mut world = World::new(client, server, links, 1);
    world.links[1][1].loss = 1000; // nothing comes back on the second path
    world.run(ms(100), |world| world.client.endpoint.add_path(world.now, PathId(1)).is_ok());
    world.run(ms(3000), |_| false);
    let up = world.links[0][1].carried;
    let down = world.server.endpoint.path_stats(PathId(1)).map_or(0, |stats| stats.sent_bytes);
    assert!(up > 0 && down <= 3 * up, "{down} bytes for {up}");
}

#[test]
fn a_slow_reader_bounds_what_is_held() {
    let small = |config: &mut Config| {
        config.stream_window_bytes = 200_000;
        config.receive_window_bytes = 300_000;
        config.max_receive_window_bytes = 300_000;
    };
    let mut world = World::new(
        Own::client(0, small),
        Own::server(5_000_000, small),
        vec![Link::new(100.0, 10)],
        1,
    );
    world.client.reads = false;
    world.run(ms(2000), |_| false);
    let held = world.client.endpoint.held_bytes();
    assert!((150_000..400_000).contains(&held), "{held}");
}

#[test]
fn the_window_grows_with_what_is_read_up_to_its_limit() {
    let small = |config: &mut Config| {
        config.stream_window_bytes = 50_000;
        config.receive_window_bytes = 50_000;
    };
    let mut world = World::new(
        Own::client(0, small),
        Own::server(30_000_000, small),
        vec![Link::new(100.0, 50)],
        1,
    );
    let seconds = world.transfer(60).as_secs_f64();
    assert!(seconds < 6.0, "{seconds} s: a fixed window of 50 kB would take 60");
}

#[test]
fn state_of_sent_packets_does_not_grow_with_the_transfer() {
    let mut world = World::new(
        Own::client(0, |_| {}),
        Own::server(40_000_000, |_| {}),
        vec![Link::new(100.0, 10)],
        1,
    );
    let mut most = (0, 0);
    let until = ms(20_000);
    world.run(until, |world| {
        most.0 = most.0.max(world.client.endpoint.tracked_packets());
        most.1 = most.1.max(world.server.endpoint.tracked_packets());
        world.client.bulk.ended
    });
    assert!(most.0 < 1000 && most.1 < 3000, "{most:?}");
}

#[test]
fn a_peer_that_breaks_flow_control_or_limits_is_stopped() {
    use crate::error::TransportError;
    use crate::streams::Streams;
    use crate::wire::Frame;
    let config = Config {
        max_streams: 4,
        stream_window_bytes: 1000,
        receive_window_bytes: 1500,
        max_receive_window_bytes: 1500,
        ..Config::new(super::tls::server_role())
    };
    let fresh = || Streams::new(false, &config);
    let code = |result: Result<u64, TransportError>| result.unwrap_err().code;
    let mut events = std::collections::VecDeque::new();
    assert_eq!(
        code(fresh().on_data(CAME, (0, 900, false), &[0; 101], &mut events)),
        Code::FlowControl
    );
    assert_eq!(code(fresh().on_data(CAME, (16, 0, false), &[0], &mut events)), Code::StreamLimit);
    assert_eq!(code(fresh().on_data(CAME, (1, 0, false), &[0], &mut events)), Code::StreamState);
    assert_eq!(code(fresh().on_data(CAME, (3, 0, false), &[0], &mut events)), Code::StreamState);
    let mut streams = fresh();
    streams.on_data(CAME, (0, 0, false), &[0; 1000], &mut events).unwrap();
    assert_eq!(
        code(streams.on_data(CAME, (4, 0, false), &[0; 501], &mut events)),
        Code::FlowControl
    );
    let mut streams = fresh();
    streams.on_data(CAME, (0, 0, true), &[0; 10], &mut events).unwrap();
    assert_eq!(code(streams.on_data(CAME, (0, 5, false), &[0; 6], &mut events)), Code::FinalSize);
    let reset = Frame::ResetStream { id: 0, error_code: 0, final_size: 9 };
    assert_eq!(streams.on_frame(&reset, &mut events).unwrap_err().code, Code::FinalSize);
}

#[test]
fn gaps_without_end_are_bounded_by_what_they_cost() {
    let config = Config {
        stream_window_bytes: 8 << 20,
        receive_window_bytes: 8 << 20,
        max_receive_window_bytes: 8 << 20,
        ..Config::new(super::tls::server_role())
    };
    let mut streams = crate::streams::Streams::new(false, &config);
    let mut events = std::collections::VecDeque::new();
    let mut taken = 0;
    let error = loop {
        match streams.on_data(CAME, (0, taken * 2, false), &[1], &mut events) {
            Ok(_) => taken += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(error.code, Code::InternalError);
    assert!(
        taken > 20_000 && streams.held_bytes() < 5 << 20,
        "{taken} gaps, {} bytes",
        streams.held_bytes()
    );
}

proptest! {
    #[test]
    fn the_assembler_gives_every_byte_once(pieces in proptest::collection::vec((0_u64..500, 1_usize..80), 1..60), max in 1_usize..50) {
        let mut assembler = crate::streams::Assembler::default();
        let mut seen = vec![false; 700];
        let mut out = Vec::new();
        for (offset, len) in pieces {
            assembler.insert(offset, &pattern(offset, len)[..len]);
            seen[offset as usize..offset as usize + len].fill(true);
            while let Some(data) = assembler.read(max) {
                out.extend(data);
            }
        }
        let contiguous = seen.iter().take_while(|seen| **seen).count();
        prop_assert_eq!(&out[..], &pattern(0, contiguous)[..contiguous]);
        prop_assert_eq!(assembler.held_bytes(), seen.iter().filter(|seen| **seen).count() - contiguous);
    }
}
