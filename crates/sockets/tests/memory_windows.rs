//! Clients with windows as large as a server may use them, who take much, and then acknowledge no more:
//! at most 16 MiB each. The server has a process of its own.

mod raw_client;

use mpquic::Config;
use raw_client::apart::{self, Apart};
use raw_client::far::FarClient;
use raw_client::{Folder, RawClient, role};
use std::io::Write;

const CLIENTS: u64 = 50;
const FILES: usize = 8;
const MOST_BYTES: u64 = 16 << 20;
/// What each makes the server hold in the mean, of the 8 MiB that it may.
const HELD_BYTES: u64 = 7 << 20;

#[test]
fn a_client_with_large_windows_occupies_no_more_than_16_mib() {
    if let Some(root) = apart::root() {
        return apart::serve(&root);
    }
    let folder = Folder::new("windows");
    std::fs::File::create(folder.0.join("big")).unwrap().set_len(1 << 30).unwrap();
    let name = "a_client_with_large_windows_occupies_no_more_than_16_mib";
    let mut server = Apart::start(name, &folder.0);
    let (_, before) = server.ask();
    let mut clients: Vec<FarClient> = (0..CLIENTS).map(|_| taking(&server)).collect();
    // All take until the last one has what it wants: one that is silent for long is closed.
    while server.ask().0 < CLIENTS * HELD_BYTES {
        clients.iter_mut().for_each(FarClient::turn);
    }
    clients.iter_mut().for_each(FarClient::riddle);
    let (held, resident) = server.ask();
    assert!(held >= CLIENTS * HELD_BYTES / 2, "{held} bytes: nothing was held");
    let resident = resident - before;
    // Seen with --nocapture.
    let row =
        format!(r#"{{"clients": {CLIENTS}, "held_bytes": {held}, "resident_bytes": {resident}}}"#);
    writeln!(std::io::stdout(), "{row}").unwrap();
    assert!(resident / CLIENTS <= MOST_BYTES, "{resident} bytes");
}

/// A client that asked for all that it can, and is connected.
fn taking(server: &Apart) -> FarClient {
    let mut config = Config::new(role(&server.pin));
    config.stream_window_bytes = 1 << 40;
    config.receive_window_bytes = 1 << 40;
    config.max_receive_window_bytes = 1 << 40;
    let mut near = RawClient::new(server.address, server.address.ip(), config, 1);
    while !near.endpoint.is_connected() {
        near.turn();
    }
    for _ in 0..FILES {
        near.say(true, b"GET /big\r\n", true);
    }
    FarClient::new(near)
}
