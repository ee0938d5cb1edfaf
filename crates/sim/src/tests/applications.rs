//! Applications other than bulk, over every transport.

use super::world::*;
use crate::{ConnectionConfig, Outcome, Transport};
use application::{Adaptive, Cell, Ease, Paced, Requests, Video, Ways, Workload};
use congestion::Algorithm as Congestion;
use forecast::ForecastWindow;
use link::{Direction, PathConfig, PathForecast};
use mptcp::Mode;
use scheduler::Algorithm as Scheduling;

const ALL: [Transport; 3] = [Transport::Tcp, Transport::Mptcp, Transport::Mpquic];

fn over(transport: Transport, workload: impl Into<Workload>) -> ConnectionConfig {
    let workload = workload.into();
    match transport {
        Transport::Tcp => connection(Mode::Tcp, Congestion::Cubic, workload),
        Transport::Mptcp => connection(Mode::Upstream, Congestion::Cubic, workload),
        Transport::Mpquic => quic(Scheduling::MinRtt, Congestion::Cubic, workload),
    }
}

fn requests(object_bytes: &[u64], think_s: f64) -> Requests {
    Requests {
        direction: Direction::Down,
        object_bytes: object_bytes.to_vec(),
        count: None,
        think_s,
        parallel: 1,
        urgency: 3,
        background: false,
        duration_s: None,
    }
}

fn paced(direction: Ways, rate_mbps: f64) -> Paced {
    Paced {
        direction,
        rate_mbps,
        piece_bytes: 1000,
        deadline_ms: 100.0,
        duration_s: 5.0,
        on_s: None,
        off_s: None,
        reliable: false,
        ease: None,
    }
}

fn two_paths() -> Vec<PathConfig> {
    vec![path("sat", 50.0, 60.0), path("terr", 20.0, 40.0)]
}

/// A column of the only connection's table.
fn cells(outcome: &Outcome, kind: &str, column: &str) -> Vec<Cell> {
    let table = &outcome.applications[kind];
    let place = table.columns.iter().position(|one| one.name == column).expect("a column");
    table.rows.iter().map(|(_, row)| row[place]).collect()
}

fn numbers(outcome: &Outcome, kind: &str, column: &str) -> Vec<f64> {
    let number = |cell| match cell {
        Cell::Number(value) => value,
        other => panic!("{column} is {other:?}"),
    };
    cells(outcome, kind, column).into_iter().map(number).collect()
}

/// Objects of 20 kB beside a download without end: the median of their times, ms.
fn beside_a_download(urgency: u8, scheduler: Scheduling) -> f64 {
    let wanted =
        Requests { count: Some(20), urgency, background: true, ..requests(&[20_000], 0.2) };
    let mut one = over(Transport::Mpquic, wanted);
    one.scheduler = scheduler.into();
    let outcome = run(two_paths(), vec![one]);
    let mut took = numbers(&outcome, "requests", "completion_ms");
    assert_eq!(took.len(), 20);
    assert!(outcome.totals.connections[0].delivered_bytes > 5_000_000, "the download goes on");
    took.sort_by(f64::total_cmp);
    took[10]
}

#[test]
fn urgent_objects_pass_a_download_and_its_queues_are_shorter() {
    let of = |scheduler| [3, 0].map(|urgency| beside_a_download(urgency, scheduler));
    let (minrtt, weave) = (of(Scheduling::MinRtt), of(Scheduling::Weave));
    assert!(minrtt[1] < minrtt[0] && weave[1] < weave[0], "{minrtt:?} {weave:?}");
    assert!(weave[1] < minrtt[1], "{minrtt:?} {weave:?}");
}

#[test]
fn a_transport_with_one_stream_has_no_download_beside() {
    let wanted = Requests { background: true, ..requests(&[500], 0.0) };
    let outcome = run(vec![path("only", 50.0, 60.0)], vec![over(Transport::Tcp, wanted)]);
    assert_eq!(outcome.totals.connections[0].delivered_bytes, 500 + 8);
}

