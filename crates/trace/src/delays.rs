use crate::number::{decimal, duration_from_millis, parse_amount};
use crate::{Fault, Steps, TraceError, limits};
use units::{Duration, Instant};

/// Spacing of the lines in the delay files of LeoReplayer (LeoCC, SIGCOMM 2025).
pub const DELAY_SPACING: Duration = Duration::from_millis(10);

/// Reads a one-way-delay series: one number of milliseconds per line, `spacing` apart
/// ([`DELAY_SPACING`] by default in published files).
///
/// # Errors
/// [`TraceError::Line`] with the first line that breaks a rule.
pub fn parse_delays(
    text: &str,
    file: &str,
    spacing: Duration,
) -> Result<Steps<Duration>, TraceError> {
    let (mut times, mut values, mut now) = (Vec::new(), Vec::new(), Instant::ZERO);
    for (index, line) in text.lines().enumerate() {
        let delay = parse_delay(line.trim()).map_err(|fault| TraceError::Line {
            file: file.to_owned(),
            line: index + 1,
            fault,
        })?;
        limits::room_for_more(times.len(), file, index + 1)?;
        let time = limits::within_span(now).map_err(|fault| TraceError::Line {
            file: file.to_owned(),
            line: index + 1,
            fault,
        })?;
        times.push(time);
        values.push(delay);
        now += spacing;
    }
    if spacing.is_zero() {
        let fault = Fault::BadSpacing { found: spacing };
        return Err(TraceError::Line { file: file.to_owned(), line: 1, fault });
    }
    let lines: Vec<usize> = (1..=times.len()).collect();
    Steps::new(times, values, None).map_err(|error| error.in_file(file, &lines))
}

/// Writes a one-way-delay series, one line each `spacing` up to its last step;
/// [`parse_delays`] gives back the same delay at all times.
///
/// # Errors
/// When a step is not at a multiple of `spacing`: it would be lost.
pub fn write_delays(series: &Steps<Duration>, spacing: Duration) -> Result<String, TraceError> {
    if spacing.is_zero() {
        return Err(TraceError::Entry { index: 0, fault: Fault::BadSpacing { found: spacing } });
    }
    let mut text = String::new();
    let ends = series.times().iter().skip(1).map(Some).chain([None]);
    for (index, (delay, end)) in series.values().iter().zip(ends).enumerate() {
        let start = series.times()[index];
        let span = end.map_or(spacing, |&end| end - start);
        if span.as_nanos() % spacing.as_nanos() != 0 {
            let fault = Fault::OffGrid { time: start + span, spacing };
            return Err(TraceError::Entry { index: index + 1, fault });
        }
        let line = decimal(delay.as_nanos(), 6) + "\n";
        let lines = span.as_nanos() / spacing.as_nanos();
        text.extend(std::iter::repeat_n(line.as_str(), lines as usize));
    }
    Ok(text)
}

fn parse_delay(text: &str) -> Result<Duration, Fault> {
    if text.is_empty() {
        return Err(Fault::BlankLine);
    }
    duration_from_millis(parse_amount(text)?)
}
