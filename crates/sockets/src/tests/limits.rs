//! Clients that take all the room there is, and those beside them.

use super::ends::{Folder, Running, content, local, serve_at, server_config};
use crate::*;
use mpquic::Endpoint;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use units::{Duration, Instant};

/// A client that is content with a connection.
struct Content;

impl Session for Content {
    fn work(&mut self, _: Instant, _: &mut Endpoint, _: &[mpquic::Event]) -> Status {
        Status::Working
    }
}

fn connect(server: (SocketAddr, &str), from: IpAddr) -> Result<Client, SocketError> {
    let trust = Trust::new(&Anchor::pin(server.1).unwrap()).unwrap();
    let role = trust.role("127.0.0.1", HQ_INTEROP).unwrap();
    let config = ClientConfig {
        servers: vec![server.0],
        name: "the server".into(),
        paths: vec![Local::Address(from)],
        backups: Vec::new(),
        endpoint: Options::default().config(role).unwrap(),
        trust,
        scheduler: scheduler::Choice::from(scheduler::Algorithm::MinRtt).into(),
        qlog: None,
        patience: Duration::from_secs(60),
        clock: Clock::start(),
    };
    Client::connect(config, &mut Content)
}

fn serve(folder: &Folder, limits: Limits, retry: RetryPolicy) -> Running {
    std::fs::write(folder.0.join("file"), content(1000)).unwrap();
    serve_at(SocketAddr::new(local(1), 0), &folder.0, |role| ServerConfig {
        limits,
        retry,
        ..server_config(role, &Options::default())
    })
}

fn from(net: u8, host: u8) -> IpAddr {
    [127, 0, net, host].into()
}

#[test]
fn one_host_does_not_shut_the_others_out() {
    let limits = Limits { connections: 64, half_open: 16, per_address: 4, per_network: 6 };
    for retry in [RetryPolicy::Never, RetryPolicy::Busy, RetryPolicy::Always] {
        let folder = Folder::new(&format!("host-{retry:?}"));
        let server = serve(&folder, limits, retry);
        let address = (server.address, &server.pin[..]);
        let mut held = Vec::new();
        let mut hold = |from, times| {
            for _ in 0..times {
                held.push(connect(address, from).unwrap());
            }
            // One more is refused at once.
            let refused = connect(address, from).err();
            assert!(matches!(refused, Some(SocketError::Busy)), "{refused:?}");
        };
        hold(from(0, 1), 4);
        hold(from(0, 2), 2); // then the network is full
        let mut fetch = server.fetch("/file", &folder.0.join("out"));
        fetch.locals = vec![Local::Address(from(1, 1))];
        assert_eq!(crate::fetch(&fetch, |_| true).unwrap().bytes, 1000);
    }
}

/// Sessions that are idle or busy from the beginning.
struct Waiting {
    idle: bool,
    over: Arc<AtomicBool>,
    open: Arc<AtomicUsize>,
    closed: Arc<AtomicUsize>,
}

struct Idle(bool);

impl Session for Idle {
    fn work(&mut self, _: Instant, _: &mut Endpoint, _: &[mpquic::Event]) -> Status {
        Status::Working
    }
    fn idle_since(&self) -> Option<Instant> {
        self.0.then_some(Instant::ZERO)
    }
}

impl Service for Waiting {
    fn open(&mut self, _: Instant, _: SocketAddr) -> Box<dyn Session> {
        self.open.fetch_add(1, Ordering::Relaxed);
        Box::new(Idle(self.idle))
    }
    fn closed(&mut self, _: SocketAddr, _: &mpquic::Closed) {
        self.closed.fetch_add(1, Ordering::Relaxed);
    }
    fn due(&self) -> Instant {
        Instant::ZERO
    }
    fn look(&mut self, _: Instant, _: usize) -> bool {
        !self.over.load(Ordering::Relaxed)
    }
}

#[test]
fn who_is_idle_makes_room_and_who_is_busy_does_not() {
    for idle in [true, false] {
        let identity = Identity::self_signed(&["localhost".into()]).unwrap();
        let role = identity.role(HQ_INTEROP).unwrap();
        let mut config = server_config(role, &Options::default());
        config.limits = Limits { connections: 3, half_open: 8, ..Limits::of(100) };
        // The server is ten seconds old: who was idle ever since was so for long enough.
        config.clock = Clock::since(monotonic_ns() - 10_000_000_000);
        let mut server = Server::bind("127.0.0.1:0".parse().unwrap(), config).unwrap();
        let (address, pin) = (SocketAddr::new(local(1), server.port()), identity.fingerprint());
        let over = Arc::new(AtomicBool::new(false));
        let (open, closed) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        let mut service =
            Waiting { idle, over: over.clone(), open: open.clone(), closed: closed.clone() };
        let thread = std::thread::spawn(move || server.run(&mut service).unwrap());
        let mut held: Vec<Client> =
            (0..3).map(|_| connect((address, &pin), local(1)).unwrap()).collect();
        // The server hears of a handshake's end after the client.
        let wait = |clients| {
            while open.load(Ordering::Relaxed) < clients {
                std::thread::yield_now();
            }
        };
        wait(3);
        let fourth = connect((address, &pin), local(1));
        if idle {
            held.push(fourth.unwrap());
            wait(4);
        } else {
            let refused = fourth.err();
            assert!(matches!(refused, Some(SocketError::Busy)), "{refused:?}");
        }
        over.store(true, Ordering::Relaxed);
        thread.join().unwrap();
        let counts = (open.load(Ordering::Relaxed), closed.load(Ordering::Relaxed));
        assert_eq!(counts, if idle { (4, 1) } else { (3, 0) });
    }
}
