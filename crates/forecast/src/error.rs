/// Why a forecast cannot be used: what, where, and what to do.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ForecastError {
    /// A number outside what its field allows.
    #[error("{field} is {value}; give {allowed}")]
    OutOfRange {
        /// Which field.
        field: &'static str,
        /// What stands there.
        value: f64,
        /// What may stand there.
        allowed: &'static str,
    },
    /// An outage that ends before it begins.
    #[error("outages[{index}] from {start_s} s to {end_s} s: end_s must be after start_s")]
    Outage {
        /// Its place in the list, from 0.
        index: usize,
        /// Its beginning.
        start_s: f64,
        /// Its end.
        end_s: f64,
    },
    /// More than is sensible.
    #[error("the forecast has {count} {what}: at most {limit} are possible; make it shorter")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many.
        count: usize,
        /// How many may be.
        limit: usize,
    },
    /// A list without entries, or out of order.
    #[error("{field}: give at least one number, each larger than the one before it")]
    NotRising {
        /// Which list.
        field: &'static str,
    },
    /// Not one row of values for each time, or not one value in it for each quantile.
    #[error(
        "values: give {rows} rows, one for each time, of {columns} numbers, one for each quantile"
    )]
    Shape {
        /// As many as times.
        rows: usize,
        /// As many as quantiles.
        columns: usize,
    },
    /// A larger quantile with a smaller value.
    #[error("values[{row}]: the values of a row must not fall, for its quantiles rise")]
    Crossed {
        /// The place of the row, from 0.
        row: usize,
    },
    /// A forecast that is over before it is issued.
    #[error("valid_until_s is {valid_until_s} s: it must be after issued_at_s, {issued_at_s} s")]
    Expired {
        /// When it was made.
        issued_at_s: f64,
        /// When it ends.
        valid_until_s: f64,
    },
    /// A forecast that arrives before it is made.
    #[error("arrives_s is {arrives_s} s: it must not be before issued_at_s, {issued_at_s} s")]
    Early {
        /// When it arrives.
        arrives_s: f64,
        /// When it was made.
        issued_at_s: f64,
    },
}
