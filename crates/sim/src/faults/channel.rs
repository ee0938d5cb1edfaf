//! What happens to packets beyond what links do: they overtake each other, come twice, come damaged.

use crate::wire::{Packet, Wire};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;
use units::{Duration, Instant};

/// Longest time by which a repeated packet comes after the first one.
const REPEATED_WITHIN_MS: u64 = 200;

/// Probabilities for each packet that a link hands over, until the faults end.
#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    /// Of being held up, so that later packets overtake it.
    pub late: f64,
    /// By at most this long.
    pub late_ms: u64,
    /// Of coming twice.
    pub twice: f64,
    /// Of coming damaged. Its checksum gives a TCP segment away, which is lost; a datagram of QUIC
    /// arrives with bits flipped or its end cut off.
    pub damaged: f64,
    /// Nothing happens from here on.
    pub until_s: f64,
}

/// The channel during a run: packets on their way between a link and an endpoint.
#[derive(Debug)]
pub(crate) struct InChannel {
    channel: Channel,
    until: Instant,
    random: ChaCha8Rng,
    /// By due time, then in order of arrival; with the link that each came from.
    held: BTreeMap<(Instant, u64), (usize, Wire)>,
    count: u64,
}

impl InChannel {
    pub fn new(channel: &Channel, seed: u64) -> Self {
        Self {
            channel: channel.clone(),
            until: Instant::from_nanos((channel.until_s * 1e9) as u64),
            random: ChaCha8Rng::seed_from_u64(seed),
            held: BTreeMap::new(),
            count: 0,
        }
    }

    /// A packet came out of a link: what of it reaches the endpoint now.
    pub fn pass(&mut self, now: Instant, link: usize, mut wire: Wire) -> Option<Wire> {
        if now >= self.until {
            return Some(wire);
        }
        if self.random.random_bool(self.channel.twice) {
            self.hold(now, REPEATED_WITHIN_MS, link, wire.clone());
        }
        if self.random.random_bool(self.channel.damaged) {
            match &mut wire.packet {
                Packet::Segment(_) => return None,
                Packet::Datagram(bytes) => damage(&mut self.random, bytes),
            }
        }
        if self.random.random_bool(self.channel.late) {
            self.hold(now, self.channel.late_ms, link, wire);
            return None;
        }
        Some(wire)
    }

    fn hold(&mut self, now: Instant, at_most_ms: u64, link: usize, wire: Wire) {
        let by = Duration::from_micros(self.random.random_range(0..=at_most_ms * 1000));
        self.held.insert((now + by, self.count), (link, wire));
        self.count += 1;
    }

    /// When the next packet is let go.
    pub fn next_at(&self) -> Instant {
        self.held.first_key_value().map_or(Instant::FAR_FUTURE, |((at, _), _)| *at)
    }

    /// The next packet that is due.
    pub fn release(&mut self, now: Instant) -> Option<(usize, Wire)> {
        self.held.first_entry().filter(|first| first.key().0 <= now).map(|first| first.remove())
    }
}

/// Flips bits or cuts the end off, and always changes the last byte. Tags of simulated packets do not cover
/// payloads behind short headers (`end/plain.rs`), and packets are plain text: one cut right behind a reset token would
/// be taken for a stateless reset (RFC 9000 §10.3), which a sealed packet never is.
fn damage(random: &mut ChaCha8Rng, bytes: &mut Vec<u8>) {
    if bytes.is_empty() {
        return;
    }
    if random.random_bool(0.2) {
        bytes.truncate(random.random_range(0..bytes.len()));
    } else {
        for _ in 0..random.random_range(1..=3) {
            let at = random.random_range(0..bytes.len());
            bytes[at] ^= 1 << random.random_range(0..8);
        }
    }
    if let Some(last) = bytes.last_mut() {
        *last = !*last;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_datagram_does_not_end_as_it_did() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let whole: Vec<u8> = (0..=255).collect();
        let mut cut = 0;
        for _ in 0..1000 {
            let mut bytes = whole.clone();
            damage(&mut random, &mut bytes);
            if let Some(last) = bytes.last() {
                assert_ne!(*last, whole[bytes.len() - 1]);
            }
            cut += u32::from(bytes.len() < whole.len());
        }
        assert!((100..300).contains(&cut), "{cut}");
    }
}
