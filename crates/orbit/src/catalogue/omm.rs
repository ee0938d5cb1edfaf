//! Orbit Mean-Elements Messages as Celestrak and Space-Track give them out.

use super::{Found, place};
use crate::error::{Fault, OrbitError};
use sgp4::Elements;

pub(super) fn parse_json(text: &str, file: &str) -> Result<Vec<Found>, OrbitError> {
    let found: Vec<Elements> = serde_json::from_str(text)
        .map_err(|error| place(file, error.line().max(1), Fault::Field(error.to_string())))?;
    // JSON does not keep the lines of what it read: name the file's first one.
    Ok(found.into_iter().map(|elements| (1, elements)).collect())
}

pub(super) fn parse_csv(text: &str, file: &str) -> Result<Vec<Found>, OrbitError> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let at = |error: csv::Error| {
        let line = error.position().map_or(1, |position| position.line() as usize);
        place(file, line, Fault::Field(error.to_string()))
    };
    let header = reader.headers().map_err(at)?.clone();
    let mut found = Vec::new();
    for record in reader.records() {
        let record = record.map_err(at)?;
        let line = record.position().map_or(1, |position| position.line() as usize);
        found.push((line, record.deserialize(Some(&header)).map_err(at)?));
    }
    Ok(found)
}
