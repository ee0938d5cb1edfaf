//! Bulk transfers whose ends report each other's paths.

use super::ends::local;
use crate::*;
use application::{Bulk, Cell, Paced, Requests, Ways, Workload};
use mpquic::{QuicConfig, StudyConnection};
use std::net::SocketAddr;
use units::Direction;

fn bulk(direction: Direction, bytes: Option<u64>) -> Workload {
    Bulk { direction, bytes, duration_s: None }.into()
}

fn behaviour() -> Behaviour {
    let connection = StudyConnection {
        congestion: congestion::Algorithm::Cubic.into(),
        quic: QuicConfig::default(),
        send_buffer_bytes: 16 << 20,
        receive_buffer_bytes: 16 << 20,
        autotune: false,
        paths: 2,
    };
    Behaviour { connection, scheduler: scheduler::Algorithm::MinRtt.into() }
}

fn plan(workload: Workload, end_ns: u64) -> Carry {
    Carry {
        behaviour: behaviour(),
        workload,
        epoch_ns: 0,
        end_ns,
        interval_ns: 20_000_000,
        forecasts: Vec::new(),
        server: None,
        pin: None,
        paths: Vec::new(),
    }
}

fn both(workload: Workload, seconds: f64) -> (TransferReport, TransferReport) {
    let mut server = TransferServer::bind(SocketAddr::new(local(1), 0), &behaviour()).unwrap();
    let end_ns = monotonic_ns() + (seconds * 1e9) as u64;
    let mut client = plan(workload.clone(), end_ns);
    client.server = Some(SocketAddr::new(local(1), server.port()));
    client.pin = Some(server.pin().to_owned());
    client.paths = vec!["127.0.0.2".into(), "127.0.0.3".into()];
    let far = std::thread::spawn(move || server.carry(&plan(workload, end_ns)).unwrap());
    let near = carry(&client).unwrap();
    (near, far.join().unwrap())
}

#[test]
fn a_transfer_of_a_size_ends_when_both_know_it() {
    const BYTES: u64 = 30_000_000;
    for down in [true, false] {
        let direction = if down { Direction::Down } else { Direction::Up };
        let (near, far) = both(bulk(direction, Some(BYTES)), 60.0);
        let (sender, receiver) = if down { (&far, &near) } else { (&near, &far) };
        for (end, who) in [(sender, "sender"), (receiver, "receiver")] {
            assert_eq!((end.bytes, &end.error), (BYTES, &None), "{who}, down {down}");
            assert!(end.completed_ns.is_some(), "{who}, down {down}");
            assert_eq!(end.rows.last().unwrap().bytes, BYTES, "{who}, down {down}");
        }
        let last = receiver.rows.last().unwrap();
        let unique: u64 = last.subflows.iter().map(|path| path.received_bytes).sum();
        assert_eq!(unique, BYTES);
        let last = sender.rows.last().unwrap();
        assert_eq!(last.subflows.len(), 2, "{last:?}");
        assert!(last.subflows.iter().all(|path| path.acked_bytes > 0), "{last:?}");
        let up = sender.events.iter().filter(|one| one.event == "established");
        let clients: Vec<&str> = up.map(|one| one.client.as_str()).collect();
        assert_eq!(clients, ["127.0.0.2", "127.0.0.3"]);
    }
}

#[test]
fn a_transfer_of_a_duration_ends_with_it() {
    let (near, far) = both(bulk(Direction::Down, None), 0.5);
    assert_eq!((near.completed_ns, far.completed_ns), (None, None));
    assert_eq!((&near.error, &far.error), (&None, &None));
    assert!(near.bytes > 0 && far.bytes >= near.bytes);
    assert!(near.rows.windows(2).all(|pair| pair[0].tick < pair[1].tick));
}

#[test]
fn a_server_that_never_answers_is_an_error_in_the_report() {
    let nobody = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let mut client = plan(bulk(Direction::Down, None), monotonic_ns() + 300_000_000);
    client.server = nobody.local_addr().ok();
    client.pin = Some("00".repeat(32));
    client.paths = vec!["127.0.0.1".into()];
    let report = carry(&client).unwrap();
    assert!(report.error.unwrap().contains("no connection"));
}

#[test]
fn requests_are_served_and_both_ends_know_when_the_last_one_is_complete() {
    let wanted = Requests {
        direction: Direction::Down,
        object_bytes: vec![1000, 300_000],
        count: Some(10),
        think_s: 0.0,
        parallel: 2,
        duration_s: None,
    };
    let (near, far) = both(wanted.into(), 60.0);
    assert_eq!((&near.error, &far.error), (&None, &None));
    assert!(near.completed_ns.is_some() && far.completed_ns.is_some());
    assert_eq!(near.application.len(), 10);
    assert!(near.application.iter().flatten().all(|cell| *cell != Cell::Nothing));
    assert_eq!(near.bytes, 5 * 301_000 + 10 * 8);
}

#[test]
fn a_call_ends_with_its_time_and_its_pieces_came_both_ways() {
    let call = Paced {
        direction: Ways::Both,
        rate_mbps: 1.0,
        piece_bytes: 1000,
        deadline_ms: 100.0,
        duration_s: 0.6,
        on_s: None,
        off_s: None,
        reliable: false,
    };
    let (near, far) = both(call.into(), 0.6);
    assert_eq!((&near.error, &far.error), (&None, &None));
    for (end, way) in [(&near, "down"), (&far, "up")] {
        assert!(!end.application.is_empty(), "{way}");
        assert!(end.application.iter().all(|row| row[0] == Cell::Word(way)), "{way}");
    }
}
