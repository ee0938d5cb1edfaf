//! Traces: what a link did over time, as data and as the text files that people publish.
//!
//! Sans-IO: no file is opened and no clock is read here; text, file names (for errors) and time are
//! arguments.
//!
//! * [`Steps`]: a value that is constant from each time to the next (rate, delay, loss ratio), with
//!   [`Cursor`] to read it in time order at no cost.
//! * [`Opportunities`]: mahimahi packet-delivery files, with [`OpportunityCursor`].
//! * [`parse_csv`], [`write_csv`]: `time_s,<column>` tables.
//! * [`parse_delays`], [`write_delays`]: one one-way delay in milliseconds per line.
//!
//! Every reader refuses bad input with one sentence: `FILE:LINE: what is wrong; what to do`.

mod csv;
mod cursor;
mod delays;
mod error;
mod limits;
mod number;
mod opportunities;
mod rate;
mod steps;

pub use csv::{TIME_COLUMN, parse_csv, write_csv};
pub use cursor::{Cursor, OpportunityCursor};
pub use delays::{DELAY_SPACING, parse_delays, write_delays};
pub use error::{Fault, TraceError};
pub use limits::{LONGEST, MOST_VALUES};
pub use number::{duration_from_millis, instant_from_secs};
pub use opportunities::{OPPORTUNITY_BYTES, Opportunities};
pub use steps::Steps;

#[cfg(test)]
mod tests;
