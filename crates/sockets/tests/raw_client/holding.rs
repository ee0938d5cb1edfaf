//! What hostile clients make a server of files hold.

use super::{FileServer, Folder, RawClient, resident_bytes, role_for, run};
use mpquic::Config;
use sockets::{Limits, Served};

const CLIENTS: usize = 50;
const FILES: usize = 8;
const HALVES: usize = 100;
const MOST_BYTES: u64 = 16 << 20;

/// What such a client says.
pub struct Hostile {
    pub alpn: &'static [u8],
    /// On a stream that goes one way.
    pub ignored: Vec<u8>,
    /// Asks for the file "big".
    pub request: Vec<u8>,
    /// A request that never is complete.
    pub half: Vec<u8>,
}

/// Lets clients say all that, and measures what the server holds for each.
pub fn held_by_each(says: &Hostile) {
    let folder = Folder::new("memory");
    let big = std::fs::File::create(folder.0.join("big")).unwrap();
    big.set_len(1 << 30).unwrap();
    let server = FileServer::start(&folder.0, Limits::of(200));
    let before = resident_bytes();
    let mut clients: Vec<RawClient> = (0..CLIENTS)
        .map(|seed| {
            // No window: whatever the server has to say waits there.
            let mut config = Config::new(role_for(&server.pin, says.alpn));
            config.stream_window_bytes = 0;
            config.receive_window_bytes = 0;
            config.max_receive_window_bytes = 0;
            RawClient::new(server.address, server.address.ip(), config, seed as u64)
        })
        .collect();
    run(&mut clients, |all| all.iter().all(|client| client.endpoint.is_connected()));
    for client in &mut clients {
        client.say(false, &says.ignored, false);
        for _ in 0..FILES {
            client.say(true, &says.request, true);
        }
        for _ in 0..HALVES {
            client.say(true, &says.half, false);
        }
    }
    // Everything came, and the server has read from its files what it will.
    run(&mut clients, |all| all.iter().all(|client| client.endpoint.buffered_bytes() == 0));
    let asked = |one: &Served| matches!(one, Served::Asked(_, _, Some(_)));
    run(&mut clients, |_| server.count(asked) == CLIENTS * FILES);
    let each = (resident_bytes() - before) / CLIENTS as u64;
    assert!(each <= MOST_BYTES, "{each} bytes a client");
    // 256 KiB of answers, as their congestion windows are small, and the requests.
    assert!(each > 1 << 20, "{each} bytes a client: nothing was held");
}