#[test]
fn small_objects_take_a_round_trip_each_on_every_transport() {
    for transport in ALL {
        let wanted = requests(&[500, 900, 1000], 0.3);
        let outcome = run(vec![path("only", 50.0, 60.0)], vec![over(transport, wanted)]);
        let took = numbers(&outcome, "requests", "completion_ms");
        assert_eq!(took.len(), 3);
        assert!(took.iter().all(|ms| (60.0..63.0).contains(ms)), "{transport:?}: {took:?}");
        let totals = &outcome.totals.connections[0];
        assert_eq!(totals.delivered_bytes, 500 + 900 + 1000 + 3 * 8);
        let end = totals.completion_s.expect("complete");
        // Handshake (TCP one round trip, QUIC one), three round trips, two times to think.
        assert!((4.0 * 0.06 + 0.6..4.0 * 0.06 + 0.62).contains(&end), "{transport:?}: {end}");
    }
}

#[test]
fn objects_of_megabytes_use_both_paths() {
    for transport in [Transport::Mptcp, Transport::Mpquic] {
        let wanted = requests(&[5_000_000; 4], 0.0);
        let outcome = run(two_paths(), vec![over(transport, wanted)]);
        let paths = &outcome.totals.connections[0].paths;
        assert!(paths.values().all(|path| path.unique_bytes > 3_000_000), "{paths:?}");
        let took = numbers(&outcome, "requests", "completion_ms");
        // 40 Mbit over 70 Mbit/s at best.
        assert!(took.iter().all(|ms| (571.0..1500.0).contains(ms)), "{transport:?}: {took:?}");
    }
}

#[test]
fn parallel_objects_share_the_connection() {
    for transport in ALL {
        let one_by_one = requests(&[200_000; 6], 0.0);
        let together = Requests { parallel: 3, ..one_by_one.clone() };
        let end = |wanted| {
            let outcome = run(vec![path("only", 50.0, 60.0)], vec![over(transport, wanted)]);
            outcome.totals.connections[0].completion_s.expect("complete")
        };
        assert!(end(together) < 0.8 * end(one_by_one), "{transport:?}");
    }
}

#[test]
fn pieces_of_a_call_arrive_after_half_a_round_trip() {
    for transport in ALL {
        for ways in [Ways::Up, Ways::Down, Ways::Both] {
            let call = paced(ways, 2.0);
            let outcome = run(vec![path("only", 50.0, 60.0)], vec![over(transport, call)]);
            let delays = numbers(&outcome, "paced", "delay_ms");
            let directions = if ways == Ways::Both { 2 } else { 1 };
            // 250 pieces a second for 5 s, less handshake and deadline.
            let count = delays.len() / directions;
            assert!((1180..1250).contains(&count), "{transport:?} {ways:?}: {count}");
            // What waits for the first window, which grows round trip by round trip, comes later.
            let sent = numbers(&outcome, "paced", "sent_s");
            let mut steady = delays.iter().zip(&sent).filter(|(_, sent_s)| **sent_s > 1.0);
            assert!(steady.all(|(ms, _)| (30.0..31.0).contains(ms)), "{transport:?} {ways:?}");
            let lost = cells(&outcome, "paced", "lost");
            assert!(lost.iter().all(|cell| *cell == Cell::Flag(false)));
        }
    }
}

/// Pieces are half as large from 0.5 s before a foreseen outage until 0.25 s after it, where every path has
/// one, over every transport; an outage that is hardly likely changes nothing.
#[test]
fn pieces_are_smaller_about_foreseen_outages() {
    let ease = Ease { share: 0.5, ahead_s: 0.5, after_s: 0.25 };
    let call = Paced { ease: Some(ease), ..paced(Ways::Up, 2.0) };
    let foreseen = |name: &str, probability| {
        let window = ForecastWindow { start_s: 2.0, end_s: 2.25, probability };
        let mut known = path(name, 50.0, 60.0);
        known.forecast = PathForecast::Outages(vec![window]);
        known
    };
    for transport in ALL {
        let small = |paths: Vec<PathConfig>| {
            let outcome = run(paths, vec![over(transport, call.clone())]);
            let sent = numbers(&outcome, "paced", "sent_s");
            let sizes = cells(&outcome, "paced", "bytes");
            assert!(sizes.iter().all(|one| [Cell::Count(500), Cell::Count(1000)].contains(one)));
            let both = sizes.into_iter().zip(sent);
            let small: Vec<f64> =
                both.filter(|(size, _)| *size == Cell::Count(500)).map(|(_, at)| at).collect();
            assert!(small.iter().all(|at| (1.5..2.5).contains(at)), "{transport:?}: {small:?}");
            small.len()
        };
        // 250 pieces a second.
        assert_eq!(small(vec![foreseen("only", 0.9)]), 250, "{transport:?}");
        assert_eq!(small(vec![foreseen("only", 0.4)]), 0, "{transport:?}");
        if transport != Transport::Tcp {
            let other = path("other", 20.0, 40.0);
            assert_eq!(small(vec![foreseen("one", 0.9), other]), 0, "{transport:?}");
            assert_eq!(small(vec![foreseen("one", 0.9), foreseen("two", 0.9)]), 250);
        }
    }
}

