use units::{Duration, Instant};

/// Why a trace was refused, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// A line of a file.
    #[error("{file}:{line}: {fault}")]
    Line {
        /// The file's name as the caller gave it.
        file: String,
        /// Line number, from 1.
        line: usize,
        /// What is wrong with it.
        fault: Fault,
    },
    /// A value that did not come from a file.
    #[error("entry {index}: {fault}")]
    Entry {
        /// Place in the series, from 0.
        index: usize,
        /// What is wrong with it.
        fault: Fault,
    },
}

impl TraceError {
    /// The fault alone, wherever it was found.
    pub fn fault(&self) -> &Fault {
        match self {
            Self::Line { fault, .. } | Self::Entry { fault, .. } => fault,
        }
    }

    /// The same fault, placed at the line of `file` that the entry came from.
    pub(crate) fn in_file(self, file: &str, lines: &[usize]) -> Self {
        match self {
            Self::Entry { index, fault } => {
                let line = lines.get(index).or(lines.last()).copied().unwrap_or(1);
                Self::Line { file: file.to_owned(), line, fault }
            }
            placed => placed,
        }
    }
}

/// What is wrong with a trace, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// No values at all.
    #[error("there is no value; give at least one")]
    Empty,
    /// An empty line in a format that has none.
    #[error("the line is empty; remove it")]
    BlankLine,
    /// Text where a number belongs.
    #[error("`{found}` is not a number; put one there (decimal point, no unit, no quotes)")]
    NotANumber {
        /// The text.
        found: String,
    },
    /// Not a whole number where the format counts whole milliseconds.
    #[error("`{found}` is not a whole number of milliseconds; round it, or use a time/value CSV")]
    NotWhole {
        /// The text.
        found: String,
    },
    /// NaN or an infinity.
    #[error("`{found}` is not finite; replace it by a number or remove the line")]
    NotFinite {
        /// The text.
        found: String,
    },
    /// A time, rate, delay or ratio below zero.
    #[error("`{found}` is negative; give a number of at least 0")]
    Negative {
        /// The text.
        found: String,
    },
    /// A trace beyond [`crate::LONGEST`]: wrong units rather than a measurement, and memory for
    /// every bin of it.
    #[error("`{found}` is more than a week after the start; check the unit, or cut the trace")]
    TooLong {
        /// The time as it was given.
        found: String,
    },
    /// More values than a trace may have.
    #[error("there are more than {most} values; cut the trace")]
    TooManyValues {
        /// How many it may have.
        most: usize,
    },
    /// Beyond 584 years.
    #[error("`{found}` is too large for a time; check the unit")]
    TooLarge {
        /// The text.
        found: String,
    },
    /// The time cell is empty.
    #[error("the time is missing; fill it in or remove the line")]
    MissingTime,
    /// The value cell is empty.
    #[error("the value is missing; fill it in or remove the line")]
    MissingValue,
    /// A line with more or fewer cells than the header.
    #[error(
        "{found} column(s) where the header has {expected}; complete the line, or remove it if the file was cut off"
    )]
    WrongColumns {
        /// Cells on the line.
        found: usize,
        /// Cells in the header.
        expected: usize,
    },
    /// The header lacks a column.
    #[error("no column `{wanted}` in the header `{header}`; rename it or name another column")]
    NoSuchColumn {
        /// The column asked for.
        wanted: String,
        /// The header as it stands.
        header: String,
    },
    /// Times that do not increase.
    #[error("time {found:?} does not come after {previous:?}; sort the times and remove doubles")]
    NotIncreasing {
        /// The time before it.
        previous: Instant,
        /// The time that is too early.
        found: Instant,
    },
    /// Delivery opportunities that go back in time.
    #[error("{found_ms} ms comes before {previous_ms} ms; sort the lines")]
    Unsorted {
        /// The timestamp before it.
        previous_ms: u64,
        /// The timestamp that is too early.
        found_ms: u64,
    },
    /// A series that does not say what holds at the start.
    #[error(
        "the first time is {found:?}; subtract it from all times so that the series starts at 0"
    )]
    FirstNotZero {
        /// The first time.
        found: Instant,
    },
    /// Times and values do not pair up.
    #[error("{values} value(s) for {times} time(s); give one value for each time")]
    Lengths {
        /// How many times.
        times: usize,
        /// How many values.
        values: usize,
    },
    /// A loop that would cut off part of the series.
    #[error(
        "the series repeats after {period:?} but has a time at {last:?}; repeat later than that"
    )]
    PeriodTooShort {
        /// The loop period.
        period: Duration,
        /// The last time of the series.
        last: Instant,
    },
    /// A mahimahi trace that ends at 0 ms.
    #[error("the last timestamp is 0, so the trace has no duration; end it at a later millisecond")]
    NoDuration,
    /// Too little capacity for one delivery opportunity.
    #[error("the rate never carries 1500 bytes in the span; take a longer span or a higher rate")]
    NoCapacity,
    /// A packet-delivery trace would become absurdly long.
    #[error("{count} delivery opportunities are too many to write; shorten the span")]
    TooMany {
        /// How many there would be.
        count: u64,
    },
    /// A span or spacing that cannot be used.
    #[error("{found:?} is no usable spacing; give a positive whole number of milliseconds")]
    BadSpacing {
        /// The span.
        found: Duration,
    },
    /// A step that a file of fixed spacing cannot show.
    #[error(
        "the step at {time:?} is not a multiple of the spacing {spacing:?}; choose a finer one"
    )]
    OffGrid {
        /// When the step is.
        time: Instant,
        /// The file's spacing.
        spacing: Duration,
    },
}
