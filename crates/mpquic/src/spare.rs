//! Memory of datagrams that arrived, for those that leave.

/// As many as are in use at a time, about.
const MOST: usize = 32;
/// Larger ones are not kept: a peer does not choose what an idle endpoint holds.
const MOST_BYTES: usize = 2048;

/// Vectors without content.
#[derive(Debug, Default)]
pub(crate) struct Spare(Vec<Vec<u8>>);

impl Spare {
    /// An empty vector for at least this many bytes.
    pub fn take(&mut self, bytes: usize) -> Vec<u8> {
        let mut found = self.0.pop().unwrap_or_default();
        found.reserve_exact(bytes);
        found
    }

    /// The content of this one is needed no more.
    pub fn give(&mut self, mut used: Vec<u8>) {
        if self.0.len() < MOST && used.capacity() <= MOST_BYTES {
            used.clear();
            self.0.push(used);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_given_is_taken_and_no_more_is_kept_than_said() {
        let mut spare = Spare::default();
        assert!(spare.take(1200).capacity() >= 1200);
        for _ in 0..2 * MOST {
            spare.give(vec![7; 40]);
        }
        assert_eq!(spare.0.len(), MOST);
        spare.take(1200);
        spare.give(Vec::with_capacity(MOST_BYTES + 1));
        assert_eq!(spare.0.len(), MOST - 1);
        spare.give(Vec::new());
        let taken = spare.take(1200);
        assert!(taken.is_empty() && taken.capacity() >= 1200);
        assert_eq!(spare.0.len(), MOST - 1);
    }
}