/// TCP retransmits what is lost, and delivers what came after it late; DATAGRAMs are lost.
#[test]
fn a_lossy_path_makes_pieces_late_on_a_stream_and_loses_them_as_datagrams() {
    let shares = |transport| {
        let call = Paced { deadline_ms: 50.0, ..paced(Ways::Down, 1.0) };
        let lossy = with_loss(path("only", 50.0, 60.0), 0.01);
        let outcome = run(vec![lossy], vec![over(transport, call)]);
        let share = |column| {
            let cells = cells(&outcome, "paced", column);
            let hits = cells.iter().filter(|cell| **cell == Cell::Flag(true)).count();
            hits as f64 / cells.len() as f64
        };
        (share("late"), share("lost"))
    };
    let (stream_late, unfinished) = shares(Transport::Tcp);
    assert!(stream_late > 0.02 && unfinished < 0.01, "{stream_late} {unfinished}");
    let (late, lost) = shares(Transport::Mpquic);
    assert!(late < stream_late && (0.001..0.03).contains(&lost), "{late} {lost}");
}

fn words(outcome: &Outcome, kind: &str) -> Vec<&'static str> {
    let word = |cell| match cell {
        Cell::Word(word) => word,
        other => panic!("an event is {other:?}"),
    };
    let all = cells(outcome, kind, "event").into_iter().map(word);
    all.filter(|word| *word != "sample").collect()
}

/// The film of VIDEO-LEO takes 5.24 Mbit/s: it plays over 6 Mbit/s and stutters over 5.
#[test]
fn a_film_plays_where_the_paths_together_carry_it() {
    for transport in [Transport::Mptcp, Transport::Mpquic] {
        let play = |mbps, duration_s| {
            let paths = vec![path("wire", mbps, 60.0), path("lte", mbps, 50.0)];
            let film = Video { duration_s: Some(duration_s), ..Video::default() };
            run(paths, vec![over(transport, film)])
        };
        let enough = play(3.2, 180.0);
        assert_eq!(words(&enough, "video"), ["playing", "ended"], "{transport:?}");
        let short = play(2.5, 60.0);
        assert!(words(&short, "video").contains(&"underflow"), "{transport:?}");
        let discarded = cells(&short, "video", "discarded");
        assert!(matches!(discarded.last(), Some(Cell::Count(20..))), "{transport:?}");
    }
}

#[test]
fn chunks_come_in_the_quality_that_the_paths_carry() {
    let json = r#"{"abr": "robust-mpc", "ladder_mbps": [0.5, 1, 2, 4, 8], "film_s": 60}"#;
    let film: Adaptive = serde_json::from_str(json).expect("a film");
    for transport in ALL {
        let outcome = run(vec![path("only", 5.0, 60.0)], vec![over(transport, film.clone())]);
        let bitrate = cells(&outcome, "adaptive", "bitrate_mbps");
        let asked = bitrate.iter().filter(|cell| **cell != Cell::Nothing).count();
        let fitting = bitrate.iter().filter(|cell| **cell == Cell::Number(4.0)).count();
        assert!(2 * fitting > asked, "{transport:?}: {fitting} of {asked}");
        let words = words(&outcome, "adaptive");
        assert!(!words.contains(&"underflow"), "{transport:?}: {words:?}");
        assert_eq!(words.last(), Some(&"ended"), "{transport:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_rows() {
    for transport in ALL {
        let rows = || {
            let paths = vec![with_loss(path("a", 20.0, 50.0), 0.01), path("b", 7.0, 130.0)];
            let workload = requests(&[3_000, 200_000, 40_000], 0.05);
            let outcome = run(paths, vec![over(transport, workload)]);
            format!("{:?}", outcome.applications)
        };
        assert_eq!(rows(), rows());
    }
}
