//! Handshakes that are never meant to end, and Retry, which costs nothing to answer.

use super::noq::Noq;
use super::tls;
use super::world::*;
use crate::wire::{ConnectionId, Kind, parse};
use crate::*;
use proptest::prelude::*;
use units::{Duration, Instant, PathId};

fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

// ---- Retry ---------------------------------------------------------------------------------------

const HOME: &[u8] = b"192.0.2.1:4433";
const ELSEWHERE: &[u8] = b"192.0.2.2:4433";

fn issuer() -> Retry {
    Retry::new(&[9; 32], Duration::from_secs(5))
}

fn first_datagram() -> Vec<u8> {
    Own::client(0, |_| {}).endpoint.poll_transmit(Instant::ZERO).unwrap().1
}

/// A server that keeps nothing before an address is proven.
struct Listener {
    retry: Retry,
    bytes: u64,
    own: Option<Own>,
    answers: Vec<(PathId, Vec<u8>)>,
    idle: Bulk,
}

impl Listener {
    fn new(bytes: u64) -> Self {
        let idle = Bulk::sending(bytes);
        Self { retry: issuer(), bytes, own: None, answers: Vec::new(), idle }
    }
}

impl Host for Listener {
    fn handle(&mut self, now: Instant, net: PathId, datagram: Vec<u8>) {
        if self.own.is_none() {
            match self.retry.check(now, HOME, &datagram) {
                Token::Valid(retried) => {
                    self.own =
                        Some(Own::server(self.bytes, |config| config.retried = Some(retried)));
                }
                Token::Absent => {
                    let answer = self.retry.issue(now, HOME, &datagram, [0x5a; 9]);
                    self.answers.extend(answer.map(|answer| (net, answer)));
                }
                Token::Invalid => {}
            }
        }
        if let Some(own) = &mut self.own {
            own.handle(now, net, datagram);
        }
    }

    fn transmit(&mut self, now: Instant) -> Option<(PathId, Vec<u8>)> {
        self.answers.pop().or_else(|| self.own.as_mut()?.transmit(now))
    }

    fn timeout(&self) -> Option<Instant> {
        self.own.as_ref()?.timeout()
    }

    fn on_timeout(&mut self, now: Instant) {
        if let Some(own) = &mut self.own {
            own.on_timeout(now);
        }
    }

    fn work(&mut self, now: Instant) {
        if let Some(own) = &mut self.own {
            own.work(now);
        }
    }

    fn bulk(&self) -> &Bulk {
        self.own.as_ref().map_or(&self.idle, |own| &own.bulk)
    }
}

#[test]
fn our_client_and_noq_prove_their_address_to_our_retry() {
    let link = || vec![Link { loss: 20, ..Link::new(50.0, 10) }];
    World::new(Own::client(300_000, |_| {}), Listener::new(300_000), link(), 1).transfer(20);
    World::new(Noq::client(300_000, 1), Listener::new(300_000), link(), 2).transfer(20);
}

#[test]
fn a_token_is_good_for_its_address_its_time_and_its_packet() {
    let mut client = Own::client(0, |_| {});
    let (_, first) = client.endpoint.poll_transmit(ms(0)).unwrap();
    let original = parse(&first, 8).unwrap().dcid;
    assert_eq!(issuer().check(ms(0), HOME, &first), Token::Absent);
    let retry = issuer().issue(ms(0), HOME, &first, [3; 9]).unwrap();
    assert!(retry.len() * 3 < first.len(), "{} bytes", retry.len());
    client.endpoint.handle(ms(20), PathId(0), retry, None);
    let (_, second) = client.endpoint.poll_transmit(ms(20)).unwrap();
    let retry_scid = ConnectionId::new(&[3; 8]).unwrap();
    let valid = Token::Valid(Retried { original_dcid: original, retry_scid });
    assert_eq!(issuer().check(ms(20), HOME, &second), valid);
    assert_eq!(issuer().check(ms(4_999), HOME, &second), valid);
    assert_eq!(issuer().check(ms(5_000), HOME, &second), Token::Invalid);
    assert_eq!(issuer().check(ms(20), ELSEWHERE, &second), Token::Invalid);
    let other = Retry::new(&[8; 32], Duration::from_secs(5));
    assert_eq!(other.check(ms(20), HOME, &second), Token::Invalid);
    // Type, version, destination and token lie in the first 72 bytes; the client's own ID between
    // them means nothing to the token.
    let scid_at = 7 + 8;
    for at in (0..72).filter(|at| !(scid_at..scid_at + 8).contains(at)) {
        let mut changed = second.clone();
        changed[at] ^= 0x20;
        assert_ne!(issuer().check(ms(20), HOME, &changed), valid, "byte {at}");
    }
}

