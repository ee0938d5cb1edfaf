use super::candidate::AMPLIFICATION;
use units::PathId;

/// One of two ways that the same packets of a path that is not proven come: one is the peer's, the
/// other that of somebody who copies them, and no one knows which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Twin {
    pub net: PathId,
    pub came_bytes: u64,
    pub left_bytes: u64,
}

impl Twin {
    /// Whether a copy of a datagram of `bytes` may be sent there: within three times what was received
    /// (RFC 9000 §8.1). Counts it if so.
    pub fn takes(&mut self, bytes: u64) -> bool {
        let takes = self.left_bytes + bytes <= self.came_bytes * AMPLIFICATION;
        self.left_bytes += if takes { bytes } else { 0 };
        takes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_times_what_came_leaves() {
        let mut twin = Twin { net: PathId(3), came_bytes: 1200, left_bytes: 0 };
        assert_eq!((0..10).filter(|_| twin.takes(1200)).count(), 3);
        assert!(!twin.takes(1) && twin.left_bytes == 3600);
    }
}
