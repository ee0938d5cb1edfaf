use crate::Duration;
use serde::{Deserialize, Serialize};
use std::fmt;

const NANOS_PER_SEC: u128 = 1_000_000_000;

/// A rate in bits per second. Zero is an ordinary value: a link that carries nothing.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bitrate(u64);

impl Bitrate {
    /// A link that carries nothing.
    pub const ZERO: Self = Self(0);

    /// A rate from bits per second.
    pub const fn from_bps(bps: u64) -> Self {
        Self(bps)
    }

    /// A rate from megabits (10^6 bits) per second, rounded to the bit; negative and NaN become zero.
    pub fn from_mbps(mbps: f64) -> Self {
        Self((mbps * 1e6).round().max(0.0) as u64)
    }

    /// The rate at which `bytes` pass in `span`; [`Bitrate::ZERO`] for an empty span.
    pub fn from_bytes_per(bytes: u64, span: Duration) -> Self {
        let nanos = span.as_nanos();
        if nanos == 0 {
            return Self::ZERO;
        }
        if let Some(work) = bytes.checked_mul(8_000_000_000) {
            return Self(work / nanos); // 128-bit division costs several times as much
        }
        let bps = u128::from(bytes) * 8 * NANOS_PER_SEC / u128::from(nanos);
        Self(u64::try_from(bps).unwrap_or(u64::MAX))
    }

    /// Bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// Megabits per second, for reports.
    pub fn as_mbps(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Whole bytes that pass in `span`.
    pub fn bytes_in(self, span: Duration) -> u64 {
        let nanos = span.as_nanos();
        if let Some(work) = self.0.checked_mul(nanos) {
            return work / 8_000_000_000; // 128-bit division costs several times as much
        }
        let bytes = u128::from(self.0) * u128::from(nanos) / (8 * NANOS_PER_SEC);
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }

    /// Time that `bytes` take at this rate, rounded up to the nanosecond; `None` at rate zero.
    pub fn time_for(self, bytes: u64) -> Option<Duration> {
        if self.0 == 0 {
            return None;
        }
        if let Some(work) = bytes.checked_mul(8_000_000_000) {
            return Some(Duration::from_nanos(work.div_ceil(self.0)));
        }
        let nanos = (u128::from(bytes) * 8 * NANOS_PER_SEC).div_ceil(u128::from(self.0));
        Some(Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)))
    }

    /// This rate times `numerator / denominator`, rounded down.
    pub fn scaled(self, numerator: u64, denominator: u64) -> Self {
        let denominator = denominator.max(1);
        if let Some(product) = self.0.checked_mul(numerator) {
            return Self(product / denominator);
        }
        let bps = u128::from(self.0) * u128::from(numerator) / u128::from(denominator);
        Self(u64::try_from(bps).unwrap_or(u64::MAX))
    }
}

impl fmt::Debug for Bitrate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} Mbit/s", self.as_mbps())
    }
}
