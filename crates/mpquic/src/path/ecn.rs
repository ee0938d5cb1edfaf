//! Explicit congestion notification of what we send (RFC 9000 §13.4.2).

use crate::wire::EcnCounts;

/// Probe timers that fire in a row before any mark was counted: the path drops marked packets
/// (RFC 9000 §13.4.2.1, Appendix A.4).
const SILENT_TIMEOUTS: u32 = 3;

/// Whether the packets of a path are marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum EcnPath {
    /// They are not, or the marks did not come through.
    #[default]
    Off,
    /// They are; the peer has not reported yet whether it sees the marks.
    Testing,
    /// The peer counts them as it must.
    Capable,
}

impl EcnPath {
    /// The probe timer fired for the `count`th time in a row.
    pub fn on_probe_timeout(&mut self, count: u32) {
        if *self == Self::Testing && count >= SILENT_TIMEOUTS {
            *self = Self::Off;
        }
    }
}

/// The peer's counts for one packet number space.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EcnSeen(EcnCounts);

impl EcnSeen {
    /// An acknowledgement says that `newly` marked packets came, of `sent` packets in all: how many of
    /// them met congestion. `Err`: the counts cannot be true, marking must end (RFC 9000 §13.4.2.1).
    pub fn update(&mut self, counts: Option<EcnCounts>, newly: u64, sent: u64) -> Result<u64, ()> {
        let now = counts.ok_or(())?;
        let ect0 = now.ect0.checked_sub(self.0.ect0).ok_or(())?;
        let ce = now.ce.checked_sub(self.0.ce).ok_or(())?;
        let possible = now.ect0.checked_add(now.ce).is_some_and(|sum| sum <= sent);
        if now.ect1 > 0 || ect0 + ce < newly || !possible {
            return Err(());
        }
        self.0 = now;
        Ok(ce)
    }
}
