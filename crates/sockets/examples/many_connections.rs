//! How many connections a server holds, what each costs and how long it takes to be accepted:
//! `cargo run --release --package skyweave-sockets --example many_connections [COUNT [BEYOND [SECONDS]]]`
//! prints one JSON object. Of COUNT and BEYOND further clients the server has room for COUNT; nobody
//! asks for anything. The server is a process of its own, so that its memory and processor time are its
//! own; the clients share a thread and complete their handshakes eight at a time.

#![allow(clippy::print_stdout)]

#[path = "../tests/raw_client/mod.rs"]
mod raw_client;

use mpquic::{Closed, Code, Config, Endpoint, Event};
use raw_client::{RawClient, resident_bytes, role, run};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};
use sockets::{
    Clock, HQ_INTEROP, Identity, Limits, Options, RetryPolicy, Server, ServerConfig, Service,
    Session, Status,
};
use std::io::{BufRead, BufReader, Lines, Write};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use units::{Duration, Instant};

/// Handshakes under way at a time.
const AT_A_TIME: usize = 8;
/// How often a client with an open stream shows that it is there.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Between two looks at all clients, while the server's processor time is measured.
const PAUSE: Duration = Duration::from_millis(50);
/// A server that says nothing for so long has said all it had to say.
const SILENCE: Duration = Duration::from_secs(3);

fn main() {
    // The server holds few descriptors however many clients it has; the clients one each.
    let limit = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: limit, maximum: limit }).ok();
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |place: usize, other: usize| {
        words.get(place).map_or(other, |text| text.parse().expect("a number"))
    };
    match words.first().map(String::as_str) {
        Some("serve") => serve(number(1, 0)),
        _ => measure(number(0, 4096), number(1, 0), number(2, 10)),
    }
}

fn config(role: mpquic::Role) -> Config {
    let mut config = Options::default().config(role).expect("the default options");
    config.idle_timeout = Duration::ZERO; // never: nobody says anything here
    config.keep_alive = KEEP_ALIVE;
    config
}

// ---- the server ---------------------------------------------------------------------------------

/// Keeps every connection open until the process ends.
struct Holding {
    open: Arc<AtomicUsize>,
}

struct Held;

impl Session for Held {
    fn work(&mut self, _: Instant, _: &mut Endpoint, _: &[Event]) -> Status {
        Status::Working
    }
}

impl Service for Holding {
    fn open(&mut self, _: Instant, _: SocketAddr) -> Box<dyn Session> {
        self.open.fetch_add(1, Ordering::Relaxed);
        Box::new(Held)
    }
    fn closed(&mut self, _: SocketAddr, _: &Closed) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
    fn due(&self) -> Instant {
        Instant::FAR_FUTURE
    }
    fn look(&mut self, _: Instant, _: usize) -> bool {
        true
    }
}

/// Says where it is; then, at each line that it gets, its memory, its processor time so far in seconds,
/// and its connections. It ends when nobody asks any more.
fn serve(connections: usize) {
    let identity = Identity::self_signed(&["localhost".into()]).expect("a certificate");
    let endpoint = config(identity.role(HQ_INTEROP).expect("a role"));
    let scheduler = scheduler::Choice::from(scheduler::Algorithm::MinRtt).into();
    let limits = Limits { half_open: 1024, ..Limits::of(connections) };
    let (qlog, retry, clock) = (None, RetryPolicy::Busy, Clock::start());
    let config = ServerConfig { endpoint, scheduler, qlog, limits, retry, clock };
    let mut server = Server::bind(([127, 0, 0, 1], 0).into(), config).expect("a port");
    println!("127.0.0.1:{} {}", server.port(), identity.fingerprint());
    let open = Arc::<AtomicUsize>::default();
    let mut service = Holding { open: open.clone() };
    std::thread::spawn(move || server.run(&mut service).expect("a server that runs"));
    for _ in std::io::stdin().lock().lines() {
        println!("{} {} {}", resident_bytes(), cpu_s(), open.load(Ordering::Relaxed));
    }
}

/// Processor time of this process.
fn cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// A server in another process.
struct Far {
    process: Child,
    ask: ChildStdin,
    said: Lines<BufReader<ChildStdout>>,
    address: SocketAddr,
    pin: String,
}

#[derive(Clone, Copy)]
struct Load {
    bytes: u64,
    cpu_s: f64,
    connections: usize,
}

