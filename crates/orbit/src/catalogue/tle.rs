//! Two-line element sets (format: Celestrak, "NORAD Two-Line Element Set Format").

use super::{Found, place};
use crate::error::{Fault, OrbitError};
use sgp4::Elements;

const LENGTH: usize = 69;

pub(super) fn parse(text: &str, file: &str) -> Result<Vec<Found>, OrbitError> {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim_end()));
    let mut lines = lines.filter(|(_, line)| !line.is_empty()).peekable();
    let mut found = Vec::new();
    while let Some((number, line)) = lines.next() {
        let next_is = |lines: &mut std::iter::Peekable<_>, start: &str| {
            lines.peek().is_some_and(|(_, line): &(usize, &str)| line.starts_with(start))
        };
        // A name may begin with "1 " too; then line 1 follows instead of line 2.
        let named = !line.starts_with("1 ") || next_is(&mut lines, "1 ");
        let missing = |line, wanted| place(file, line, Fault::LineMissing { wanted });
        let (first_number, first) = if named {
            let first = lines.next().ok_or_else(|| missing(number, '1'))?;
            if !first.1.starts_with("1 ") {
                return Err(missing(first.0, '1'));
            }
            first
        } else {
            (number, line)
        };
        let (second_number, second) = lines.next().ok_or_else(|| missing(first_number, '2'))?;
        if !second.starts_with("2 ") {
            return Err(missing(second_number, '2'));
        }
        check(first).map_err(|fault| place(file, first_number, fault))?;
        check(second).map_err(|fault| place(file, second_number, fault))?;
        // Space-Track writes the name as line 0.
        let name = named.then(|| line.strip_prefix("0 ").unwrap_or(line).trim().to_owned());
        let elements = Elements::from_tle(name, first.as_bytes(), second.as_bytes())
            .map_err(|error| place(file, first_number, Fault::Field(error.to_string())))?;
        found.push((first_number, elements));
    }
    Ok(found)
}

/// Length, character set and checksum (modulo 10 of all digits, a minus counts 1); the reader of
/// the fields relies on them.
fn check(line: &str) -> Result<(), Fault> {
    if !line.is_ascii() {
        return Err(Fault::NotAscii);
    }
    if line.len() != LENGTH {
        return Err(Fault::Length { found: line.len() });
    }
    let (body, last) = line.split_at(LENGTH - 1);
    let value = |c: char| if c == '-' { 1 } else { c.to_digit(10).unwrap_or(0) };
    let expected = body.chars().map(value).sum::<u32>() % 10;
    let found = last.chars().next().unwrap_or(' ');
    if found.to_digit(10) == Some(expected) {
        Ok(())
    } else {
        Err(Fault::Checksum { found, expected })
    }
}
