//! Time, windows of it, rate, direction and path identity: the words that every other crate shares.
//!
//! Sans-IO: no clock is read here. An [`Instant`] counts nanoseconds since the run began and is
//! always handed in by the engine.

mod bitrate;
mod direction;
mod duration;
mod instant;
mod path;
mod ranges;
mod window;

pub use bitrate::Bitrate;
pub use direction::Direction;
pub use duration::Duration;
pub use instant::Instant;
pub use path::PathId;
pub use ranges::Ranges;
pub use window::{Window, union};

#[cfg(test)]
mod tests;
