use units::{Duration, Instant, PathId};

/// Something worth noting in the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub at: Instant,
    /// On which path; `None` for the connection as a whole.
    pub path: Option<PathId>,
    /// What.
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A subflow can carry data.
    Established,
    /// A subflow is gone.
    Closed,
    /// A loss episode began; packets marked lost at first.
    Recovery(u64),
    /// The retransmission timer fired for the n-th time in a row.
    Timeout(u32),
    /// The last episode was spurious and was undone.
    Undone,
    /// The path is thought dead (`pf`, stale).
    Failed,
    /// The path was heard of again.
    Revived,
    /// This many segments were queued again for other paths.
    Reinjected(u64),
    /// The window of the path was halved because it holds up the shared window.
    Penalised,
    /// The scheduler held data back for this long although some path had room (noted from 10 ms
    /// on).
    Waited(Duration),
    /// The congestion control does something else from now on.
    Phase(congestion::Phase),
    /// DATA_ACK stalled until the connection's own timer fired.
    MetaTimeout,
}

impl EventKind {
    /// Name in the record.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Established => "established",
            Self::Closed => "closed",
            Self::Recovery(_) => "recovery",
            Self::Timeout(_) => "timeout",
            Self::Undone => "undone",
            Self::Failed => "failed",
            Self::Revived => "revived",
            Self::Reinjected(_) => "reinjected",
            Self::Penalised => "penalised",
            Self::Waited(_) => "waited",
            Self::Phase(phase) => phase.name(),
            Self::MetaTimeout => "meta-timeout",
        }
    }

    /// The number that goes with it: packets, repetitions or milliseconds; 0 where there is none.
    pub fn value(self) -> f64 {
        match self {
            Self::Recovery(count) | Self::Reinjected(count) => count as f64,
            Self::Timeout(count) => f64::from(count),
            Self::Waited(span) => span.as_secs_f64() * 1e3,
            _ => 0.0,
        }
    }
}
