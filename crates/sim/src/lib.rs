//! The engine in virtual time: paths, connections that share them, scripts, and the record.
//!
//! Sans-IO: time is virtual, randomness comes from the seed of the run; nothing is printed or read.
//! The same [`RunConfig`] gives the same [`Outcome`] on every machine.

mod config;
mod connection;
mod error;
mod network;
mod outcome;
mod run;
mod script;
mod streams;

pub use config::{
    BulkConfig, ConnectionConfig, Direction, ForecastKind, PathConfig, RunConfig, Transport,
    UpWindow,
};
pub use error::SimError;
pub use outcome::{ConnectionTotals, EventRow, LinkTotals, Outcome, PathTotals, SampleRow, Totals};
pub use run::{simulate, simulate_with};

#[cfg(test)]
mod tests;
