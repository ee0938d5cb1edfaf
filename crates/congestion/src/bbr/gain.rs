//! Gains as Linux keeps them: whole 256ths (`tcp_bbr.c` `BBR_UNIT`).

use units::Bitrate;

/// A factor in 256ths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Gain(u64);

impl Gain {
    /// One.
    pub(super) const UNIT: Self = Self(256); // tcp_bbr.c BBR_UNIT
    /// 2/ln 2: doubles the rate each round (tcp_bbr.c `bbr_high_gain`).
    pub(super) const HIGH: Self = Self(256 * 2885 / 1000 + 1);
    /// Drains in one round what [`Gain::HIGH`] queued in the last (tcp_bbr.c `bbr_drain_gain`).
    pub(super) const DRAIN: Self = Self(256 * 1000 / 2885);
    /// Window of the steady state: room for late and stretched ACKs (tcp_bbr.c `bbr_cwnd_gain`).
    pub(super) const WINDOW: Self = Self(256 * 2);
    /// The phases of PROBE_BW: probe, drain, cruise six times (tcp_bbr.c `bbr_pacing_gain`).
    pub(super) const CYCLE: [Self; 8] = [
        Self(256 * 5 / 4),
        Self(256 * 3 / 4),
        Self::UNIT,
        Self::UNIT,
        Self::UNIT,
        Self::UNIT,
        Self::UNIT,
        Self::UNIT,
    ];

    /// `rate` times this gain, rounded down.
    pub(super) fn of(self, rate: Bitrate) -> Bitrate {
        rate.scaled(self.0, Self::UNIT.0)
    }
}
