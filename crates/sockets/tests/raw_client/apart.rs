//! A server of files in a process of its own: what that holds is the server's alone.

use super::{FileServer, resident_bytes};
use sockets::Limits;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::Ordering;

/// Names the folder to the process that is to serve it.
const ROOT: &str = "SKYWEAVE_TEST_ROOT";
/// Begins the lines of the server, beside those of the test's harness.
const MARK: &str = "server:";

/// The server, seen from the test.
pub struct Apart {
    pub address: SocketAddr,
    pub pin: String,
    process: Child,
    lines: BufReader<ChildStdout>,
}

impl Apart {
    /// Starts this binary again: its test `name` calls [`serve`] there.
    pub fn start(name: &str, root: &Path) -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name, "--nocapture"])
            .env(ROOT, root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap());
        let [address, pin] = words(&mut lines);
        Self { address: address.parse().unwrap(), pin, process, lines }
    }

    /// Bytes that the server holds for its clients, and its resident memory.
    pub fn ask(&mut self) -> (u64, u64) {
        writeln!(self.process.stdin.as_mut().unwrap()).unwrap();
        let [held, resident] = words(&mut self.lines);
        (held.parse().unwrap(), resident.parse().unwrap())
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        drop(self.process.stdin.take()); // ends it
        self.process.wait().ok();
    }
}

/// The next words of the server.
fn words(lines: &mut impl BufRead) -> [String; 2] {
    let mut line = String::new();
    loop {
        line.clear();
        assert_ne!(lines.read_line(&mut line).unwrap(), 0, "the server ended");
        if let Some((_, rest)) = line.split_once(MARK) {
            let mut words = rest.split_whitespace().map(str::to_owned);
            return std::array::from_fn(|_| words.next().unwrap());
        }
    }
}

/// The folder that this process is to serve.
pub fn root() -> Option<PathBuf> {
    std::env::var_os(ROOT).map(PathBuf::from)
}

/// Serves it, and answers each line with what it holds, until there are no more.
pub fn serve(root: &Path) {
    let server = FileServer::start(root, Limits::of(200));
    let mut out = std::io::stdout();
    writeln!(out, "{MARK} {} {}", server.address, server.pin).unwrap();
    for _ in std::io::stdin().lines() {
        let held = server.held.load(Ordering::Relaxed);
        writeln!(out, "{MARK} {held} {}", resident_bytes()).unwrap();
    }
}
