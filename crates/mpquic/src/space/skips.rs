use rand::{Rng, RngExt};
use std::ops::RangeInclusive;

/// The first number that is skipped is below two to the power of this.
const FIRST_EXPONENT: u32 = 6;

/// Packet numbers that are never used, to catch a peer that acknowledges what it has not seen
/// (RFC 9000 §21.4): one below 64, then one between each power of two and the next.
///
/// None is ever forgotten: an honest peer never acknowledges one, however old, and there are fewer
/// than 60 of them below 2^62.
#[derive(Debug, Default)]
pub(crate) struct Skips {
    /// In ascending order.
    skipped: Vec<u64>,
    next: Option<u64>,
}

impl Skips {
    /// Whether `number`, the next of its space, is to be skipped. Numbers are asked for in order.
    pub fn takes(&mut self, number: u64, rng: &mut impl Rng) -> bool {
        let next = *self.next.get_or_insert_with(|| rng.random_range(0..1 << FIRST_EXPONENT));
        let takes = number >= next;
        if takes {
            self.skipped.push(number);
            let from = 1 << (FIRST_EXPONENT + self.skipped.len() as u32 - 1);
            self.next = Some(rng.random_range(from..2 * from));
        }
        takes
    }

    /// Whether one of them lies in a range.
    pub fn meet(&self, range: &RangeInclusive<u64>) -> bool {
        let first = self.skipped.partition_point(|number| number < range.start());
        self.skipped.get(first).is_some_and(|number| number <= range.end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    /// The numbers that a path skips among its first 100,000.
    fn skipped(seed: u64) -> Vec<u64> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut skips = Skips::default();
        (0..100_000).filter(|number| skips.takes(*number, &mut rng)).collect()
    }

    #[test]
    fn the_first_is_below_64_and_each_step_is_twice_as_long() {
        for seed in 0..200 {
            let all = skipped(seed);
            assert!(all[0] < 64, "{all:?}");
            for (step, number) in all[1..].iter().enumerate() {
                let from = 64 << step;
                assert!((from..2 * from).contains(number), "{all:?}");
            }
            assert!(all.len() >= 11);
        }
        assert_ne!(skipped(1), skipped(2));
    }

    #[test]
    fn none_is_ever_forgotten() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut skips = Skips::default();
        let all: Vec<u64> = (0..100_000).filter(|n| skips.takes(*n, &mut rng)).collect();
        for number in &all {
            assert!(skips.meet(&(*number..=*number)) && skips.meet(&(0..=*number)));
        }
        let honest = all.windows(2).all(|pair| !skips.meet(&(pair[0] + 1..=pair[1] - 1)));
        assert!(honest);
    }
}
