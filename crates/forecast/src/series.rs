use crate::{ForecastError, Probability};
use units::{Duration, Instant};

/// Most quantiles of a series.
pub const MAX_QUANTILES: usize = 99;
/// Most numbers in a series.
pub const MAX_VALUES: usize = 1_000_000;

/// A quantity ahead: quantiles of it that hold from each time to the next.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    times: Vec<Instant>,
    quantiles: Vec<Probability>,
    /// One row for each time, one column for each quantile.
    values: Vec<f64>,
}

impl Series {
    /// A row of `values` for each of the rising `times`, with a number of at least 0 for each of the
    /// rising `quantiles`.
    ///
    /// # Errors
    /// [`ForecastError`] with the first rule that is broken.
    pub fn new(
        times: Vec<Instant>,
        quantiles: Vec<Probability>,
        values: &[Vec<f64>],
    ) -> Result<Self, ForecastError> {
        let (rows, columns) = (times.len(), quantiles.len());
        limit("quantiles", columns, MAX_QUANTILES)?;
        limit("values", rows.saturating_mul(columns), MAX_VALUES)?;
        rising("times_s", &times)?;
        rising("quantiles", &quantiles)?;
        if values.len() != rows || values.iter().any(|row| row.len() != columns) {
            return Err(ForecastError::Shape { rows, columns });
        }
        for (row, numbers) in values.iter().enumerate() {
            let (field, allowed) = ("a number in values", "a finite number of at least 0");
            if let Some(&value) = numbers.iter().find(|value| !(0.0..=f64::MAX).contains(*value)) {
                return Err(ForecastError::OutOfRange { field, value, allowed });
            }
            if !numbers.is_sorted() {
                return Err(ForecastError::Crossed { row });
            }
        }
        Ok(Self { times, quantiles, values: values.concat() })
    }

    pub(crate) fn later_by(mut self, shift: Duration) -> Self {
        self.times.iter_mut().for_each(|time| *time += shift);
        self
    }

    /// The quantile at `at`, in the unit of the series: linear between two quantiles that are there,
    /// the nearest one beyond them. `None` before the first time.
    pub fn value(&self, at: Instant, quantile: Probability) -> Option<f64> {
        let row = self.times.partition_point(|time| *time <= at).checked_sub(1)?;
        let width = self.quantiles.len();
        let values = self.values.get(row * width..(row + 1) * width)?;
        let above = self.quantiles.partition_point(|one| *one < quantile);
        let Some(below) = above.checked_sub(1) else { return values.first().copied() };
        let Some(high) = values.get(above) else { return values.last().copied() };
        let (from, to) = (self.quantiles[below].get(), self.quantiles[above].get());
        let share = (quantile.get() - from) / (to - from); // they rise: never 0 / 0
        Some(values[below] + share * (high - values[below]))
    }
}

pub(crate) fn limit(what: &'static str, count: usize, limit: usize) -> Result<(), ForecastError> {
    if count <= limit { Ok(()) } else { Err(ForecastError::TooMany { what, count, limit }) }
}

fn rising<T: PartialOrd>(field: &'static str, values: &[T]) -> Result<(), ForecastError> {
    let rises = values.windows(2).all(|pair| pair[0] < pair[1]);
    if rises && !values.is_empty() { Ok(()) } else { Err(ForecastError::NotRising { field }) }
}
