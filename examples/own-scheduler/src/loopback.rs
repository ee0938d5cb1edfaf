use scheduler::Factory;
use sockets::{
    Anchor, Client, ClientConfig, Clock, Files, Get, H3, Identity, Limits, Local, Options, Order,
    PathReport, RetryPolicy, Server, ServerConfig, SocketError, Trust,
};
use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use units::Duration;

const SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 1));
const SECOND: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));

/// Serves `folder` and fetches `name` from it into `out`, with real sockets over two paths of the
/// loopback interface; both ends ask a scheduler of `factory`. The client's paths, when all has come.
///
/// # Errors
/// What the system refuses, or a file that is not there.
pub fn fetched(
    folder: &Path,
    name: &str,
    out: &Path,
    factory: &Factory,
) -> Result<Vec<PathReport>, Box<dyn Error>> {
    let identity = Identity::self_signed(&[SERVER.to_string()])?;
    let config = ServerConfig {
        endpoint: Options::default().config(identity.role(H3)?)?,
        scheduler: factory.clone(),
        qlog: None,
        limits: Limits::of(4),
        retry: RetryPolicy::default(),
        clock: Clock::start(),
    };
    let mut server = Server::bind(SocketAddr::new(SERVER, 0), config)?;
    let address = SocketAddr::new(SERVER, server.port());
    let done = AtomicBool::new(false);
    let mut files = Files::new(folder, false, |_, _| !done.load(Ordering::Relaxed))?;
    std::thread::scope(|scope| {
        let client = scope.spawn(|| {
            let paths = fetch(address, &identity.fingerprint(), name, out, factory);
            done.store(true, Ordering::Relaxed);
            paths
        });
        server.run(&mut files)?;
        Ok(client.join().map_err(|_| "the client panicked")??)
    })
}

fn fetch(
    server: SocketAddr,
    pin: &str,
    name: &str,
    out: &Path,
    factory: &Factory,
) -> Result<Vec<PathReport>, SocketError> {
    let trust = Trust::new(&Anchor::pin(pin)?)?;
    let config = ClientConfig {
        servers: vec![server],
        name: server.to_string(),
        paths: vec![Local::Address(SERVER), Local::Address(SECOND)],
        backups: Vec::new(),
        endpoint: Options::default().config(trust.role(&SERVER.to_string(), H3)?)?,
        trust,
        scheduler: factory.clone(),
        qlog: None,
        patience: Duration::from_secs(10),
        clock: Clock::start(),
    };
    let order = Order {
        path: format!("/{}", name.trim_start_matches('/')),
        authority: server.to_string(),
        out: out.to_owned(),
        ..Order::default()
    };
    let mut get = Get::new(order, |_| true)?;
    let mut client = Client::connect(config, &mut get)?;
    let closed = client.run(&mut get)?;
    get.outcome().unwrap_or_else(|| Err(client.error(&closed)))?;
    Ok(client.reports())
}
