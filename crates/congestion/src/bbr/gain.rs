//! Gains as Linux keeps them: whole 256ths (`tcp_bbr.c` `BBR_UNIT`).

use units::Bitrate;

/// A factor in 256ths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Gain(u64);

impl Gain {
    /// One.
    pub(crate) const UNIT: Self = Self(256); // tcp_bbr.c BBR_UNIT
    /// 2/ln 2: doubles the rate each round (tcp_bbr.c `bbr_high_gain`).
    pub(crate) const HIGH: Self = Self(256 * 2885 / 1000 + 1);
    /// Drains in one round what [`Gain::HIGH`] queued in the last (tcp_bbr.c `bbr_drain_gain`).
    pub(crate) const DRAIN: Self = Self(256 * 1000 / 2885);
    /// Window of the steady state: room for late and stretched ACKs (tcp_bbr.c `bbr_cwnd_gain`).
    pub(crate) const WINDOW: Self = Self(256 * 2);
    /// The phases of PROBE_BW: probe, drain, cruise six times (tcp_bbr.c `bbr_pacing_gain`).
    pub(crate) const CYCLE: [Self; 8] = [
        Self(256 * 5 / 4),
        Self(256 * 3 / 4),
        Self::UNIT,
        Self::UNIT,
        Self::UNIT,
        Self::UNIT,
        Self::UNIT,
        Self::UNIT,
    ];

    /// A gain of this many 256ths.
    pub(crate) const fn of_256ths(parts: u64) -> Self {
        Self(parts)
    }

    /// The largest gain that is no more than `factor`, as the kernel's integers would have it:
    /// 2 % is 5/256.
    pub(crate) fn floor_of(factor: f64) -> Self {
        Self((factor * 256.0) as u64)
    }

    /// In 256ths.
    pub(crate) const fn parts(self) -> u64 {
        self.0
    }

    /// `bytes` times this gain, rounded down.
    pub(crate) fn of_bytes(self, bytes: u64) -> u64 {
        let product = u128::from(bytes) * u128::from(self.0) / u128::from(Self::UNIT.0);
        u64::try_from(product).unwrap_or(u64::MAX)
    }

    /// One minus this gain; nothing if that would be negative.
    pub(crate) const fn complement(self) -> Self {
        Self(Self::UNIT.0.saturating_sub(self.0))
    }

    /// `rate` times this gain, rounded down.
    pub(crate) fn of(self, rate: Bitrate) -> Bitrate {
        rate.scaled(self.0, Self::UNIT.0)
    }
}
