use std::ops::RangeInclusive;

/// Why a catalogue, a shell or a question about them was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OrbitError {
    /// A line of a file of elements.
    #[error("{file}:{line}: {fault}")]
    Line {
        /// The file's name as the caller gave it.
        file: String,
        /// Line number, from 1.
        line: usize,
        /// What is wrong with it.
        fault: Fault,
    },
    /// A file of elements as a whole.
    #[error("{file}: {fault}")]
    File {
        /// The file's name as the caller gave it.
        file: String,
        /// What is wrong with it.
        fault: Fault,
    },
    /// A format that is not known.
    #[error("`{found}` is no format of elements; known are tle, json, csv")]
    NoSuchFormat {
        /// The name.
        found: String,
    },
    /// A built-in constellation that is not known.
    #[error("no built-in constellation is called `{found}`; known are {known}")]
    NoSuchShell {
        /// The name.
        found: String,
        /// All names.
        known: String,
    },
    /// A number outside what makes sense.
    #[error("{field} = {value} is not between {least} and {most}; correct it")]
    OutOfRange {
        /// Name of the setting, with its unit.
        field: &'static str,
        /// What was given.
        value: f64,
        /// The least that is allowed.
        least: f64,
        /// The most that is allowed.
        most: f64,
    },
    /// No gateway at all.
    #[error("there is no gateway; give at least one place")]
    NoGateways,
    /// Every element set is too far from the time asked for.
    #[error(
        "no element set is usable: the nearest epoch is {nearest_days:.1} days from the time \
         asked for and {limit_days} are allowed; use elements of that time or raise max_age_days"
    )]
    TooOld {
        /// Age of the best one.
        nearest_days: f64,
        /// The limit.
        limit_days: f64,
    },
    /// No satellite can be propagated.
    #[error(
        "no satellite can be propagated to the time asked for: all have decayed; use newer elements"
    )]
    AllDecayed,
    /// More steps than fit into memory.
    #[error("{count} steps are too many (at most {most}); take a longer step or a shorter time")]
    TooManySteps {
        /// How many there would be.
        count: f64,
        /// The limit.
        most: f64,
    },
    /// A description that is not the expected JSON.
    #[error("the description cannot be read: {0}")]
    Json(String),
}

impl OrbitError {
    pub(crate) fn check(
        field: &'static str,
        value: f64,
        allowed: RangeInclusive<f64>,
    ) -> Result<(), Self> {
        let (least, most) = (*allowed.start(), *allowed.end());
        if allowed.contains(&value) {
            Ok(())
        } else {
            Err(Self::OutOfRange { field, value, least, most })
        }
    }
}

/// What is wrong with a file of elements, and what to do about it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Fault {
    /// No satellite in it.
    #[error("there is no satellite in it; give at least one element set")]
    Empty,
    /// A line that is not 69 characters long.
    #[error("{found} characters where an element line has 69; the line was cut off or joined")]
    Length {
        /// How long it is.
        found: usize,
    },
    /// Characters that no element line has.
    #[error("the line holds characters that are not ASCII; save the file as plain text")]
    NotAscii,
    /// The checksum does not agree.
    #[error("the checksum is `{found}` but the line adds up to {expected}; get the file anew")]
    Checksum {
        /// The last character.
        found: char,
        /// What it should be.
        expected: u32,
    },
    /// Line 1 or 2 does not stand where it belongs.
    #[error("line {wanted} of an element set belongs here; get the file anew")]
    LineMissing {
        /// Which one.
        wanted: char,
    },
    /// Field by field, as the reader says.
    #[error("{0}; correct it or get the file anew")]
    Field(String),
    /// Elements that no satellite has.
    #[error("{what} is {found}, which no orbit has; correct it or get the file anew")]
    Impossible {
        /// Name of the element.
        what: &'static str,
        /// Its value.
        found: f64,
    },
}
