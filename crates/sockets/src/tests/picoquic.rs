//! picoquic at the other end, where `PICOQUIC_DEMO` names its `picoquicdemo`: 100 MB each way, on one
//! path and on two.

use super::ends::{Folder, local, serve};
use crate::*;
use std::fs::{self, File};
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use units::Duration;

const BYTES: u64 = 100_000_000;

/// Ends with the test, however that ends.
struct Demo(Child);

impl Drop for Demo {
    fn drop(&mut self) {
        self.0.kill().ok(); // it may have ended
        self.0.wait().ok(); // it is ours, and waited for once
    }
}

/// The program; `None`, and why, without.
fn demo() -> Option<PathBuf> {
    let named = std::env::var_os("PICOQUIC_DEMO");
    if named.is_none() {
        eprintln!("skipped: PICOQUIC_DEMO names no picoquicdemo");
    }
    named.map(|path| PathBuf::from(path).canonicalize().expect("PICOQUIC_DEMO is a program"))
}

/// A command in a folder, where the program also writes its tickets and tokens.
fn command(demo: &Path, folder: &Path) -> Command {
    let mut command = Command::new(demo);
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null());
    command
}

fn make_file(folder: &Path) {
    File::create(folder.join("file")).unwrap().set_len(BYTES).unwrap();
}

fn ours_fetches(paths: u8) {
    let Some(demo) = demo() else { return };
    let folder = Folder::new(&format!("from-picoquic{paths}"));
    make_file(&folder.0);
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (cert, key) = (folder.0.join("cert.pem"), folder.0.join("key.pem"));
    fs::write(&cert, made.cert.pem()).unwrap();
    fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let pin = Identity::from_files(&cert, &key).unwrap().fingerprint();
    let unused = UdpSocket::bind("[::]:0").or_else(|_| UdpSocket::bind("0.0.0.0:0")).unwrap();
    let port = unused.local_addr().unwrap().port();
    drop(unused);
    let mut server = command(&demo, &folder.0);
    server.args(["-a", "hq-interop", "-p", &port.to_string(), "-w"]).arg(&folder.0);
    if paths > 1 {
        server.arg("-M"); // multipath
    }
    server.arg("-c").arg(&cert).arg("-k").arg(&key);
    let _server = Demo(server.spawn().unwrap()); // what we send before it listens, we send again
    let fetch = Fetch {
        host: "127.0.0.1".into(),
        port,
        path: "/file".into(),
        out: folder.0.join("came"),
        locals: (1..=paths).map(|last| Local::Address(local(last))).collect(),
        anchor: Anchor::pin(&pin).unwrap(),
        patience: Duration::from_secs(120), // fails by then
        persistence: Duration::ZERO,
        more: More { hq: true, ..More::default() },
        options: Options::default(),
        hints: Hints::default(),
    };
    let found = crate::fetch(&fetch, |_| true).unwrap();
    assert_eq!((found.bytes, found.multipath), (BYTES, paths > 1));
    for path in &found.paths {
        assert!(path.stats.is_some_and(|stats| stats.unique_bytes > 0), "{:?}", found.paths);
    }
}

fn picoquic_fetches(paths: u8) {
    let Some(demo) = demo() else { return };
    let folder = Folder::new(&format!("for-picoquic{paths}"));
    make_file(&folder.0);
    let server = serve(&folder.0, &Options::default());
    let out = folder.0.join("out");
    fs::create_dir(&out).unwrap();
    let mut client = command(&demo, &out);
    client.args(["-n", "localhost", "-a", "hq-interop", "-o"]).arg(&out);
    if paths > 1 {
        client.args(["-M", "-A", "0.0.0.0/0"]); // the same address, another port
    }
    client.args(["127.0.0.1", &server.address.port().to_string(), "/file"]);
    let status = Demo(client.spawn().unwrap()).0.wait().unwrap();
    assert!(status.success(), "{status}");
    let came: u64 = fs::read_dir(&out).unwrap().fold(0, |most: u64, one| {
        most.max(one.unwrap().metadata().unwrap().len()) // tickets and tokens are small
    });
    let seen = server.end();
    assert_eq!(came, BYTES, "{seen:?}");
    let further = seen.iter().filter(|one| matches!(one, Served::Path(..))).count();
    assert_eq!(further, usize::from(paths) - 1, "{seen:?}");
}

#[test]
fn ours_fetches_from_picoquic_on_one_path() {
    ours_fetches(1);
}

#[test]
fn ours_fetches_from_picoquic_on_two_paths() {
    ours_fetches(2);
}

#[test]
fn picoquic_fetches_from_ours_on_one_path() {
    picoquic_fetches(1);
}

#[test]
fn picoquic_fetches_from_ours_on_two_paths() {
    picoquic_fetches(2);
}
