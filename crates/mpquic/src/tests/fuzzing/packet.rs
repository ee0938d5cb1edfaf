//! What a stranger sends, who may have overheard everything but has no keys beyond those of Initial
//! packets, which everybody has.

use super::{Input, client, drain, exchange, server};
use crate::rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256;
use crate::rustls::quic::{Keys, Version};
use crate::rustls::{Side, SupportedCipherSuite};
use crate::wire::{ConnectionId, Kind, begin_long, parse};
use crate::*;
use units::{Duration, Instant, PathId};

/// The connection as the stranger finds it.
#[derive(Clone, Copy, PartialEq)]
enum Stage {
    Fresh,
    HalfOpen,
    Connected,
    Closing,
}

struct Scene {
    now: Instant,
    /// The client and the server.
    ends: [Endpoint; 2],
    victim: usize,
    stage: Stage,
    /// To whom, and what.
    overheard: Vec<(usize, Vec<u8>)>,
    came: usize,
    left: usize,
}

impl Scene {
    fn new(input: &mut Input<'_>) -> Self {
        let choice = input.u8();
        let victim = usize::from(choice & 1);
        let stage = [Stage::Fresh, Stage::HalfOpen, Stage::Connected, Stage::Closing];
        let stage = stage[usize::from(choice >> 1 & 3)];
        let mut ends = [client(), server()];
        let mut now = Instant::ZERO;
        let mut overheard = Vec::new();
        let first = drain(now, &mut ends[0]);
        overheard.extend(first.iter().map(|(_, datagram)| (1, datagram.clone())));
        let (mut came, mut left) = (0, 0);
        if stage != Stage::Fresh {
            for (net, datagram) in first {
                came += datagram.len();
                ends[1].handle(now, net, datagram, None);
            }
            let answers = drain(now, &mut ends[1]);
            left = answers.iter().map(|(_, datagram)| datagram.len()).sum();
            overheard.extend(answers.into_iter().map(|(_, datagram)| (0, datagram)));
        }
        if matches!(stage, Stage::Connected | Stage::Closing) {
            for (_, datagram) in overheard.clone().into_iter().filter(|(to, _)| *to == 0) {
                ends[0].handle(now, PathId(0), datagram, None);
            }
            exchange(&mut now, &mut ends, &mut overheard, Duration::from_millis(300));
            assert!(ends.iter().all(Endpoint::is_connected));
        }
        if stage == Stage::Closing {
            ends[victim].close(now, 7, b"");
        }
        Self { now, ends, victim, stage, overheard, came, left }
    }

    /// A datagram that the stranger overheard, its own direction preferred or not.
    fn pick(&self, input: &mut Input<'_>) -> Vec<u8> {
        self.overheard[input.below(self.overheard.len())].1.clone()
    }

    fn strange_datagram(&self, input: &mut Input<'_>) -> Vec<u8> {
        match input.u8() % 5 {
            0 => {
                let len = input.below(1500);
                input.bytes(len).to_vec()
            }
            1 => {
                let mut datagram = self.pick(input);
                let at = input.below(datagram.len());
                datagram[at] ^= input.u8();
                if input.u8() & 1 == 1 {
                    datagram.truncate(1 + input.below(datagram.len()));
                }
                datagram
            }
            2 => self.crafted_initial(input),
            3 => {
                // The head of a genuine packet before made-up bytes.
                let mut datagram = self.pick(input);
                datagram.truncate(1 + input.below(40));
                let len = input.below(400);
                datagram.extend(input.bytes(len));
                datagram
            }
            _ => {
                let (mut datagram, second) = (self.crafted_initial(input), self.pick(input));
                datagram.extend(second);
                datagram
            }
        }
    }

