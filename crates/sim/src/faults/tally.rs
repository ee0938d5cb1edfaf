//! Verdicts added up.

use super::{FaultRun, Size, Verdict};

/// Counts and the digest over many runs; the order in which runs are added changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Every byte arrived once and in its place.
    pub finished: u64,
    /// Something else arrived.
    pub lost: u64,
    /// The virtual deadline passed.
    pub hung: u64,
    /// The code panicked or refused the run.
    pub broken: u64,
    /// Sum of the digests of all runs, modulo 2⁶⁴: two slices that touch add up to the whole.
    pub digest: u64,
    /// Seeds that did not finish, with what happened, rising.
    pub failures: Vec<(u64, Verdict)>,
}

impl Tally {
    /// Runs a seed and counts it.
    pub fn run(&mut self, seed: u64, size: Size) {
        let (verdict, digest) = FaultRun::new(seed, size).play();
        self.digest = self.digest.wrapping_add(digest);
        match verdict {
            Verdict::Finished => self.finished += 1,
            Verdict::Lost(_) => self.lost += 1,
            Verdict::Hung(_) => self.hung += 1,
            Verdict::Broken(_) => self.broken += 1,
        }
        if verdict != Verdict::Finished {
            self.failures.push((seed, verdict));
            self.failures.sort_by_key(|(seed, _)| *seed);
        }
    }

    /// Both together.
    pub fn add(&mut self, other: Self) {
        self.finished += other.finished;
        self.lost += other.lost;
        self.hung += other.hung;
        self.broken += other.broken;
        self.digest = self.digest.wrapping_add(other.digest);
        self.failures.extend(other.failures);
        self.failures.sort_by_key(|(seed, _)| *seed);
    }
}

/// FNV-1a with 64 bits, which is the same on every machine; spread, for it is summed.
pub(super) fn hash(text: &str) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
    let hash = text.as_bytes().iter().fold(0xCBF2_9CE4_8422_2325, step);
    (hash ^ (hash >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}
