use forecast::ForecastError;
use trace::TraceError;

/// Why a link could not be built, or changed, from its description.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LinkError {
    /// A series of capacities, delays or loss ratios breaks a rule.
    #[error("{field}: {fault}")]
    Series {
        /// The field of the description.
        field: &'static str,
        /// Which entry, what is wrong and what to do.
        #[source]
        fault: TraceError,
    },
    /// A number outside what the field allows.
    #[error("{field} is {value}; give {allowed}")]
    OutOfRange {
        /// The field of the description.
        field: &'static str,
        /// The number found there.
        value: f64,
        /// What may stand there.
        allowed: &'static str,
    },
    /// A forecast that makes no sense.
    #[error("{field} of path '{path}': {error}")]
    Forecast {
        /// Of which path.
        path: String,
        /// Which field of it.
        field: &'static str,
        /// What is wrong, and what to do.
        #[source]
        error: ForecastError,
    },
    /// A drop-tail queue with neither bound.
    #[error("queue: a droptail queue needs a bound; give bytes or packets, or kind = \"infinite\"")]
    NoBound,
    /// An outage window that is empty or runs backwards.
    #[error("outages[{index}] ends at {end_s} s, not after its start at {start_s} s; swap them")]
    EmptyOutage {
        /// Place in the list, from 0.
        index: usize,
        /// Its start, in seconds.
        start_s: f64,
        /// Its end, in seconds.
        end_s: f64,
    },
    /// Outage windows out of order, or one inside the other.
    #[error(
        "outages[{index}] starts at {start_s} s, before the one before it ends; sort or merge them"
    )]
    OverlappingOutages {
        /// The later entry, from 0.
        index: usize,
        /// Its start, in seconds.
        start_s: f64,
    },
    /// Two paths of one name.
    #[error("two paths are called '{0}': give each its own name")]
    RepeatedName(String),
    /// Windows of presence out of order.
    #[error("path '{0}': the windows of 'present' must be ordered, apart and not empty")]
    Presence(String),
    /// A link of a path cannot be built.
    #[error("path '{path}', {direction} link: {error}")]
    OfPath {
        /// Name of the path.
        path: String,
        /// "down" or "up".
        direction: &'static str,
        /// What is wrong with it.
        error: Box<LinkError>,
    },
}