impl Far {
    fn start(connections: usize) -> Self {
        let program = std::env::current_exe().expect("this program");
        let mut process = Command::new(program)
            .args(["serve".to_owned(), connections.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the same program once more");
        let ask = process.stdin.take().expect("a pipe");
        let mut said = BufReader::new(process.stdout.take().expect("a pipe")).lines();
        let place = said.next().expect("a line of the server").expect("text");
        let (address, pin) = place.split_once(' ').expect("an address and a fingerprint");
        let (address, pin) = (address.parse().expect("an address"), pin.to_owned());
        Self { process, ask, said, address, pin }
    }

    fn load(&mut self) -> Load {
        writeln!(self.ask, "?").expect("the server");
        let said = self.said.next().expect("a line of the server").expect("text");
        let words: Vec<&str> = said.split(' ').collect();
        let [bytes, cpu_s, connections] = words[..] else { panic!("{said}") };
        Load {
            bytes: bytes.parse().expect("bytes"),
            cpu_s: cpu_s.parse().expect("seconds"),
            connections: connections.parse().expect("connections"),
        }
    }
}

// ---- the clients --------------------------------------------------------------------------------

fn is_refused(client: &RawClient) -> bool {
    const REFUSED: u64 = Code::ConnectionRefused as u64;
    let refused = |event: &Event| {
        matches!(event, Event::Closed(Closed::PeerTransport(REFUSED, _)))
            || matches!(event, Event::Closed(Closed::PeerApplication(..)))
    };
    client.events.iter().any(refused)
}

/// Lets all do what there is to do now: whether there was anything.
fn turn(clients: &mut [RawClient]) -> bool {
    let mut any = false;
    for client in clients {
        any |= client.turn();
    }
    any
}

/// Lets the clients answer all that the server has to say after its handshakes, until it falls silent.
fn settle(clients: &mut [RawClient]) {
    let mut silent_since = std::time::Instant::now();
    while Duration::from(silent_since.elapsed()) < SILENCE {
        if turn(clients) {
            silent_since = std::time::Instant::now();
        }
        std::thread::sleep(PAUSE.into());
    }
}

/// Connects `count` more clients; returns the median milliseconds a handshake took.
fn connect(clients: &mut Vec<RawClient>, far: &Far, count: usize) -> f64 {
    let mut times = Vec::new();
    let most = clients.len() + count;
    while clients.len() < most {
        let begin = std::time::Instant::now();
        let more = AT_A_TIME.min(most - clients.len());
        let client = |n| {
            let seed = (clients.len() + n) as u64;
            RawClient::new(far.address, far.address.ip(), config(role(&far.pin)), seed)
        };
        let mut fresh: Vec<RawClient> = (0..more).map(client).collect();
        let is_settled = |client: &RawClient| client.endpoint.is_connected() || is_refused(client);
        run(&mut fresh, |all| all.iter().all(is_settled));
        times.push(begin.elapsed().as_secs_f64() * 1e3 / more as f64);
        clients.append(&mut fresh);
        // Who is not heard is sent everything again, and costs the server what no quiet client does.
        turn(clients);
    }
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// The server's processor seconds a second while the clients do what they do by themselves.
fn rest(clients: &mut [RawClient], far: &mut Far, seconds: usize) -> f64 {
    let length = Duration::from_secs(seconds as u64);
    let (begin, before) = (std::time::Instant::now(), far.load());
    while Duration::from(begin.elapsed()) < length {
        turn(clients);
        std::thread::sleep(PAUSE.into());
    }
    let elapsed = begin.elapsed().as_secs_f64();
    (far.load().cpu_s - before.cpu_s) / elapsed
}

fn measure(count: usize, beyond: usize, seconds: usize) {
    let mut far = Far::start(count);
    let before = far.load();
    let mut clients = Vec::new();
    let accept_ms = connect(&mut clients, &far, count);
    // The last handshakes are complete at the server, too.
    let mut settled = far.load();
    while settled.connections < count {
        turn(&mut clients);
        settled = far.load();
    }
    settle(&mut clients);
    let settled = far.load();
    connect(&mut clients, &far, beyond);
    let refused = clients.iter().filter(|client| is_refused(client)).count();
    clients.retain(|client| !is_refused(client));
    settle(&mut clients);
    let silent = rest(&mut clients, &mut far, seconds);
    for client in &mut clients {
        client.say(true, b"?", false); // from now on it reads, and shows that it is there
    }
    let kept = rest(&mut clients, &mut far, seconds.max(2 * KEEP_ALIVE.as_secs() as usize));
    let after = far.load();
    println!(
        "{{\"connections_held\": {}, \"connections_refused\": {refused}, \"connection_kb\": {:.1}, \
         \"accept_ms\": {accept_ms:.3}, \"silent_cpu_s_per_s\": {silent:.4}, \
         \"kept_alive_cpu_s_per_s\": {kept:.4}}}",
        after.connections,
        (settled.bytes - before.bytes) as f64 / settled.connections as f64 / 1e3,
    );
    drop(far.ask);
    far.process.wait().ok();
}
