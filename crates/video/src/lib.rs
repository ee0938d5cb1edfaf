//! Video players: from what a network delivers to what a viewer sees.
//!
//! Sans-IO, and without a transport: a player is given the bytes that arrived and when, and returns the
//! pictures that it showed, those that were late, and the next request. Progressive players ([`progressive`]) play one file, described by a
//! [`FrameTable`]; the adaptive player ([`Adaptive`]) asks for the chunks of a [`Ladder`] in the quality
//! that an algorithm ([`abr`]) chooses.

pub mod abr;
mod adaptive;
mod error;
mod frames;
mod ladder;
pub mod progressive;
mod qoe;
mod session;

pub use adaptive::{Adaptive, Film, Request};
pub use error::VideoError;
pub use frames::{FrameTable, MAX_PICTURES};
pub use ladder::{Ladder, MAX_CHUNKS, MAX_QUALITIES};
pub use qoe::{Qoe, Terms, Value};
pub use session::{Entry, Event, Row, Session};

#[cfg(test)]
mod tests;
