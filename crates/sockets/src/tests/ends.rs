//! A server in a thread, and what a client needs to reach it.

use crate::*;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use units::Duration;

/// A folder of its own for a test, which is removed with it.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let folder =
            std::env::temp_dir().join(format!("skyweave-sockets-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

pub struct Running {
    pub address: SocketAddr,
    pub pin: String,
    stop: Arc<AtomicBool>,
    most_connections: Arc<AtomicUsize>,
    thread: Option<JoinHandle<Vec<Served>>>,
}

pub fn local(last: u8) -> IpAddr {
    Ipv4Addr::new(127, 0, 0, last).into()
}

pub fn server_config(role: mpquic::Role, options: &Options) -> ServerConfig {
    ServerConfig {
        endpoint: options.config(role).unwrap(),
        scheduler: options.scheduler.clone().into(),
        qlog: options.qlog.clone(),
        limits: Limits { half_open: 8, ..Limits::of(16) },
        retry: RetryPolicy::default(),
        clock: Clock::start(),
    }
}

/// Serves `root` until it is dropped.
pub fn serve(root: &Path, options: &Options) -> Running {
    serve_at(SocketAddr::new(local(1), 0), root, |role| server_config(role, options))
}

/// The same, listening on `listen`; `config` makes the server's configuration.
pub fn serve_at(
    listen: SocketAddr,
    root: &Path,
    config: impl FnOnce(mpquic::Role) -> ServerConfig,
) -> Running {
    serve_aware(listen, root, Hints::default(), config)
}

/// The same, with connections that take forecasts from a board of hints.
pub fn serve_aware(
    listen: SocketAddr,
    root: &Path,
    hints: Hints,
    config: impl FnOnce(mpquic::Role) -> ServerConfig,
) -> Running {
    let identity = Identity::self_signed(&["localhost".into(), "127.0.0.1".into()]).unwrap();
    serve_all(&identity, listen, (root, None), hints, config)
}

/// The same with a certificate that others may have had, and for those who bear a token.
pub fn serve_as(
    identity: &Identity,
    listen: SocketAddr,
    files: (&Path, Option<&str>),
    config: impl FnOnce(mpquic::Role) -> ServerConfig,
) -> Running {
    serve_all(identity, listen, files, Hints::default(), config)
}

fn serve_all(
    identity: &Identity,
    listen: SocketAddr,
    (root, token): (&Path, Option<&str>),
    hints: Hints,
    config: impl FnOnce(mpquic::Role) -> ServerConfig,
) -> Running {
    let role = identity.role_of(&[H3, HQ_INTEROP]).unwrap();
    let mut server = Server::bind(listen, config(role)).unwrap();
    let address = SocketAddr::new(listen.ip(), server.port());
    let stop = Arc::new(AtomicBool::new(false));
    let most_connections = Arc::new(AtomicUsize::new(0));
    let (stops, most, root) = (stop.clone(), most_connections.clone(), root.to_owned());
    let token = token.map(str::to_owned);
    let thread = std::thread::spawn(move || {
        let mut seen = Vec::new();
        let mut files = Files::new(&root, false, |news: &[Served], connections| {
            seen.extend_from_slice(news);
            most.fetch_max(connections, Ordering::Relaxed);
            !stops.load(Ordering::Relaxed)
        })
        .unwrap();
        if let Some(token) = token {
            files = files.guarded(&token).unwrap();
        }
        let mut service = AwareService::new(files, hints);
        server.run(&mut service).unwrap();
        drop(service);
        seen
    });
    let (pin, thread) = (identity.fingerprint(), Some(thread));
    Running { address, pin, stop, most_connections, thread }
}

impl Running {
    /// Ends the server: what it saw.
    pub fn end(self) -> Vec<Served> {
        self.end_counted().0
    }

    /// The same, and the most connections that were seen at a time, those of the end among them.
    pub fn end_counted(mut self) -> (Vec<Served>, usize) {
        self.stop.store(true, Ordering::Relaxed);
        let seen = self.thread.take().unwrap().join().unwrap();
        (seen, self.most_connections.load(Ordering::Relaxed))
    }

    pub fn fetch(&self, path: &str, out: &Path) -> Fetch {
        Fetch {
            host: self.address.ip().to_string(),
            port: self.address.port(),
            path: path.into(),
            out: out.to_owned(),
            locals: vec![Local::Address(local(1))],
            anchor: Anchor::pin(&self.pin).unwrap(),
            patience: Duration::from_secs(120), // fails by then
            persistence: Duration::ZERO,
            more: More::default(),
            options: Options::default(),
            hints: Hints::default(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

/// Bytes that repeat nowhere within a packet's length.
pub fn content(bytes: usize) -> Vec<u8> {
    (0..bytes as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}
