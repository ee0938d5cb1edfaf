/// Why a film, a ladder or a player cannot be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum VideoError {
    /// A line of a frame table that cannot be read.
    #[error(
        "line {line} of the frame table has no {what}: make the table with 'skyweave video file'"
    )]
    Line {
        /// Which, from 1.
        line: usize,
        /// What is missing or not a number.
        what: &'static str,
    },
    /// A table without pictures.
    #[error("the frame table has no pictures: the file has no video track, or no index")]
    NoPictures,
    /// More than is kept in memory.
    #[error("{what} are more than {most}: cut the film")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many may be.
        most: usize,
    },
    /// A picture that lies before the start or beyond what a table can say.
    #[error("line {line} of the frame table has a {what} out of range")]
    OutOfRange {
        /// Which line, from 1.
        line: usize,
        /// Of what.
        what: &'static str,
    },
    /// Bitrates of a ladder that do not rise, or are none.
    #[error("the bitrates of a ladder must rise, from above 0 to {most_mbps} Mbit/s at most")]
    Ladder {
        /// Largest bitrate.
        most_mbps: f64,
    },
    /// A ladder whose chunks differ in the number of qualities, or have one without bytes.
    #[error(
        "chunk {chunk} has a hole: give each chunk a size above 0 in each of the {qualities} qualities"
    )]
    Hole {
        /// Which chunk, from 0.
        chunk: usize,
        /// How many sizes it must have.
        qualities: usize,
    },
    /// A setting outside its range.
    #[error("{field} = {value}: it must lie between {least} and {most}")]
    Range {
        /// Which.
        field: &'static str,
        /// Its value.
        value: f64,
        /// Smallest possible.
        least: f64,
        /// Largest possible.
        most: f64,
    },
    /// A film that nobody ships.
    #[error("no film is called '{0}': there is cbr, and any frame table as {{ csv = \"...\" }}")]
    Film(String),
}

/// Checks a range, ends included; not a number is outside.
pub(crate) fn within(
    field: &'static str,
    value: f64,
    (least, most): (f64, f64),
) -> Result<(), VideoError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(VideoError::Range { field, value, least, most })
}
