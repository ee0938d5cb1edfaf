//! How many connections a server of files holds, what each costs and how long it takes to be
//! accepted: `cargo run --release --package skyweave-sockets --example many_connections [COUNT]`
//! prints one JSON object. The server is a process of its own, so that its memory is its own; the
//! clients share a thread and complete their handshakes one after the other.

#![allow(clippy::print_stdout)]

#[path = "../tests/raw_client/mod.rs"]
mod raw_client;

use mpquic::Config;
use raw_client::{FileServer, Folder, RawClient, resident_bytes, role, run};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use sockets::{Limits, Served};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Handshakes under way at a time.
const AT_A_TIME: usize = 8;

fn main() {
    // The server holds one descriptor however many clients it has; the clients one each.
    let limit = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: limit, maximum: limit }).ok();
    let first = std::env::args().nth(1);
    match first.as_deref() {
        Some("serve") => serve(),
        count => measure(count.map_or(4096, |text| text.parse().expect("a number of clients"))),
    }
}

/// The server: says where it is, then its memory and its connections at each line that it gets.
fn serve() {
    let folder = Folder::new("many");
    let server = FileServer::start(&folder.0, Limits::of(1 << 20));
    println!("{} {}", server.address, server.pin);
    for _ in std::io::stdin().lock().lines() {
        let opened = server.count(|one| matches!(one, Served::Opened(_)));
        let closed = server.count(|one| matches!(one, Served::Closed(..)));
        println!("{} {}", resident_bytes(), opened - closed);
    }
}

fn measure(count: usize) {
    let program = std::env::current_exe().expect("this program");
    let mut server = Command::new(program)
        .arg("serve")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the same program once more");
    let mut ask = server.stdin.take().expect("a pipe");
    let mut said = BufReader::new(server.stdout.take().expect("a pipe")).lines();
    let mut next = move || said.next().expect("a line of the server").expect("text");
    let place = next();
    let (address, pin) = place.split_once(' ').expect("an address and a fingerprint");
    let (address, pin) = (address.parse().expect("an address"), pin.to_owned());
    let mut memory = |_| {
        writeln!(ask, "?").expect("the server");
        let said = next();
        let (bytes, open) = said.split_once(' ').expect("two numbers");
        (bytes.parse::<u64>().expect("bytes"), open.parse::<usize>().expect("connections"))
    };
    let (before, _) = memory(());
    let mut clients: Vec<RawClient> = Vec::new();
    let mut times = Vec::new();
    while clients.len() < count {
        let begin = Instant::now();
        let more = AT_A_TIME.min(count - clients.len());
        let mut fresh: Vec<RawClient> = (0..more)
            .map(|n| {
                let seed = (clients.len() + n) as u64;
                RawClient::new(address, address.ip(), Config::new(role(&pin)), seed)
            })
            .collect();
        run(&mut fresh, |all| all.iter().all(|client| client.endpoint.is_connected()));
        times.push(begin.elapsed().as_secs_f64() * 1e3 / more as f64);
        clients.append(&mut fresh);
    }
    let (after, open) = memory(());
    times.sort_by(f64::total_cmp);
    println!(
        "{{\"connections_held\": {}, \"connection_kb\": {:.1}, \"accept_ms\": {:.3}}}",
        open,
        (after - before) as f64 / open as f64 / 1e3,
        times[times.len() / 2],
    );
    drop(ask);
    server.wait().ok();
}
