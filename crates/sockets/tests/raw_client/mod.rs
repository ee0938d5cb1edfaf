//! Clients without an application, which do with their connection what nobody should.

#![allow(dead_code)] // each test uses a part

pub mod apart;
pub mod far;
pub mod held;
pub mod holding;

use held::Held;
use mpquic::{Config, Endpoint, Event, Role};
use sockets::{
    Anchor, Clock, Files, H3, HQ_INTEROP, Identity, Options, Served, Server, ServerConfig, Trust,
};
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use units::{Instant, PathId};

/// A connection on a socket of its own.
pub struct RawClient {
    pub endpoint: Endpoint,
    pub events: Vec<Event>,
    socket: UdpSocket,
    clock: Clock,
}

pub fn role(pin: &str) -> Role {
    role_for(pin, HQ_INTEROP)
}

/// A client's role, for this protocol.
pub fn role_for(pin: &str, alpn: &[u8]) -> Role {
    Trust::new(&Anchor::pin(pin).unwrap()).unwrap().role("localhost", alpn).unwrap()
}

impl RawClient {
    pub fn new(server: SocketAddr, from: IpAddr, config: Config, seed: u64) -> Self {
        let socket = UdpSocket::bind((from, 0)).unwrap();
        socket.connect(server).unwrap();
        socket.set_nonblocking(true).unwrap();
        let clock = Clock::start();
        let scheduler = scheduler::build(&scheduler::Algorithm::MinRtt.into());
        let endpoint = Endpoint::new(config, scheduler, (clock.now(), PathId(0)), seed).unwrap();
        Self { endpoint, events: Vec::new(), socket, clock }
    }

    /// Does what there is to do now: false when that was nothing.
    pub fn turn(&mut self) -> bool {
        let (now, mut any, mut space) = (self.clock.now(), false, [0; 2048]);
        loop {
            match self.socket.recv(&mut space) {
                Ok(len) => self.endpoint.handle(now, PathId(0), space[..len].to_vec(), None),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => continue, // a port that was unreachable before
            }
            any = true;
        }
        any | self.send()
    }

    /// Sends what there is: false when that was nothing.
    fn send(&mut self) -> bool {
        let (now, mut any) = (self.clock.now(), false);
        if self.endpoint.poll_timeout().is_some_and(|at| at <= now) {
            self.endpoint.on_timeout(now);
        }
        while let Some((_, datagram)) = self.endpoint.poll_transmit(now) {
            self.socket.send(&datagram).ok(); // lost, as packets are
            any = true;
        }
        self.events.append(&mut self.endpoint.take_events());
        any
    }

    /// Opens a stream and sends `data` on it, with an end or without: its number.
    pub fn say(&mut self, bidi: bool, data: &[u8], ends: bool) -> u64 {
        let stream = self.endpoint.open_stream(bidi).unwrap();
        assert_eq!(self.endpoint.write(stream, data), Ok(data.len()));
        if ends {
            self.endpoint.finish(stream).unwrap();
        }
        stream
    }

    pub fn now(&self) -> Instant {
        self.clock.now()
    }
}

/// Lets all clients act until `done`.
pub fn run(clients: &mut [RawClient], mut done: impl FnMut(&[RawClient]) -> bool) {
    while !done(clients) {
        let mut any = false;
        for client in &mut *clients {
            any |= client.turn();
        }
        if !any {
            std::thread::yield_now();
        }
    }
}

/// A server of files in a thread.
pub struct FileServer {
    pub address: SocketAddr,
    pub pin: String,
    pub seen: Arc<Mutex<Vec<Served>>>,
    /// Bytes written to clients and not acknowledged.
    pub held: Arc<AtomicU64>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl FileServer {
    pub fn start(root: &Path, limits: sockets::Limits) -> Self {
        Self::start_with(root, limits, sockets::RetryPolicy::Busy)
    }

    pub fn start_with(root: &Path, limits: sockets::Limits, retry: sockets::RetryPolicy) -> Self {
        let identity = Identity::self_signed(&["localhost".into()]).unwrap();
        let options = Options::default();
        let mut endpoint = options.config(identity.role_of(&[H3, HQ_INTEROP]).unwrap()).unwrap();
        sockets::bound_for_files(&mut endpoint);
        let config = ServerConfig {
            endpoint,
            scheduler: options.scheduler.clone().into(),
            qlog: None,
            limits,
            retry,
            clock: Clock::start(),
        };
        let mut server = Server::bind("127.0.0.1:0".parse().unwrap(), config).unwrap();
        let address = SocketAddr::new("127.0.0.1".parse().unwrap(), server.port());
        let (seen, over) = (Arc::<Mutex<Vec<Served>>>::default(), Arc::new(AtomicBool::new(false)));
        let (news, stop, root) = (seen.clone(), over.clone(), root.to_owned());
        let held = Arc::<AtomicU64>::default();
        let bytes = held.clone();
        let thread = std::thread::spawn(move || {
            let service = Files::new(&root, false, |served: &[Served], _| {
                news.lock().unwrap().extend_from_slice(served);
                !stop.load(Ordering::Relaxed)
            })
            .unwrap();
            server.run(&mut Held { service, bytes }).unwrap();
        });
        Self { address, pin: identity.fingerprint(), seen, held, over, thread: Some(thread) }
    }

    pub fn count(&self, which: impl Fn(&Served) -> bool) -> usize {
        self.seen.lock().unwrap().iter().filter(|one| which(one)).count()
    }
}

impl Drop for FileServer {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

/// A folder of its own, removed with it.
pub struct Folder(pub std::path::PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let name = format!("skyweave-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

/// Resident memory of this process, in bytes (proc(5)).
pub fn resident_bytes() -> u64 {
    let words = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = words.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}
