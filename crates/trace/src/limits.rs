//! How long a trace may be: what is beyond is a mistake of units or an attack on memory.

use crate::{Fault, TraceError};
use units::{Duration, Instant};

/// The longest trace: a week.
pub const LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);

/// The most values of a trace; a file of them would be near a gigabyte.
pub const MOST_VALUES: usize = 100_000_000;

/// `time`, if a trace may have it.
pub(crate) fn within_span(time: Instant) -> Result<Instant, Fault> {
    if time > Instant::ZERO + LONGEST {
        let seconds = (time - Instant::ZERO).as_secs_f64();
        return Err(Fault::TooLong { found: format!("{seconds} s") });
    }
    Ok(time)
}

/// Refuses `line` of a file when a trace has all the values it may have.
pub(crate) fn room_for_more(values: usize, file: &str, line: usize) -> Result<(), TraceError> {
    if values < MOST_VALUES {
        return Ok(());
    }
    let fault = Fault::TooManyValues { most: MOST_VALUES };
    Err(TraceError::Line { file: file.to_owned(), line, fault })
}
