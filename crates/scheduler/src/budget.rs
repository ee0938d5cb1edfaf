//! How much may be sent twice.

/// A bucket that fills with a share of what is sent, and is full at first.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Millionths of what is sent.
    share: i64,
    /// Millionths of a byte that are left, or owed when the last copy was larger; and that fit.
    left: i64,
    most: i64,
}

const ONE: i64 = 1_000_000;

impl Budget {
    /// `share` (0 to 1) of what is sent, at most `most_bytes` at a time.
    pub fn new(share: f64, most_bytes: u64) -> Self {
        let most = millionths(most_bytes, ONE);
        Self { share: (share * ONE as f64).round() as i64, left: most, most }
    }

    /// Whether there will ever be anything in it.
    pub fn allows_any(&self) -> bool {
        self.share > 0 && self.most > 0
    }

    /// Whether a byte is left.
    pub fn has_any(&self) -> bool {
        self.left >= ONE
    }

    /// `bytes` were sent for the first time.
    pub fn earn(&mut self, bytes: u64) {
        self.left = self.left.saturating_add(millionths(bytes, self.share)).min(self.most);
    }

    /// `bytes` were copied.
    pub fn spend(&mut self, bytes: u64) {
        self.left = self.left.saturating_sub(millionths(bytes, ONE));
    }
}

fn millionths(bytes: u64, each: i64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX).saturating_mul(each)
}
