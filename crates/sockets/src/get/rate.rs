//! How much may be read in a second. What is not read fills the stream's window, and the server waits.

use units::{Duration, Instant};

/// What may be read at once after a pause.
const BURST: Duration = Duration::from_millis(50);
/// Less is not worth a wake-up.
const LEAST_BYTES: f64 = 16_384.0;

/// A bucket of bytes.
pub(super) struct Rate {
    bytes_per_second: f64,
    /// May be below zero: what was read beyond.
    bytes: f64,
    filled_at: Instant,
    /// It is empty until then.
    pub waits_until: Option<Instant>,
}

impl Rate {
    pub fn new(bytes_per_second: u64) -> Self {
        let bytes_per_second = bytes_per_second.max(1) as f64;
        Self { bytes_per_second, bytes: 0.0, filled_at: Instant::ZERO, waits_until: None }
    }

    /// How many bytes of `most` may be read now.
    pub fn admits(&mut self, now: Instant, most: usize) -> usize {
        let since = (now - self.filled_at).as_secs_f64();
        let full = (self.bytes_per_second * BURST.as_secs_f64()).max(LEAST_BYTES);
        self.bytes = (self.bytes + since * self.bytes_per_second).min(full);
        self.filled_at = now;
        if self.bytes >= LEAST_BYTES.min(most as f64) {
            self.waits_until = None;
            return most.min(self.bytes as usize);
        }
        let wait = (LEAST_BYTES - self.bytes) / self.bytes_per_second;
        self.waits_until = Some(now + Duration::from_secs_f64(wait));
        0
    }

    /// So many were read.
    pub fn take(&mut self, bytes: usize) {
        self.bytes -= bytes as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever reads all that it may gets the rate, and no more than a burst beyond it.
    #[test]
    fn a_second_has_so_many_bytes() {
        for rate in [1_000_000, 50_000, 400_000_000] {
            let mut bucket = Rate::new(rate);
            let (mut now, mut read) = (Instant::from_millis(5000), 0);
            let end = Instant::from_millis(15_000);
            while now < end {
                match bucket.admits(now, 1 << 18) {
                    0 => now = bucket.waits_until.unwrap().max(now + Duration::from_micros(1)),
                    bytes => {
                        bucket.take(bytes);
                        read += bytes as u64;
                    }
                }
            }
            let (least, most) = (10 * rate - (1 << 15), 10 * rate + rate / 20 + (1 << 15));
            assert!((least..=most).contains(&read), "{read} of {rate}");
        }
    }
}
