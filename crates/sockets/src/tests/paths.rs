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

fn way(down: bool) -> Direction {
    if down { Direction::Down } else { Direction::Up }
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
        backups: Vec::new(),
    }
}

fn both(
    workload: Workload,
    (seconds, backups): (f64, &[&str]),
) -> (TransferReport, TransferReport) {
    let mut server = TransferServer::bind(SocketAddr::new(local(1), 0), &behaviour()).unwrap();
    let end_ns = monotonic_ns() + (seconds * 1e9) as u64;
    let mut client = plan(workload.clone(), end_ns);
    client.server = Some(SocketAddr::new(local(1), server.port()));
    client.pin = Some(server.pin().to_owned());
    client.paths = vec!["127.0.0.2".into(), "127.0.0.3".into()];
    client.backups = backups.iter().map(|name| name.to_string()).collect();
    let far = std::thread::spawn(move || server.carry(&plan(workload, end_ns)).unwrap());
    let near = carry(&client).unwrap();
    (near, far.join().unwrap())
}

#[test]
fn a_transfer_of_a_size_ends_when_both_know_it() {
    const BYTES: u64 = 30_000_000;
    for down in [true, false] {
        let (near, far) = both(bulk(way(down), Some(BYTES)), (60.0, &[]));
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

/// The client's status reaches the server before its first data on the path, either way.
#[test]
fn a_backup_path_stays_without_data_while_the_other_one_works() {
    for down in [true, false] {
        for backup in ["127.0.0.2", "127.0.0.3"] {
            let (near, far) = both(bulk(way(down), Some(5_000_000)), (60.0, &[backup]));
            let (sender, receiver) = if down { (&far, &near) } else { (&near, &far) };
            assert_eq!(receiver.bytes, 5_000_000);
            let last = sender.rows.last().unwrap();
            let row = last.subflows.iter().find(|one| client_of(one, down) == backup);
            // The path that the connection begins on carries data until the other one is there.
            if backup == "127.0.0.3" {
                let acked = row.map_or(0, |row| row.acked_bytes);
                assert!(acked < 10_000, "down {down}: {last:?}");
            }
            let active = last.subflows.iter().find(|one| client_of(one, down) != backup).unwrap();
            assert!(active.acked_bytes > 2_500_000, "down {down}, backup {backup}: {last:?}");
        }
    }
}

fn client_of(row: &PathRow, down: bool) -> &str {
    if down { &row.remote.0 } else { &row.local.0 }
}

#[test]
fn a_backup_that_is_no_path_is_refused() {
    let mut client = plan(bulk(Direction::Down, None), monotonic_ns());
    client.server = Some(SocketAddr::new(local(1), 9));
    client.pin = Some("00".repeat(32));
    (client.paths, client.backups) = (vec!["127.0.0.2".into()], vec!["lte0".into()]);
    let said = carry(&client).unwrap_err().to_string();
    assert!(said.contains("lte0 is none of the client's paths"), "{said}");
}

#[test]
fn a_transfer_of_a_duration_ends_with_it() {
    let (near, far) = both(bulk(Direction::Down, None), (0.5, &[]));
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
        urgency: 3,
        background: false,
        duration_s: None,
    };
    let (near, far) = both(wanted.into(), (60.0, &[]));
    assert_eq!((&near.error, &far.error), (&None, &None));
    assert!(near.completed_ns.is_some() && far.completed_ns.is_some());
    assert_eq!(near.application.len(), 10);
    assert!(near.application.iter().flatten().all(|cell| *cell != Cell::Nothing));
    assert_eq!(near.bytes, 5 * 301_000 + 10 * 8);
}

fn call() -> Paced {
    Paced {
        direction: Ways::Both,
        rate_mbps: 1.0,
        piece_bytes: 1000,
        deadline_ms: 100.0,
        duration_s: 0.6,
        on_s: None,
        off_s: None,
        reliable: false,
        ease: None,
    }
}

#[test]
fn a_call_ends_with_its_time_and_its_pieces_came_both_ways() {
    let (near, far) = both(call().into(), (0.6, &[]));
    assert_eq!((&near.error, &far.error), (&None, &None));
    for (end, way) in [(&near, "down"), (&far, "up")] {
        assert!(!end.application.is_empty(), "{way}");
        assert!(end.application.iter().all(|row| row[0] == Cell::Word(way)), "{way}");
    }
}

/// The sender learns during the run that one path will be dark, and later that it is not. Round-robin
/// uses every path that may carry data, whatever their round trips; a bulk transfer by RTT need not.
#[test]
fn forecasts_arrive_and_are_corrected_during_a_run() {
    let behaviour = Behaviour { scheduler: scheduler::Algorithm::RoundRobin.into(), ..behaviour() };
    let mut server = TransferServer::bind(SocketAddr::new(local(1), 0), &behaviour).unwrap();
    let call = Paced { direction: Ways::Down, rate_mbps: 20.0, duration_s: 2.0, ..call() };
    let epoch_ns = monotonic_ns();
    let end_ns = epoch_ns + 2_000_000_000;
    let mut client = plan(call.clone().into(), end_ns);
    client.server = Some(SocketAddr::new(local(1), server.port()));
    client.pin = Some(server.pin().to_owned());
    client.paths = vec!["127.0.0.2".into(), "127.0.0.3".into()];
    let told = r#"[{"client": "127.0.0.2", "updates": [
        {"arrives_s": 0.4, "forecast": {"outages": [{"start_s": 0.5, "end_s": 1000}]}},
        {"arrives_s": 1.0, "forecast": {"issued_at_s": 0.9}},
        {"arrives_s": 1.1, "forecast": {"issued_at_s": 0.2, "outages": [{"start_s": 1, "end_s": 99}]}}]}]"#;
    let sends = Carry {
        epoch_ns,
        behaviour,
        forecasts: serde_json::from_str(told).unwrap(),
        ..plan(call.into(), end_ns)
    };
    let far = std::thread::spawn(move || server.carry(&sends).unwrap());
    carry(&client).unwrap();
    let sent = |row: &Row| {
        let found = row.subflows.iter().find(|path| path.remote.0 == "127.0.0.2");
        found.map_or(0, |path| path.sent_bytes)
    };
    let rows = far.join().unwrap().rows;
    let dark = |row: &&Row| (500_000_000..1_000_000_000).contains(&(row.at_ns - epoch_ns));
    let dark: Vec<u64> = rows.iter().filter(dark).map(sent).collect();
    assert!(dark.len() > 1 && dark[0] > 0, "{dark:?}");
    assert!(dark.iter().all(|bytes| *bytes == dark[0]), "nothing leaves meanwhile: {dark:?}");
    let last = rows.last().unwrap();
    assert!(sent(last) > dark[0] + 100_000, "it was called off: {last:?}");
}

#[test]
fn a_forecast_that_makes_no_sense_is_refused() {
    let mut bad = plan(bulk(Direction::Down, None), monotonic_ns());
    bad.server = Some(SocketAddr::new(local(1), 9));
    bad.pin = Some("00".repeat(32));
    let told =
        r#"[{"client": "127.0.0.2", "forecast": {"outages": [{"start_s": 2, "end_s": 1}]}}]"#;
    bad.forecasts = serde_json::from_str(told).unwrap();
    let said = carry(&bad).unwrap_err().to_string();
    assert!(said.contains("127.0.0.2: outages[0] from 2 s to 1 s: end_s must be after"), "{said}");
}
