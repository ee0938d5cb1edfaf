//! Clients over HTTP/0.9 that make a server of files hold all that they can: at most 16 MiB each. Alone in
//! its process, for it measures the memory of that.

mod raw_client;

use raw_client::holding::{Hostile, held_by_each};
use sockets::HQ_INTEROP;

#[test]
fn a_hostile_client_occupies_no_more_than_16_mib() {
    held_by_each(&Hostile {
        alpn: HQ_INTEROP,
        ignored: vec![0; 8 << 10], // nobody reads that
        request: b"GET /big\r\n".to_vec(),
        half: vec![b'x'; 4000],
    });
}
