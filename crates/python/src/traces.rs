//! The text formats of `crates/trace` for Python: parsed and written in one place only.
//! Every function raises `ValueError` with `FILE:LINE: what is wrong; what to do`.

use crate::refuse;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use trace::{Opportunities, Steps};
use units::{Bitrate, Duration, Instant};

type Floats<'py> = Bound<'py, PyArray1<f64>>;

fn steps(times_s: &[f64], values: &[f64]) -> PyResult<Steps<f64>> {
    let times = times_s.iter().map(|secs| trace::instant_from_secs(*secs));
    let times = times.collect::<Result<Vec<_>, _>>().map_err(refuse)?;
    Steps::new(times, values.to_vec(), None).map_err(refuse)
}

fn columns<'py, T: Copy>(
    py: Python<'py>,
    series: &Steps<T>,
    value: impl FnMut(&T) -> f64,
) -> (Floats<'py>, Floats<'py>) {
    let times: Vec<f64> = series.times().iter().map(|time| time.as_secs_f64()).collect();
    let values: Vec<f64> = series.values().iter().map(value).collect();
    (times.into_pyarray(py), values.into_pyarray(py))
}

/// Milliseconds of the delivery opportunities in a mahimahi file.
#[pyfunction]
pub(crate) fn parse_mahimahi<'py>(
    py: Python<'py>,
    text: &str,
    file: &str,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let trace = Opportunities::parse(text, file).map_err(refuse)?;
    Ok(trace.times_ms().to_vec().into_pyarray(py))
}

/// The text of a mahimahi file.
#[pyfunction]
pub(crate) fn format_mahimahi(times_ms: PyReadonlyArray1<'_, u64>) -> PyResult<String> {
    let times_ms = times_ms.as_slice()?.to_vec();
    Ok(Opportunities::new(times_ms).map_err(refuse)?.write())
}

/// Opportunities that carry as many bytes as a rate, which is constant from each time to the next.
#[pyfunction]
pub(crate) fn rates_to_opportunities<'py>(
    py: Python<'py>,
    times_s: PyReadonlyArray1<'_, f64>,
    mbps: PyReadonlyArray1<'_, f64>,
    duration_s: f64,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let rates = steps(times_s.as_slice()?, mbps.as_slice()?)?.map(Bitrate::from_mbps);
    let length = trace::instant_from_secs(duration_s).map_err(refuse)? - Instant::ZERO;
    let trace = Opportunities::from_rate(&rates, length).map_err(refuse)?;
    Ok(trace.times_ms().to_vec().into_pyarray(py))
}

/// Times in seconds and values of one column of a CSV file with a `time_s` column.
#[pyfunction]
pub(crate) fn parse_time_series<'py>(
    py: Python<'py>,
    text: &str,
    file: &str,
    column: &str,
) -> PyResult<(Floats<'py>, Floats<'py>)> {
    let series = trace::parse_csv(text, file, column).map_err(refuse)?;
    Ok(columns(py, &series, |value| *value))
}

/// The text of a CSV file with the columns `time_s` and `column`.
#[pyfunction]
pub(crate) fn format_time_series(
    times_s: PyReadonlyArray1<'_, f64>,
    values: PyReadonlyArray1<'_, f64>,
    column: &str,
) -> PyResult<String> {
    Ok(trace::write_csv(&steps(times_s.as_slice()?, values.as_slice()?)?, column))
}

/// Times in seconds and one-way delays in ms of a file with one delay a line.
#[pyfunction]
pub(crate) fn parse_one_way_delays<'py>(
    py: Python<'py>,
    text: &str,
    file: &str,
    spacing_ms: f64,
) -> PyResult<(Floats<'py>, Floats<'py>)> {
    let spacing = trace::duration_from_millis(spacing_ms).map_err(refuse)?;
    let series = trace::parse_delays(text, file, spacing).map_err(refuse)?;
    Ok(columns(py, &series, |delay: &Duration| delay.as_secs_f64() * 1e3))
}

/// The text of a file with one delay a line.
#[pyfunction]
pub(crate) fn format_one_way_delays(
    times_s: PyReadonlyArray1<'_, f64>,
    delays_ms: PyReadonlyArray1<'_, f64>,
    spacing_ms: f64,
) -> PyResult<String> {
    let spacing = trace::duration_from_millis(spacing_ms).map_err(refuse)?;
    let delays = delays_ms.as_slice()?.iter().map(|ms| trace::duration_from_millis(*ms));
    let delays = delays.collect::<Result<Vec<_>, _>>().map_err(refuse)?;
    let times = times_s.as_slice()?.iter().map(|secs| trace::instant_from_secs(*secs));
    let times = times.collect::<Result<Vec<_>, _>>().map_err(refuse)?;
    let series = Steps::new(times, delays, None).map_err(refuse)?;
    trace::write_delays(&series, spacing).map_err(refuse)
}
