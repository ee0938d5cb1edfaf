/// Why a workload cannot be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WorkloadError {
    /// Nothing ends it.
    #[error("has neither bytes nor duration_s: give one of them")]
    Endless,
    /// A kind that nobody knows.
    #[error("is of kind '{kind}', which does not exist; there are {known}")]
    Kind {
        /// What was asked for.
        kind: String,
        /// What there is.
        known: String,
    },
    /// A value outside its range.
    #[error("has {field} = {value}: it must lie between {least} and {most}")]
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
    /// A list without entries.
    #[error("has no {0}: give at least one")]
    Empty(&'static str),
    /// A film, a ladder or a player that cannot be.
    #[error("cannot play: {0}")]
    Video(#[from] video::VideoError),
    /// A forecast that cannot be.
    #[error("has a forecast that cannot be: {0}")]
    Forecast(#[from] forecast::ForecastError),
    /// Values that exclude each other.
    #[error("{0}")]
    Together(&'static str),
}

/// Checks a range, ends included; not a number is outside.
pub(crate) fn within(
    field: &'static str,
    value: f64,
    (least, most): (f64, f64),
) -> Result<(), WorkloadError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(WorkloadError::Range { field, value, least, most })
}
