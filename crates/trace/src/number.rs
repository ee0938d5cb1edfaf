use crate::Fault;
use units::{Duration, Instant};

/// The instant `secs` seconds after the run began, to the nearest nanosecond (exact to the
/// nanosecond below 104 days, the 53 bits of a double).
///
/// # Errors
/// NaN, an infinity, a negative number or more than 584 years.
pub fn instant_from_secs(secs: f64) -> Result<Instant, Fault> {
    scaled(secs, 1e9).map(Instant::from_nanos)
}

/// A duration of `millis` milliseconds, to the nearest nanosecond.
///
/// # Errors
/// NaN, an infinity, a negative number or more than 584 years.
pub fn duration_from_millis(millis: f64) -> Result<Duration, Fault> {
    scaled(millis, 1e6).map(Duration::from_nanos)
}

/// `value` × `nanos_per_unit` as whole nanoseconds.
fn scaled(value: f64, nanos_per_unit: f64) -> Result<u64, Fault> {
    check(value, &value.to_string())?;
    let nanos = (value * nanos_per_unit).round();
    if nanos >= u64::MAX as f64 {
        return Err(Fault::TooLarge { found: value.to_string() });
    }
    Ok(nanos as u64)
}

/// Reads a finite number that is not negative.
pub(crate) fn parse_amount(text: &str) -> Result<f64, Fault> {
    let found = || text.to_owned();
    let value: f64 = text.parse().map_err(|_| Fault::NotANumber { found: found() })?;
    check(value, text)?;
    Ok(value.abs()) // "-0" is 0
}

fn check(value: f64, text: &str) -> Result<(), Fault> {
    if !value.is_finite() {
        return Err(Fault::NotFinite { found: text.to_owned() });
    }
    if value < 0.0 {
        return Err(Fault::Negative { found: text.to_owned() });
    }
    Ok(())
}

/// `count` units of 10^-`digits` as a decimal number without needless zeros: the exact inverse of
/// reading it back.
pub(crate) fn decimal(count: u64, digits: u32) -> String {
    let unit = 10_u64.pow(digits);
    let (whole, part) = (count / unit, count % unit);
    if part == 0 {
        return whole.to_string();
    }
    let text = format!("{whole}.{part:0width$}", width = digits as usize);
    text.trim_end_matches('0').to_owned()
}
