//! What a server answers to datagrams that belong to no connection.

use super::ends::{Folder, content, serve, server_config};
use super::tls;
use crate::*;
use mpquic::wire::{Kind, parse};
use mpquic::{Config, Endpoint, LOCAL_CID_BYTES, Role};
use rustls::pki_types::ServerName;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use units::{Instant, PathId};

use mpquic::rustls;

pub fn socket(server: SocketAddr) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(server).unwrap();
    socket
}

pub fn answer(socket: &UdpSocket) -> Vec<u8> {
    let mut space = [0; 2048];
    let len = socket.recv(&mut space).unwrap();
    space[..len].to_vec()
}

/// A long header of a version that nobody speaks.
pub fn of_another_version() -> Vec<u8> {
    let mut datagram = vec![0xc0, 0xba, 0xba, 0xba, 0xba, 8];
    datagram.extend([1; 8]);
    datagram.extend([8, 2, 2, 2, 2, 2, 2, 2, 2]);
    datagram.resize(1200, 0);
    datagram
}

pub fn initial(server: &str) -> Vec<u8> {
    let role = Role::Client {
        tls: Arc::new(tls::client(server)),
        server_name: ServerName::try_from("localhost").unwrap(),
    };
    let scheduler = scheduler::build(&scheduler::Algorithm::MinRtt.into());
    let at = (Instant::ZERO, PathId(0));
    let seed = crate::tls::random_u64();
    let mut client = Endpoint::new(Config::new(role), scheduler, at, seed).unwrap();
    client.poll_transmit(Instant::ZERO).unwrap().1
}

#[test]
fn strangers_get_what_the_rfc_says_and_leave_no_state() {
    let folder = Folder::new("strangers");
    std::fs::write(folder.0.join("file"), content(1000)).unwrap();
    let server = serve(&folder.0, &Options::default());
    let stranger = socket(server.address);

    // RFC 9000 §6.1: the versions that there are.
    stranger.send(&of_another_version()).unwrap();
    let header = parse(&answer(&stranger), LOCAL_CID_BYTES).unwrap();
    assert_eq!((header.kind, &header.token[..]), (Kind::VersionNegotiation, &[0, 0, 0, 1][..]));
    assert_eq!((header.dcid.as_slice(), header.scid.as_slice()), (&[2; 8][..], &[1; 8][..]));

    // RFC 9000 §10.3: a stateless reset for a packet of a connection that is not known.
    let mut short = vec![0x40; 60];
    short[1..9].copy_from_slice(&[9; 8]);
    stranger.send(&short).unwrap();
    let reset = answer(&stranger);
    assert!(reset.len() < short.len() && reset.len() >= 21, "{}", reset.len());

    // Neither a first packet that does not decrypt, nor one that is too short, nor noise is
    // answered; what comes after them is, so they were seen before.
    let mut broken = initial(&server.pin);
    *broken.last_mut().unwrap() ^= 1;
    let mut small = initial(&server.pin);
    small.truncate(1100);
    for noise in [&broken[..], &small, &[0x00; 40], &[0xff; 1100], &[0x40], b""] {
        stranger.send(noise).unwrap();
    }
    stranger.send(&of_another_version()).unwrap();
    let header = parse(&answer(&stranger), LOCAL_CID_BYTES).unwrap();
    assert_eq!(header.kind, Kind::VersionNegotiation);

    let fetch = server.fetch("/file", &folder.0.join("out"));
    assert_eq!(crate::fetch(&fetch, |_| true).unwrap().bytes, 1000);
    let opened = server.end().into_iter().filter(|one| matches!(one, Served::Opened(_)));
    assert_eq!(opened.count(), 1);
}

#[test]
fn handshakes_under_way_are_few() {
    const MOST: usize = 3;
    struct Nothing(Arc<std::sync::atomic::AtomicBool>);
    impl Service for Nothing {
        fn open(&mut self, _: Instant, _: SocketAddr) -> Box<dyn Session> {
            unreachable!("nobody completes a handshake here")
        }
        fn due(&self) -> Instant {
            Instant::ZERO
        }
        fn look(&mut self, _: Instant, connections: usize) -> bool {
            assert!(connections <= MOST);
            !self.0.load(std::sync::atomic::Ordering::Relaxed)
        }
    }
    let identity = Identity::self_signed(&["localhost".into()]).unwrap();
    let options = Options::default();
    let mut config = server_config(identity.role(HQ_INTEROP).unwrap(), &options);
    config.limits.half_open = MOST;
    config.retry = RetryPolicy::Never;
    let mut server = Server::bind("127.0.0.1:0".parse().unwrap(), config).unwrap();
    let address = SocketAddr::new(super::ends::local(1), server.port());
    let over = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let mut service = Nothing(over.clone());
    let thread = std::thread::spawn(move || server.run(&mut service).unwrap());

    let clients: Vec<UdpSocket> = (0..=MOST).map(|_| socket(address)).collect();
    for client in &clients[..MOST] {
        client.send(&initial(&identity.fingerprint())).unwrap();
        assert!(answer(client).len() >= 1200);
    }
    clients[MOST].send(&initial(&identity.fingerprint())).unwrap();
    let refused = answer(&clients[MOST]);
    let header = parse(&refused, LOCAL_CID_BYTES).unwrap();
    assert_eq!((header.kind, refused.len() < 100), (Kind::Initial, true)); // CONNECTION_REFUSED
    over.store(true, std::sync::atomic::Ordering::Relaxed);
    thread.join().unwrap();
}
