//! Files, from disk to disk.

use super::ends::{Folder, content, local, serve};
use crate::*;
use std::fs;
use units::Duration;

#[test]
fn a_file_comes_over_two_paths_as_it_is() {
    let folder = Folder::new("two");
    let data = content(50_000_000);
    fs::write(folder.0.join("big file"), &data).unwrap();
    fs::write(folder.0.join("empty"), b"").unwrap();
    // In turns: the lowest RTT of a loopback may leave one of them without work.
    let turns = scheduler::Algorithm::RoundRobin.into();
    let server = serve(&folder.0, &Options { scheduler: turns, ..Options::default() });
    let out = folder.0.join("came");
    let mut fetch = server.fetch("/big file", &out);
    fetch.locals = vec![Local::Address(local(1)), Local::Address(local(2))];
    let found = super::super::fetch(&fetch, |_| true).unwrap();
    assert!(found.multipath);
    assert_eq!(found.bytes, data.len() as u64);
    assert!(fs::read(&out).unwrap() == data, "the file came, and came as it is");
    // How much each of them carries is a matter of load.
    assert!(found.paths.iter().all(|path| path.received_bytes > 0), "{:?}", found.paths);
    let sum: u64 = found.paths.iter().map(|path| path.stats.unwrap().unique_bytes).sum();
    // Settings, fields and the heads of frames come to less than a packet.
    assert!((data.len() as u64..data.len() as u64 + 1200).contains(&sum), "{sum}");

    let found = super::super::fetch(&server.fetch("/empty", &out), |_| true).unwrap();
    assert_eq!((found.bytes, fs::read(&out).unwrap().len()), (0, 0));
    let seen = server.end();
    let asked = seen.iter().filter(|one| matches!(one, Served::Asked(..))).count();
    assert_eq!(asked, 2, "{seen:?}");
    let further = seen.iter().filter_map(|one| match one {
        Served::Path(_, from) => Some(*from),
        _ => None,
    });
    assert_eq!(further.collect::<Vec<_>>(), [local(2)], "{seen:?}");
}

#[test]
fn many_clients_at_a_time_each_get_their_own() {
    let folder = Folder::new("many");
    let files: Vec<Vec<u8>> = (1..=6).map(|n| content(300_000 * n)).collect();
    for (n, data) in files.iter().enumerate() {
        fs::write(folder.0.join(n.to_string()), data).unwrap();
    }
    let server = serve(&folder.0, &Options::default());
    std::thread::scope(|scope| {
        for (n, data) in files.iter().enumerate() {
            let out = folder.0.join(format!("out{n}"));
            let fetch = server.fetch(&format!("/{n}"), &out);
            scope.spawn(move || {
                super::super::fetch(&fetch, |_| true).unwrap();
                assert!(fs::read(&out).unwrap() == *data);
            });
        }
    });
}

#[test]
fn what_cannot_be_fetched_is_said_and_leaves_nothing() {
    let folder = Folder::new("refused");
    fs::create_dir_all(folder.0.join("folder")).unwrap();
    let server = serve(&folder.0, &Options::default());
    let out = folder.0.join("out");
    let mut fetch = server.fetch("/nothing", &out);
    for hq in [false, true] {
        fetch.more.hq = hq;
        let error = super::super::fetch(&fetch, |_| true).unwrap_err();
        assert!(matches!(error, SocketError::NoFile(_)), "{error}");
    }
    let error = super::super::fetch(&server.fetch("/folder", &out), |_| true).unwrap_err();
    assert!(matches!(error, SocketError::Forbidden(_)), "{error}");
    let mut fetch = server.fetch("/nothing", &out);
    fetch.anchor = Anchor::Pin([7; 32]);
    let error = super::super::fetch(&fetch, |_| true).unwrap_err();
    assert!(error.to_string().contains(&server.pin), "{error}");
    fetch.anchor = Anchor::System;
    let error = super::super::fetch(&fetch, |_| true).unwrap_err();
    assert!(matches!(error, SocketError::Certificate(_) | SocketError::Tls(_)), "{error}");
    fetch.locals = vec![Local::Interface("nosuch0".into())];
    fetch.anchor = Anchor::Pin([7; 32]);
    let error = super::super::fetch(&fetch, |_| true).unwrap_err();
    assert!(matches!(error, SocketError::NoInterface(_)), "{error}");
    assert!(!out.exists() && !out.with_extension("part").exists());
}

#[test]
fn a_server_that_is_not_there_is_given_up() {
    let folder = Folder::new("absent");
    let nobody = std::net::UdpSocket::bind("127.0.0.1:0").unwrap(); // it never answers
    let fetch = Fetch {
        host: "127.0.0.1".into(),
        port: nobody.local_addr().unwrap().port(),
        path: "/x".into(),
        out: folder.0.join("x"),
        locals: vec![Local::Any],
        anchor: Anchor::Pin([0; 32]),
        patience: Duration::from_millis(300),
        persistence: Duration::ZERO,
        more: More::default(),
        options: Options::default(),
        hints: Hints::default(),
    };
    let error = super::super::fetch(&fetch, |_| true).unwrap_err();
    assert!(matches!(error, SocketError::NoAnswer { .. }), "{error}");
    let stopped = super::super::fetch(&fetch, |_| false).unwrap_err();
    assert!(matches!(stopped, SocketError::Stopped));
}

#[test]
fn a_server_without_multipath_is_noticed() {
    let folder = Folder::new("single");
    fs::write(folder.0.join("file"), content(1_000_000)).unwrap();
    let server = serve(&folder.0, &Options { max_paths: 1, ..Options::default() });
    let mut fetch = server.fetch("/file", &folder.0.join("out"));
    fetch.locals = vec![Local::Address(local(1)), Local::Address(local(2))];
    let mut notices = Vec::new();
    let found = super::super::fetch(&fetch, |progress| {
        notices.extend(progress.notices.clone());
        true
    })
    .unwrap();
    assert!(!found.multipath);
    assert_eq!(found.bytes, 1_000_000);
    assert!(found.paths[1].stats.is_none());
}

#[test]
fn a_port_in_use_is_said() {
    let taken = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let held = std::net::UdpSocket::bind(taken).unwrap();
    let identity = Identity::self_signed(&["localhost".into()]).unwrap();
    let options = Options::default();
    let config = super::ends::server_config(identity.role(HQ_INTEROP).unwrap(), &options);
    let error = Server::bind(held.local_addr().unwrap(), config).err().unwrap();
    assert!(error.to_string().contains("take another one"), "{error}");
}
