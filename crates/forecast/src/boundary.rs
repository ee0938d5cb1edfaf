use crate::Probability;
use serde::{Deserialize, Serialize};
use units::{Duration, Instant};

/// Why a path may change at a boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BoundaryKind {
    /// The network assigns satellites anew; the path may keep its own.
    Slot,
    /// Another satellite or cell takes over.
    Handover,
    /// An outage begins or ends.
    Outage,
    /// Something comes between the antenna and the sky, or leaves it.
    Obstruction,
}

/// A moment at which a path may change: its rate, its delay, whether it is there at all
/// (draft-lai-ccwg-lsncc: path phase boundary).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Boundary {
    /// When, as far as is known.
    pub at: Instant,
    /// It comes at most this much earlier or later.
    pub uncertainty: Duration,
    /// Why.
    pub kind: BoundaryKind,
    /// How likely something changes.
    pub probability: Probability,
}

impl Boundary {
    /// The first moment at which it may come.
    pub fn earliest(&self) -> Instant {
        self.at.saturating_sub(self.uncertainty)
    }

    /// The last one.
    pub fn latest(&self) -> Instant {
        self.at + self.uncertainty
    }

    pub(crate) fn later_by(self, shift: Duration) -> Self {
        Self { at: self.at + shift, ..self }
    }
}