#[test]
fn nothing_but_a_full_first_initial_gets_a_retry() {
    let first = first_datagram();
    let issue = |datagram: &[u8]| issuer().issue(ms(0), HOME, datagram, [3; 9]);
    let answer = issue(&first).unwrap();
    assert_eq!(parse(&answer, 8).unwrap().kind, Kind::Retry);
    assert_eq!(issue(&first[..1199]), None);
    assert_eq!(issue(&answer), None);
    assert_eq!(issue(&[0x40; 1200]), None);
    let mut same = [0; 9];
    same[..8].copy_from_slice(parse(&first, 8).unwrap().dcid.as_slice());
    assert_eq!(issuer().issue(ms(0), HOME, &first, same), None);
}

#[test]
fn a_server_that_retried_takes_only_the_packet_with_the_token() {
    let first = first_datagram();
    let retried = Retried {
        original_dcid: parse(&first, 8).unwrap().dcid,
        retry_scid: ConnectionId::new(&[3; 8]).unwrap(),
    };
    let mut server = Own::server(0, |config| config.retried = Some(retried));
    server.endpoint.handle(ms(0), PathId(0), first, None);
    assert!(server.endpoint.poll_transmit(ms(0)).is_none());
}

proptest! {
    #[test]
    fn made_up_tokens_are_never_valid(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        pads in any::<bool>(),
        now in 0_u64..10_000,
    ) {
        let mut datagram = vec![0xc0, 0, 0, 0, 1, 8, 1, 2, 3, 4, 5, 6, 7, 8, 0];
        datagram.extend(bytes);
        if pads {
            datagram.resize(1200, 0);
        }
        let token = issuer().check(ms(now), HOME, &datagram);
        prop_assert!(!matches!(token, Token::Valid(_)));
        let _ = issuer().issue(ms(now), HOME, &datagram, [1; 9]);
    }
}

// ---- half-open connections ------------------------------------------------------------------------

/// What an attacker sends from a forged address: his flight again and again, in any pieces, with
/// copies of one packet in one datagram.
#[derive(Clone, Debug)]
enum Forged {
    Again(usize),
    /// The first packet this many times in a datagram, each cut to this length.
    Many(usize, usize),
    Cut(usize, usize),
    Changed(usize, usize),
    Wait(u64),
    Timer,
}

fn forged() -> impl Strategy<Value = Forged> {
    prop_oneof![
        (0_usize..4).prop_map(Forged::Again),
        (1_usize..60, 20_usize..200).prop_map(|(times, len)| Forged::Many(times, len)),
        (0_usize..4, 1_usize..1200).prop_map(|(which, len)| Forged::Cut(which, len)),
        (0_usize..4, 0_usize..1200).prop_map(|(which, at)| Forged::Changed(which, at)),
        (1_u64..3000).prop_map(Forged::Wait),
        Just(Forged::Timer),
    ]
}

/// A long-header packet for `dcid` of `len` bytes that does not decrypt.
fn junk_packet(dcid: &ConnectionId, len: usize) -> Vec<u8> {
    let mut out = vec![0xc0, 0, 0, 0, 1, dcid.as_slice().len() as u8];
    out.extend(dcid.as_slice());
    out.extend([0, 0]);
    out.extend((0x4000 | len as u16).to_be_bytes());
    out.resize(out.len() + len, 0x77);
    out
}

