/// What every controller is built from.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Payload bytes of one full segment.
    pub mss_bytes: u64,
    /// Initial window in segments (RFC 6928: 10).
    pub initial_window_packets: u64,
    /// Seed of the controller's own random stream (BBR's starting phase).
    pub seed: u64,
}

impl Config {
    /// Ten segments of `mss_bytes` (RFC 6928 §2), random stream from `seed`.
    pub fn new(mss_bytes: u64, seed: u64) -> Self {
        Self { mss_bytes, initial_window_packets: 10, seed }
    }

    /// Payload bytes of one full segment; a segment of nothing counts as one byte.
    pub(crate) fn mss(&self) -> u64 {
        self.mss_bytes.max(1)
    }
}
