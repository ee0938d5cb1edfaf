//! IPv6, alone and beside IPv4.

use super::ends::{Folder, Running, content, local, serve_at, server_config};
use crate::fetch::fetch_from;
use crate::*;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, UdpSocket};

const BYTES: usize = 20_000_000;
const LOOPBACK: IpAddr = IpAddr::V6(Ipv6Addr::LOCALHOST);

/// A server on `ip`; `None`, and why, where the system has no IPv6.
fn serve(folder: &Folder, ip: Ipv6Addr) -> Option<Running> {
    if let Err(error) = UdpSocket::bind(SocketAddr::new(LOOPBACK, 0)) {
        eprintln!("skipped: this system has no IPv6 ({error})");
        return None;
    }
    std::fs::write(folder.0.join("file"), content(BYTES)).unwrap();
    let config = |role| server_config(role, &Options::default());
    Some(serve_at(SocketAddr::new(ip.into(), 0), &folder.0, config))
}

#[test]
fn a_file_comes_over_ipv6() {
    let folder = Folder::new("ipv6");
    let Some(server) = serve(&folder, Ipv6Addr::LOCALHOST) else { return };
    let out = folder.0.join("out");
    let fetch = Fetch { locals: vec![Local::Address(LOOPBACK)], ..server.fetch("/file", &out) };
    let found = crate::fetch(&fetch, |_| true).unwrap();
    assert!(std::fs::read(&out).unwrap() == content(BYTES));
    assert_eq!(found.paths[0].local.map(|address| address.ip()), Some(LOOPBACK));
    let seen = server.end();
    assert!(matches!(&seen[0], Served::Opened(from) if from.ip() == LOOPBACK), "{seen:?}");
}

#[test]
fn one_connection_has_paths_of_both_families() {
    let folder = Folder::new("both");
    let Some(server) = serve(&folder, Ipv6Addr::UNSPECIFIED) else { return };
    let out = folder.0.join("out");
    let ips = [local(1), LOOPBACK];
    for order in [[0, 1], [1, 0]] {
        let ips = order.map(|place| ips[place]);
        let fetch =
            Fetch { locals: ips.map(Local::Address).to_vec(), ..server.fetch("/file", &out) };
        let servers = ips.map(|ip| SocketAddr::new(ip, server.address.port())).to_vec();
        let found = fetch_from(servers, &fetch, |_| true).unwrap();
        assert!(std::fs::read(&out).unwrap() == content(BYTES));
        for (path, ip) in found.paths.iter().zip(ips) {
            assert_eq!(path.remote.ip(), ip);
            assert!(path.stats.unwrap().unique_bytes > 0, "{:?}", found.paths);
        }
    }
    // A server with both families names a client by the address that the client has.
    let seen = server.end();
    let from = seen.iter().filter_map(|one| match one {
        Served::Opened(from) => Some(from.ip()),
        _ => None,
    });
    assert_eq!(from.collect::<Vec<_>>(), ips, "{seen:?}");
}