proptest! {
    #![proptest_config(cases::at_least(300))]

    /// RFC 9000 §8.1 for any order of an attacker's datagrams and of our timers.
    #[test]
    fn a_forged_address_gets_three_times_what_was_sent_for_it(
        steps in proptest::collection::vec(forged(), 1..40),
        closes in any::<bool>(),
    ) {
        let mut client = Own::client(0, |_| {});
        let mut flight = Vec::new();
        while let Some((_, datagram)) = client.endpoint.poll_transmit(ms(0)) {
            flight.push(datagram);
        }
        let dcid = parse(&flight[0], 8).unwrap().dcid;
        let mut server = Own::server(0, |_| {});
        let (mut now, mut came, mut left) = (ms(0), 0, 0);
        for (index, step) in steps.iter().enumerate() {
            let pick = |which: usize| flight[which % flight.len()].clone();
            let datagram = match *step {
                Forged::Again(which) => Some(pick(which)),
                Forged::Many(times, len) => {
                    let mut all = pick(0);
                    (0..times).for_each(|_| all.extend(junk_packet(&dcid, len)));
                    Some(all)
                }
                Forged::Cut(which, len) => Some(pick(which)[..len.min(1200)].to_vec()),
                Forged::Changed(which, at) => {
                    let mut changed = pick(which);
                    let at = at % changed.len();
                    changed[at] ^= 4;
                    Some(changed)
                }
                Forged::Wait(millis) => {
                    now += Duration::from_millis(millis);
                    None
                }
                Forged::Timer => {
                    now = server.endpoint.poll_timeout().map_or(now, |at| at.max(now));
                    None
                }
            };
            if let Some(datagram) = datagram {
                came += datagram.len();
                server.endpoint.handle(now, PathId(0), datagram, None);
            }
            server.endpoint.on_timeout(now);
            if closes && index == steps.len() / 2 {
                server.endpoint.close(now, 1, b"no more");
            }
            while let Some((_, datagram)) = server.endpoint.poll_transmit(now) {
                left += datagram.len();
                prop_assert!(left <= 3 * came, "{left} bytes for {came}");
            }
            prop_assert!(server.endpoint.held_bytes() < 150_000, "{}", server.endpoint.held_bytes());
        }
    }
}

/// A datagram of one Initial and many small packets counts once.
#[test]
fn small_packets_in_a_datagram_buy_no_credit() {
    let first = first_datagram();
    let dcid = parse(&first, 8).unwrap().dcid;
    let mut datagram = first.clone();
    (0..50).for_each(|_| datagram.extend(junk_packet(&dcid, 20)));
    let mut server = Own::server(0, |_| {});
    server.endpoint.handle(ms(0), PathId(0), datagram.clone(), None);
    let mut left = 0;
    for step in 0..40 {
        while let Some((_, out)) = server.endpoint.poll_transmit(ms(step * 500)) {
            left += out.len();
        }
        server.endpoint.on_timeout(ms(step * 500));
    }
    assert!(left <= 3 * datagram.len(), "{left} bytes for {}", datagram.len());
}

/// CRYPTO data in pieces of one byte with a gap after each: what they cost is bounded.
#[test]
fn a_hello_in_crumbs_costs_a_bounded_amount() {
    use crate::wire::Frame;
    let first = first_datagram();
    let header = parse(&first, 8).unwrap();
    let mut server = Own::server(0, |_| {});
    let keys = crate::crypto::initial_keys(&header.dcid, rustls::Side::Client);
    let mut most = 0;
    for number in 0..400_u64 {
        let mut out = Vec::new();
        let cids = (&header.dcid, &header.scid);
        wire::begin_long(&mut out, Kind::Initial, cids, &[], 2);
        let number_at = out.len();
        out.extend((number as u16).to_be_bytes());
        for crumb in 0..150 {
            // (offset 0 is never sent: TLS waits for it and never gets it)
            Frame::Crypto { offset: 1 + (number * 150 + crumb) * 2, data: &[1] }.encode(&mut out);
        }
        out.resize(1200 - 16, 0);
        let len = (0x4000 | (out.len() - number_at + 16) as u16).to_be_bytes();
        out[number_at - 2..number_at].copy_from_slice(&len);
        let pair = (keys.local.packet.as_ref(), keys.local.header.as_ref());
        assert!(crate::crypto::seal(&mut out, (0, number_at, 2), pair, (0, number)));
        server.endpoint.handle(ms(number), PathId(0), out, None);
        while server.endpoint.poll_transmit(ms(number)).is_some() {}
        most = most.max(server.endpoint.held_bytes());
    }
    server.work(ms(1000));
    let Some(Closed::Error(error)) = server.closed() else { panic!("held {most}") };
    assert_eq!(error.code, Code::CryptoBufferExceeded);
    assert!(most < 150_000, "{most}");
}

#[test]
fn a_client_that_falls_silent_is_forgotten() {
    let mut server = Own::new(tls::server_role(), 0, "minrtt", |config| {
        config.idle_timeout = Duration::from_secs(3);
    });
    server.endpoint.handle(ms(0), PathId(0), first_datagram(), None);
    while server.endpoint.poll_transmit(ms(0)).is_some() {}
    assert!(server.endpoint.held_bytes() < 10_000, "{}", server.endpoint.held_bytes());
    for _ in 0..100 {
        let Some(at) = server.endpoint.poll_timeout() else { break };
        server.endpoint.on_timeout(at);
        while server.endpoint.poll_transmit(at).is_some() {}
    }
    assert!(server.endpoint.is_over());
}
