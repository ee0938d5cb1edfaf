//! The engine in virtual time: paths, connections that share them, scripts, and the record.
//!
//! Sans-IO: time is virtual, randomness comes from the seed of the run; nothing is printed or read.
//! The same [`RunConfig`] gives the same [`Outcome`] on every machine.

mod agenda;
mod config;
mod connection;
mod end;
mod error;
mod exposure;
pub mod faults;
mod following;
mod outcome;
mod own;
mod run;
mod script;
mod wire;

pub use config::{After, ConnectionConfig, RunConfig, Transport};
pub use error::SimError;
pub use outcome::{
    ApplicationTable, ConnectionTotals, EventRow, Outcome, PathTotals, SampleRow, Totals,
};
pub use own::{Own, OwnScheduler};
pub use run::{simulate, simulate_with};

#[cfg(test)]
mod tests;
