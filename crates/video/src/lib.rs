//! Video: what a viewer sees of what a network delivers.
//!
//! Sans-IO, and without a transport: players are told what came and when, and say what was shown, what
//! was late and what to ask for next. Progressive players ([`progressive`]) play one file, described by a
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
