//! noq-proto at the other end, on real sockets: 100 MB each way, on one path and on two.

use super::ends::{Folder, local, serve};
use super::noq::{Noq, Tuning};
use super::tls;
use crate::*;
use std::fs::File;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use units::Duration;

const BYTES: u64 = 100_000_000;
const DATAGRAM: u16 = 1440;

fn ips(paths: u32) -> Vec<std::net::IpAddr> {
    (1..=paths as u8).map(local).collect()
}

fn ours_fetches(paths: u32) {
    let (server_tls, fingerprint) = tls::server();
    let tuning = Tuning { paths, datagram_bytes: DATAGRAM };
    let mut noq = Noq::server(server_tls, local(1), BYTES, tuning);
    let address: SocketAddr = noq.address();
    let over = Arc::new(AtomicBool::new(false));
    let stops = over.clone();
    let server = std::thread::spawn(move || noq.run(|_| stops.load(Ordering::Relaxed)));
    let folder = Folder::new(&format!("noq{paths}"));
    let fetch = Fetch {
        host: "127.0.0.1".into(),
        port: address.port(),
        path: "/file".into(),
        out: folder.0.join("file"),
        locals: ips(paths).into_iter().map(Local::Address).collect(),
        anchor: Anchor::Pin(fingerprint),
        patience: Duration::from_secs(120), // fails by then
        persistence: Duration::ZERO,
        more: More { hq: true, ..More::default() },
        options: Options { datagram_bytes: DATAGRAM.into(), ..Options::default() },
        hints: Hints::default(),
    };
    let found = crate::fetch(&fetch, |_| true).unwrap();
    over.store(true, Ordering::Relaxed);
    server.join().unwrap();
    assert_eq!((found.bytes, found.multipath), (BYTES, paths > 1));
    for path in &found.paths {
        assert!(path.received_bytes > 0, "{:?}", found.paths);
    }
}

fn noq_fetches(paths: u32) {
    let folder = Folder::new(&format!("for-noq{paths}"));
    File::create(folder.0.join("file")).unwrap().set_len(BYTES).unwrap();
    let options = Options { datagram_bytes: DATAGRAM.into(), ..Options::default() };
    let server = serve(&folder.0, &options);
    let tuning = Tuning { paths, datagram_bytes: DATAGRAM };
    let client = tls::client(&server.pin);
    let mut noq = Noq::client(client, &ips(paths), server.address, tuning);
    noq.run(|noq| noq.finished);
    noq.close();
    assert_eq!((noq.received_bytes, &noq.lost), (BYTES, &None));
    assert_eq!(noq.established as u32, paths - 1, "paths beside the first");
}

#[test]
fn ours_fetches_from_noq_on_one_path() {
    ours_fetches(1);
}

#[test]
fn ours_fetches_from_noq_on_two_paths() {
    ours_fetches(2);
}

#[test]
fn noq_fetches_from_ours_on_one_path() {
    noq_fetches(1);
}

#[test]
fn noq_fetches_from_ours_on_two_paths() {
    noq_fetches(2);
}
