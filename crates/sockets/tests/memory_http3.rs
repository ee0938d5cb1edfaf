//! Clients over HTTP/3 that make a server of files hold all that they can: at most 16 MiB each. Alone in its
//! process, for it measures the memory of that.

mod raw_client;

use http3::{Fields, Head, Request};
use raw_client::holding::{Hostile, held_by_each};
use sockets::H3;

#[test]
fn a_hostile_client_over_http3_occupies_no_more_than_16_mib() {
    let (method, scheme, path) = ("GET".into(), "https".into(), "/big".into());
    let authority = Some("localhost".into());
    let request = Request { method, scheme, authority, path, fields: Fields::default() };
    // Fields of 16,000 bytes of which the last 100 never come, and settings that go on for long.
    let half = [&[1, 0x7e, 0x80][..], &[0; 15_900]].concat();
    let ignored = [&[0, 4, 0x7e, 0x80][..], &[0x21; 8 << 10]].concat();
    held_by_each(&Hostile { alpn: H3, ignored, request: http3::head(&request.write()), half });
}
