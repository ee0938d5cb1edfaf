use serde::Serialize;
use units::Instant;

/// A column of a workload's table in the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Column {
    /// Its name, with the unit.
    pub name: &'static str,
    /// "count", "number", "word" or "flag".
    pub kind: &'static str,
    /// What it says, for documentation and axes.
    pub meaning: &'static str,
}

/// One value of a row; [`Cell::Nothing`] where there is none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    /// A whole number.
    Count(u64),
    /// A number.
    Number(f64),
    /// A word.
    Word(&'static str),
    /// Yes or no.
    Flag(bool),
    /// No value.
    Nothing,
}

/// A row: one cell for each column of the workload.
pub type Row = Vec<Cell>;

impl Cell {
    /// The kind of column that it belongs in; `None` for [`Cell::Nothing`], which fits into each.
    pub fn kind(self) -> Option<&'static str> {
        match self {
            Self::Count(_) => Some("count"),
            Self::Number(_) => Some("number"),
            Self::Word(_) => Some("word"),
            Self::Flag(_) => Some("flag"),
            Self::Nothing => None,
        }
    }

    /// Seconds from `zero` to a moment, or nothing.
    pub fn seconds(zero: Instant, at: Option<Instant>) -> Self {
        Self::number(at.map(|at| at.since(zero).as_secs_f64()))
    }

    /// A number, or nothing.
    pub fn number(value: Option<f64>) -> Self {
        value.map_or(Self::Nothing, Self::Number)
    }
}
