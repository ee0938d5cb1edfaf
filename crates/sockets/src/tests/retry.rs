//! Clients that have to prove their address, and those that cannot.

use super::ends::{Folder, Running, content, local, serve_at, server_config};
use super::strangers::{answer, initial, of_another_version, socket};
use crate::*;
use mpquic::LOCAL_CID_BYTES;
use mpquic::wire::{Kind, parse};
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};

const FILE_BYTES: usize = 3_000_000;

fn serve(folder: &Folder, max_half_open: usize, retry: RetryPolicy) -> Running {
    std::fs::write(folder.0.join("file"), content(FILE_BYTES)).unwrap();
    serve_at(SocketAddr::new(local(1), 0), &folder.0, |role| ServerConfig {
        limits: Limits { half_open: max_half_open, ..Limits::of(64) },
        retry,
        ..server_config(role, &Options::default())
    })
}

fn kind(datagram: &[u8]) -> Kind {
    parse(datagram, LOCAL_CID_BYTES).unwrap().kind
}

/// Waits until the server has looked at everything that was sent before.
fn pass(probe: &UdpSocket) {
    probe.send(&of_another_version()).unwrap();
    assert_eq!(kind(&answer(probe)), Kind::VersionNegotiation);
}

#[test]
fn who_always_has_to_prove_an_address_gets_the_file_and_leaves_no_state_before() {
    let folder = Folder::new("always");
    let server = serve(&folder, 64, RetryPolicy::Always);
    let stranger = socket(server.address);
    for _ in 0..5 {
        stranger.send(&initial(&server.pin)).unwrap();
        let retry = answer(&stranger);
        assert_eq!(kind(&retry), Kind::Retry);
        assert!(retry.len() < 200, "{}", retry.len());
    }
    let out = folder.0.join("out");
    let mut fetch = server.fetch("/file", &out);
    fetch.locals.push(Local::Address(local(2)));
    let found = crate::fetch(&fetch, |_| true).unwrap();
    assert!(found.multipath);
    assert!(std::fs::read(&out).unwrap() == content(FILE_BYTES));
    let (_, most) = server.end_counted();
    assert!(most <= 1, "{most}");
}

#[test]
fn while_spoofed_clients_flood_a_real_one_gets_its_file() {
    const HALF_OPEN: usize = 16;
    /// Packets between two pauses that let the server keep up: no more than fits its buffer, so that
    /// what the real client sends is not lost before the server has a choice.
    const BURST: usize = 48;
    let folder = Folder::new("flood");
    let server = serve(&folder, HALF_OPEN, RetryPolicy::Busy);
    let (over, flooded) = (AtomicBool::new(false), std::sync::Barrier::new(2));
    let out = folder.0.join("out");
    let sources: Vec<UdpSocket> = (0..BURST).map(|_| socket(server.address)).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let probe = socket(server.address);
            let mut bursts = 0;
            while bursts < 3 || !over.load(Ordering::Relaxed) {
                for source in &sources {
                    source.send(&initial(&server.pin)).unwrap();
                }
                pass(&probe);
                bursts += 1;
                if bursts == 2 {
                    flooded.wait();
                }
            }
        });
        flooded.wait();
        let found = crate::fetch(&server.fetch("/file", &out), |_| true);
        over.store(true, Ordering::Relaxed);
        assert_eq!(found.unwrap().bytes, FILE_BYTES as u64);
    });
    // The first few began a handshake each, the others were asked for a proof.
    let kinds: Vec<Kind> = sources.iter().map(|source| kind(&answer(source))).collect();
    let begun = HALF_OPEN / 4 + 1;
    assert!(kinds[..begun].iter().all(|kind| *kind == Kind::Initial), "{kinds:?}");
    assert!(kinds[begun..].iter().all(|kind| *kind == Kind::Retry), "{kinds:?}");
    let (seen, most) = server.end_counted();
    assert!((begun..=begun + 1).contains(&most), "{most}");
    let opened = seen.iter().filter(|one| matches!(one, Served::Opened(_))).count();
    assert_eq!(opened, 1, "{seen:?}");
}