    /// An Initial packet that decrypts, with any payload.
    fn crafted_initial(&self, input: &mut Input<'_>) -> Vec<u8> {
        let Ok(seen) = parse(&self.pick(input), 8) else { return vec![0xc0] };
        let swap = input.u8();
        let (dcid, scid) =
            if swap & 1 == 1 { (seen.scid, seen.dcid) } else { (seen.dcid, seen.scid) };
        let scid = if swap & 2 == 2 { ConnectionId::new(input.bytes(4)).unwrap() } else { scid };
        let Ok(first) = parse(&self.overheard[0].1, 8) else { return vec![0xc0] };
        // Both sides' keys come from what the client made up first.
        let keyed = if swap & 4 == 4 { dcid } else { first.dcid };
        let side = if self.victim == 1 { Side::Client } else { Side::Server };
        let len = input.below(1100);
        let payload = input.bytes(len).to_vec();
        let number = u64::from(input.u8());
        seal_initial(&initial_keys(&keyed, side), (&dcid, &scid), number, payload, swap & 8 == 8)
    }

    fn deliver(&mut self, datagram: Vec<u8>, net: PathId) {
        self.came += datagram.len();
        self.ends[self.victim].handle(self.now, net, datagram, None);
        let sent = drain(self.now, &mut self.ends[self.victim]);
        self.left += sent.iter().map(|(_, datagram)| datagram.len()).sum::<usize>();
        let unproven = matches!(self.stage, Stage::Fresh | Stage::HalfOpen);
        if self.victim == 1 && unproven {
            // RFC 9000 §8.1
            assert!(self.left <= 3 * self.came, "{} bytes for {}", self.left, self.came);
        }
    }
}

fn initial_keys(dcid: &ConnectionId, side: Side) -> Keys {
    #[allow(irrefutable_let_patterns)]
    let SupportedCipherSuite::Tls13(suite) = TLS13_AES_128_GCM_SHA256 else { unreachable!() };
    suite.quic_suite().unwrap().keys(dcid.as_slice(), side, Version::V1)
}

fn seal_initial(
    keys: &Keys,
    (dcid, scid): (&ConnectionId, &ConnectionId),
    number: u64,
    mut payload: Vec<u8>,
    pads: bool,
) -> Vec<u8> {
    let mut out = Vec::new();
    begin_long(&mut out, Kind::Initial, (dcid, scid), &[], 1);
    let number_at = out.len();
    out.push(number as u8);
    payload.resize(payload.len().max(if pads { 1200 - 17 - number_at } else { 4 }), 0);
    let len = 0x4000 | (1 + payload.len() + 16) as u16;
    out[number_at - 2..number_at].copy_from_slice(&len.to_be_bytes());
    let tag = keys.local.packet.encrypt_in_place(number, &out, &mut payload).unwrap();
    out.extend(payload);
    out.extend(tag.as_ref());
    let (head, rest) = out.split_at_mut(number_at);
    let (number, sampled) = rest.split_at_mut(4);
    let sample = &sampled[..keys.local.header.sample_len()];
    keys.local.header.encrypt_in_place(sample, &mut head[0], &mut number[..1]).unwrap();
    out
}

/// Datagrams of a stranger, to an endpoint of either role at any stage. One that is connected stays
/// so, and what its peer sends still arrives.
pub fn packet(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let mut scene = Scene::new(&mut input);
    while !input.is_empty() {
        if input.u8().is_multiple_of(8) {
            let victim = &mut scene.ends[scene.victim];
            if let Some(at) = victim.poll_timeout() {
                scene.now = scene.now.max(at);
                scene.deliver(Vec::new(), PathId(0));
            }
            continue;
        }
        let net = PathId(input.u8() % 4);
        let datagram = scene.strange_datagram(&mut input);
        scene.deliver(datagram, net);
    }
    let Scene { mut now, mut ends, victim, stage, mut overheard, .. } = scene;
    if stage == Stage::Connected {
        assert!(ends[victim].is_connected(), "{:?}", ends[victim].take_events());
        let stream = ends[1 - victim].open_stream(false).unwrap();
        assert_eq!(ends[1 - victim].write(stream, &[7; 3000]), Ok(3000));
        // (The victim's probes may have backed off far, and its path may count as failed.)
        exchange(&mut now, &mut ends, &mut overheard, Duration::from_secs(1));
        let read = ends[victim].read(now, stream, 10_000);
        assert_eq!(read, Ok(Read::Data(vec![7; 3000])));
    }
}
