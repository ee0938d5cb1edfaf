//! A consumer of the awareness library (`docs/awareness.md`), with nothing but the standard library.
//!
//! [`Page`] reads the hints of a path from shared memory, [`forecasts`] and [`Events`] ask a
//! publisher on its Unix socket. What is late, wrong or absent is `None` or the end: who uses this
//! goes on as without it. The moment `now` is an argument, in nanoseconds of `CLOCK_MONOTONIC`.

mod page;
mod socket;

pub use page::{Hint, Kind, Page};
pub use socket::{Event, Events, forecasts};

#[cfg(test)]
mod tests;
