//! Files of element sets.

use crate::constellation::Constellation;
use crate::error::{Fault, OrbitError};
use crate::satellite::Satellite;
use sgp4::Elements;
use std::collections::BTreeMap;

mod omm;
mod tle;

/// How a file writes its element sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Two lines a satellite, with or without a line for the name (Celestrak "TLE" and "2LE",
    /// Space-Track "3LE").
    Tle,
    /// Orbit Mean-Elements Messages (CCSDS 502.0-B) as a JSON list of objects.
    Json,
    /// The same as a CSV table.
    Csv,
}

impl std::str::FromStr for Format {
    type Err = OrbitError;

    fn from_str(name: &str) -> Result<Self, OrbitError> {
        match name {
            "tle" => Ok(Self::Tle),
            "json" => Ok(Self::Json),
            "csv" => Ok(Self::Csv),
            found => Err(OrbitError::NoSuchFormat { found: found.to_owned() }),
        }
    }
}

/// Reads a file's text; `file` is its name for messages. Of several element sets of one catalogue
/// number the newest is kept.
///
/// # Errors
/// [`OrbitError`] with the line, and for a file without any satellite.
pub fn parse(text: &str, file: &str, format: Format) -> Result<Constellation, OrbitError> {
    let found = match format {
        Format::Tle => tle::parse(text, file)?,
        Format::Json => omm::parse_json(text, file)?,
        Format::Csv => omm::parse_csv(text, file)?,
    };
    let mut places = BTreeMap::new();
    let mut satellites: Vec<Satellite> = Vec::with_capacity(found.len());
    for (line, elements) in found {
        let satellite = Satellite::new(elements).map_err(|fault| place(file, line, fault))?;
        match places.get(&satellite.id()) {
            None => {
                places.insert(satellite.id(), satellites.len());
                satellites.push(satellite);
            }
            Some(&known) if satellites[known].epoch() < satellite.epoch() => {
                satellites[known] = satellite;
            }
            Some(_) => {}
        }
    }
    if satellites.is_empty() {
        return Err(OrbitError::File { file: file.to_owned(), fault: Fault::Empty });
    }
    Ok(Constellation::new(satellites))
}

/// An element set and the line where it begins.
type Found = (usize, Elements);

fn place(file: &str, line: usize, fault: Fault) -> OrbitError {
    OrbitError::Line { file: file.to_owned(), line, fault }
}
