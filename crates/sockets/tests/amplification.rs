//! What a server sends to an address that is not proven: at most three times what came from there
//! (RFC 9000 §8.1), and no more than came for what begins no connection. What a connection
//! retransmits later is tested in virtual time (`a_server_never_amplifies` in `crates/mpquic`).

mod raw_client;

use mpquic::{Config, Endpoint};
use raw_client::{FileServer, Folder, role};
use sockets::{Limits, RetryPolicy};
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use units::{Instant, PathId};

const ROUNDS: usize = 200;

/// An address that sends and never answers what comes.
struct Spoofed {
    socket: UdpSocket,
    sent: usize,
    came: usize,
}

impl Spoofed {
    fn new(server: SocketAddr) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(server).unwrap();
        socket.set_nonblocking(true).unwrap();
        Self { socket, sent: 0, came: 0 }
    }

    fn send(&mut self, datagram: &[u8]) {
        self.sent += self.socket.send(datagram).unwrap();
    }

    /// Counts what is there.
    fn count(&mut self) {
        let mut space = [0; 2048];
        loop {
            match self.socket.recv(&mut space) {
                Ok(len) => self.came += len,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// Waits until the server has looked at all that was sent: it answers a strange version, if it has not
/// answered too much in that turn.
fn pass(probe: &UdpSocket) {
    let mut strange = vec![0xc0, 0xba, 0xba, 0xba, 0xba, 8];
    strange.extend([1; 8]);
    strange.extend([8, 2, 2, 2, 2, 2, 2, 2, 2]);
    strange.resize(1200, 0);
    loop {
        probe.send(&strange).unwrap();
        if probe.recv(&mut [0; 2048]).is_ok() {
            return;
        }
    }
}

fn probe(server: SocketAddr) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(server).unwrap();
    socket.set_read_timeout(Some(std::time::Duration::from_millis(20))).unwrap();
    socket
}

/// The first flight of a new client.
fn flight(pin: &str, seed: u64) -> Vec<Vec<u8>> {
    let scheduler = scheduler::build(&scheduler::Algorithm::MinRtt.into());
    let at = (Instant::ZERO, PathId(0));
    let mut client = Endpoint::new(Config::new(role(pin)), scheduler, at, seed).unwrap();
    std::iter::from_fn(|| client.poll_transmit(Instant::ZERO))
        .map(|(_, datagram)| datagram)
        .collect()
}

/// Numbers that look random and are the same each time (the constants are Knuth's MMIX).
fn next(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize
}

#[test]
fn nobody_gets_more_than_three_times_what_it_sent() {
    let few = Limits { half_open: 8, ..Limits::of(8) };
    let folder = Folder::new("amplification");
    for (seed, retry) in
        [RetryPolicy::Always, RetryPolicy::Busy, RetryPolicy::Never].into_iter().enumerate()
    {
        let server = FileServer::start_with(&folder.0, few, retry);
        let (mut spoofed, probe) = (Spoofed::new(server.address), probe(server.address));
        let mut state = seed as u64;
        for round in 0..ROUNDS {
            for mut datagram in flight(&server.pin, (seed * ROUNDS + round) as u64) {
                match next(&mut state) % 4 {
                    0 => {
                        let at = next(&mut state) % datagram.len();
                        datagram[at] ^= 1 << (next(&mut state) % 8);
                    }
                    1 => datagram.truncate(1 + next(&mut state) % 1400),
                    2 => spoofed.send(&datagram), // twice
                    _ => {}
                }
                spoofed.send(&datagram);
            }
            pass(&probe);
            spoofed.count();
            let Spoofed { sent, came, .. } = spoofed;
            assert!(came <= 3 * sent, "{came} bytes for {sent}, {retry:?}");
        }
        assert!(spoofed.came > 0);
    }
}

#[test]
fn what_begins_no_connection_gets_no_more_than_it_sent() {
    let folder = Folder::new("reflection");
    let server = FileServer::start_with(&folder.0, Limits::of(8), RetryPolicy::Always);
    let (mut spoofed, probe) = (Spoofed::new(server.address), probe(server.address));
    let mut state = 7;
    for _ in 0..ROUNDS {
        for _ in 0..10 {
            let len = 1 + next(&mut state) % 1400;
            let mut garbage: Vec<u8> = (0..len).map(|_| next(&mut state) as u8).collect();
            if next(&mut state).is_multiple_of(2) {
                garbage[0] = garbage[0] & 0x3f | 0x40; // a short header: a reset may answer
            }
            spoofed.send(&garbage);
        }
        // With Retry, first flights count here, too: each is answered by a smaller datagram.
        flight(&server.pin, next(&mut state) as u64).iter().for_each(|first| spoofed.send(first));
        pass(&probe);
        spoofed.count();
        assert!(spoofed.came <= spoofed.sent, "{} bytes for {}", spoofed.came, spoofed.sent);
    }
    assert!(spoofed.came > 0);
}
