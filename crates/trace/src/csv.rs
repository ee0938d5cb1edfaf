use crate::number::{decimal, instant_from_secs, parse_amount};
use crate::{Fault, Steps, TraceError, limits};
use units::Instant;

/// Name of the column that holds the times, in seconds.
pub const TIME_COLUMN: &str = "time_s";

/// Reads column `column` of a table whose header names its columns, one of them [`TIME_COLUMN`].
/// Cells are separated by commas; times start at 0 and increase; values are finite and not
/// negative. The loop period is not part of the file: see [`Steps::repeating`].
///
/// # Errors
/// [`TraceError::Line`] with the first line that breaks a rule.
pub fn parse_csv(text: &str, file: &str, column: &str) -> Result<Steps<f64>, TraceError> {
    let at = |line, fault| TraceError::Line { file: file.to_owned(), line, fault };
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    let header = lines.next().ok_or_else(|| at(1, Fault::Empty))?;
    let layout = Layout::read(header, column).map_err(|fault| at(1, fault))?;
    let (mut times, mut values, mut places) = (Vec::new(), Vec::new(), Vec::new());
    for (index, line) in lines.enumerate() {
        let place = index + 2;
        let (time, value) = layout.read_line(line).map_err(|fault| at(place, fault))?;
        limits::room_for_more(times.len(), file, place)?;
        times.push(time);
        values.push(value);
        places.push(place);
    }
    Steps::new(times, values, None).map_err(|error| error.in_file(file, &places))
}

/// Writes a series as a table with the columns [`TIME_COLUMN`] and `column`, one line for each
/// entry; [`parse_csv`] gives back the same times and values. The loop period is not written.
pub fn write_csv(series: &Steps<f64>, column: &str) -> String {
    let mut text = format!("{TIME_COLUMN},{column}\n");
    for (time, value) in series.times().iter().zip(series.values()) {
        text.push_str(&format!("{},{value}\n", decimal(time.as_nanos(), 9)));
    }
    text
}

/// Where the two cells stand on a line.
struct Layout {
    columns: usize,
    time: usize,
    value: usize,
}

impl Layout {
    fn read(header: &str, column: &str) -> Result<Self, Fault> {
        let names: Vec<&str> = header.split(',').map(str::trim).collect();
        let find = |wanted: &str| {
            let no_column =
                || Fault::NoSuchColumn { wanted: wanted.to_owned(), header: header.to_owned() };
            names.iter().position(|&name| name == wanted).ok_or_else(no_column)
        };
        Ok(Self { columns: names.len(), time: find(TIME_COLUMN)?, value: find(column)? })
    }

    fn read_line(&self, line: &str) -> Result<(Instant, f64), Fault> {
        if line.trim().is_empty() {
            return Err(Fault::BlankLine);
        }
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        if cells.len() != self.columns {
            return Err(Fault::WrongColumns { found: cells.len(), expected: self.columns });
        }
        let (time, value) = (cells[self.time], cells[self.value]);
        if time.is_empty() {
            return Err(Fault::MissingTime);
        }
        if value.is_empty() {
            return Err(Fault::MissingValue);
        }
        Ok((limits::within_span(instant_from_secs(parse_amount(time)?)?)?, parse_amount(value)?))
    }
}
