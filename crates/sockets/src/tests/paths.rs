//! Bulk transfers whose ends report each other's paths.

use super::ends::local;
use crate::*;
use std::net::SocketAddr;

fn plan(sends: bool, bytes: Option<u64>, end_ns: u64) -> Carry {
    Carry {
        options: Options::default(),
        sends,
        bytes,
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
    down: bool,
    bytes: Option<u64>,
    (seconds, backups): (f64, &[&str]),
) -> (BulkReport, BulkReport) {
    let mut server = BulkServer::bind(SocketAddr::new(local(1), 0), &Options::default()).unwrap();
    let end_ns = monotonic_ns() + (seconds * 1e9) as u64;
    let mut client = plan(!down, bytes, end_ns);
    client.server = Some(SocketAddr::new(local(1), server.port()));
    client.pin = Some(server.pin().to_owned());
    client.paths = vec!["127.0.0.2".into(), "127.0.0.3".into()];
    client.backups = backups.iter().map(|name| name.to_string()).collect();
    let far = std::thread::spawn(move || server.carry(&plan(down, bytes, end_ns)).unwrap());
    let near = carry(&client).unwrap();
    (near, far.join().unwrap())
}

#[test]
fn a_transfer_of_a_size_ends_when_both_know_it() {
    const BYTES: u64 = 30_000_000;
    for down in [true, false] {
        let (near, far) = both(down, Some(BYTES), (60.0, &[]));
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
            let (near, far) = both(down, Some(5_000_000), (60.0, &[backup]));
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
    let mut client = plan(false, None, monotonic_ns());
    client.server = Some(SocketAddr::new(local(1), 9));
    client.pin = Some("00".repeat(32));
    (client.paths, client.backups) = (vec!["127.0.0.2".into()], vec!["lte0".into()]);
    let said = carry(&client).unwrap_err().to_string();
    assert!(said.contains("lte0 is none of the client's paths"), "{said}");
}

#[test]
fn a_transfer_of_a_duration_ends_with_it() {
    let (near, far) = both(true, None, (0.5, &[]));
    assert_eq!((near.completed_ns, far.completed_ns), (None, None));
    assert_eq!((&near.error, &far.error), (&None, &None));
    assert!(near.bytes > 0 && far.bytes >= near.bytes);
    assert!(near.rows.windows(2).all(|pair| pair[0].tick < pair[1].tick));
}

#[test]
fn a_server_that_never_answers_is_an_error_in_the_report() {
    let nobody = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let mut client = plan(false, None, monotonic_ns() + 300_000_000);
    client.server = nobody.local_addr().ok();
    client.pin = Some("00".repeat(32));
    client.paths = vec!["127.0.0.1".into()];
    let report = carry(&client).unwrap();
    assert!(report.error.unwrap().contains("no connection"));
}

/// The sender learns during the run that one path will be dark, and later that it is not.
#[test]
fn forecasts_arrive_and_are_corrected_during_a_run() {
    let mut server = BulkServer::bind(SocketAddr::new(local(1), 0), &Options::default()).unwrap();
    let epoch_ns = monotonic_ns();
    let end_ns = epoch_ns + 2_000_000_000;
    let mut client = plan(false, None, end_ns);
    client.server = Some(SocketAddr::new(local(1), server.port()));
    client.pin = Some(server.pin().to_owned());
    client.paths = vec!["127.0.0.2".into(), "127.0.0.3".into()];
    let told = r#"[{"client": "127.0.0.2", "updates": [
        {"arrives_s": 0.4, "forecast": {"outages": [{"start_s": 0.5, "end_s": 1000}]}},
        {"arrives_s": 1.0, "forecast": {"issued_at_s": 0.9}},
        {"arrives_s": 1.1, "forecast": {"issued_at_s": 0.2, "outages": [{"start_s": 1, "end_s": 99}]}}]}]"#;
    let sends = Carry {
        epoch_ns,
        forecasts: serde_json::from_str(told).unwrap(),
        ..plan(true, None, end_ns)
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
    assert!(sent(rows.last().unwrap()) > dark[0] + 100_000, "it was called off");
}

#[test]
fn a_forecast_that_makes_no_sense_is_refused() {
    let mut bad = plan(false, None, monotonic_ns());
    bad.server = Some(SocketAddr::new(local(1), 9));
    bad.pin = Some("00".repeat(32));
    let told =
        r#"[{"client": "127.0.0.2", "forecast": {"outages": [{"start_s": 2, "end_s": 1}]}}]"#;
    bad.forecasts = serde_json::from_str(told).unwrap();
    let said = carry(&bad).unwrap_err().to_string();
    assert!(said.contains("127.0.0.2: outages[0] from 2 s to 1 s: end_s must be after"), "{said}");
}
