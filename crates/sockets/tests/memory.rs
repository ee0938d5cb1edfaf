//! Clients that make a server of files hold all that they can: at most 16 MiB each. Alone in its
//! process, for it measures the memory of that.

mod raw_client;

use mpquic::Config;
use raw_client::{FileServer, Folder, RawClient, resident_bytes, role, run};
use sockets::{Limits, Served};

const CLIENTS: usize = 50;
const FILES: usize = 8;
const HALVES: usize = 100;
const MOST_BYTES: u64 = 16 << 20;

#[test]
fn a_hostile_client_occupies_no_more_than_16_mib() {
    let folder = Folder::new("memory");
    let big = std::fs::File::create(folder.0.join("big")).unwrap();
    big.set_len(1 << 30).unwrap();
    let server = FileServer::start(&folder.0, Limits::of(200));
    let before = resident_bytes();
    let mut clients: Vec<RawClient> = (0..CLIENTS)
        .map(|seed| {
            // No window: whatever the server has to say waits there.
            let mut config = Config::new(role(&server.pin));
            config.stream_window_bytes = 0;
            config.receive_window_bytes = 0;
            config.max_receive_window_bytes = 0;
            RawClient::new(server.address, server.address.ip(), config, seed as u64)
        })
        .collect();
    run(&mut clients, |all| all.iter().all(|client| client.endpoint.is_connected()));
    for client in &mut clients {
        client.say(false, &[0; 8 << 10], false); // nobody reads that
        for _ in 0..FILES {
            client.say(true, b"GET /big\r\n", true);
        }
        for _ in 0..HALVES {
            client.say(true, &[b'x'; 4000], false);
        }
    }
    // Everything came, and the server has read from its files what it will.
    run(&mut clients, |all| all.iter().all(|client| client.endpoint.buffered_bytes() == 0));
    let asked = |one: &Served| matches!(one, Served::Asked(_, _, Some(_)));
    run(&mut clients, |_| server.count(asked) == CLIENTS * FILES);
    let each = (resident_bytes() - before) / CLIENTS as u64;
    assert!(each <= MOST_BYTES, "{each} bytes a client");
    assert!(each > 8 << 20, "{each} bytes a client: nothing was held");
}
