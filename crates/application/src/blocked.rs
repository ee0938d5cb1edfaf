use crate::streams::Streams;
use crate::table::{Cell, Column};
use recovery::BlockedTime;

/// Columns behind `stall_s`.
pub(crate) const BY_OTHER: Column = Column {
    name: "stall_blocked_s",
    kind: "number",
    meaning: "of stall_s: what one path had brought waited for a segment on a slower one",
};
pub(crate) const BY_OWN: Column = Column {
    name: "stall_loss_s",
    kind: "number",
    meaning: "of stall_s: what a path had brought waited for a segment that it lost",
};

/// What a player has heard of waits for earlier bytes.
#[derive(Debug, Default)]
pub(crate) struct Heard(Option<BlockedTime>);

impl Heard {
    /// What is new since the last call.
    pub(crate) fn news(&mut self, streams: &dyn Streams) -> BlockedTime {
        let before = std::mem::replace(&mut self.0, streams.blocked_time());
        self.0.unwrap_or_default().since(before.unwrap_or_default())
    }

    /// The cells of [`BY_OTHER`] and [`BY_OWN`]; nothing where no driver tells.
    pub(crate) fn cells(&self, stall: BlockedTime) -> [Cell; 2] {
        let of_stall = self.0.map(|_| stall);
        [of_stall.map(|one| one.by_other), of_stall.map(|one| one.by_own)]
            .map(|time| Cell::number(time.map(|time| time.as_secs_f64())))
    }
}
