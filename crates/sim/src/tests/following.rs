//! Connections that wait for others, as those of a player do.

use super::world::*;
use crate::{After, ConnectionConfig, SimError, Transport, simulate};
use application::{Requests, Video};
use congestion::Algorithm as Congestion;
use link::{Direction, UpWindow};
use mptcp::Mode;

/// What VLC reads of the built-in film before it opens the connection that it plays over.
const INDEX_BYTES: u64 = 189_548;

fn fetch(object_bytes: u64) -> Requests {
    Requests {
        direction: Direction::Down,
        object_bytes: vec![object_bytes],
        count: None,
        think_s: 0.0,
        parallel: 1,
        urgency: 3,
        background: false,
        duration_s: None,
    }
}

fn over(mode: Mode, workload: impl Into<application::Workload>) -> ConnectionConfig {
    connection(mode, Congestion::Cubic, workload)
}

/// The film, its index, and a question past its end, as VLC opens them.
fn player(mode: Mode, film: Video) -> Vec<ConnectionConfig> {
    let bytes = INDEX_BYTES + 8;
    vec![
        ConnectionConfig {
            after: Some(After { connection: 2, bytes: 200 }),
            ..over(mode, Video { index_bytes: INDEX_BYTES, ..film })
        },
        ConnectionConfig { until: Some(0), ..over(mode, fetch(117_000_000)) },
        ConnectionConfig { after: Some(After { connection: 1, bytes }), ..over(mode, fetch(200)) },
    ]
}

#[test]
fn a_player_plays_over_the_third_of_its_connections() {
    let film = Video { duration_s: Some(60.0), ..Video::default() };
    for mode in [Mode::Tcp, Mode::Upstream] {
        let paths = vec![path("wire", 3.2, 60.0), path("lte", 3.2, 50.0)];
        let outcome = run(paths, player(mode, film.clone()));
        let [main, index, question] = &outcome.totals.connections[..] else { panic!("three") };
        assert!(index.start_s == 0.0 && index.delivered_bytes >= INDEX_BYTES, "{mode:?}");
        // The index takes a handshake, a request and 1.5 Mbit; the question two round trips.
        assert!((0.3..2.0).contains(&question.start_s), "{mode:?}: {}", question.start_s);
        let waited_s = main.start_s - question.start_s;
        assert!((0.1..0.6).contains(&waited_s), "{mode:?}: {waited_s}");
        assert!(index.completion_s.is_none() && question.completion_s.is_some());
        // The server went on sending until the film's connection opened.
        assert!(index.delivered_bytes > INDEX_BYTES + 20_000, "{mode:?}");
        assert!(index.delivered_bytes < 2_000_000, "{mode:?}: {}", index.delivered_bytes);
        assert!(main.delivered_bytes > 10_000_000, "{mode:?}: {}", main.delivered_bytes);
    }
}

#[test]
fn a_connection_that_follows_joins_over_the_interfaces_of_that_moment() {
    let mut late = path("late", 10.0, 40.0);
    late.present = vec![UpWindow { start_s: 3.0, end_s: None }];
    let mut gone = path("gone", 10.0, 40.0);
    gone.present = vec![UpWindow { start_s: 0.0, end_s: Some(0.5) }];
    let paths = vec![path("first", 10.0, 40.0), late, gone];
    let second = ConnectionConfig {
        after: Some(After { connection: 0, bytes: 1_000_000 }),
        ..over(Mode::Upstream, seconds(10.0))
    };
    let outcome = run(paths, vec![over(Mode::Upstream, seconds(12.0)), second]);
    let second = &outcome.totals.connections[1];
    assert!((0.5..2.0).contains(&second.start_s), "{}", second.start_s);
    assert_eq!(second.paths["gone"].sent_packets, 0);
    assert!(second.paths["first"].sent_packets > 100 && second.paths["late"].sent_packets > 100);
}

#[test]
fn what_never_comes_is_not_waited_for_beyond_the_run() {
    let paths = vec![path("only", 10.0, 40.0)];
    let mut config = config(paths, player(Mode::Tcp, Video::default()));
    config.connections[2].after = Some(After { connection: 1, bytes: u64::MAX });
    config.stop_after_s = 5.0;
    let outcome = simulate(&config).expect("a run");
    assert_eq!(outcome.totals.connections[0].delivered_bytes, 0);
    assert!(outcome.totals.simulated_s <= 5.0);
}

#[test]
fn a_connection_follows_another_one_of_the_run() {
    for (after, until) in [(Some(0), None), (Some(9), None), (None, Some(0)), (None, Some(9))] {
        let own = ConnectionConfig {
            after: after.map(|connection| After { connection, bytes: 1 }),
            until,
            transport: Transport::Tcp,
            ..over(Mode::Tcp, seconds(1.0))
        };
        let refused = simulate(&config(vec![path("only", 10.0, 40.0)], vec![own]));
        assert!(matches!(refused, Err(SimError::Follows { connection: 0, .. })), "{refused:?}");
    }
}
