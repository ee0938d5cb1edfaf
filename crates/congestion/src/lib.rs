//! Congestion control: how much may be in flight on one path, and how fast it may leave.
//!
//! Sans-IO: a controller never sees a clock, a socket or a global random source; `now` is an
//! argument, and randomness comes from the seed it was built with.
//!
//! One file per algorithm. [`Controller`] is the whole contract; [`Algorithm`] names every
//! implementation and builds it. See CONTRIBUTING.md, "Adding a congestion control".

mod algorithm;
mod controller;

pub use algorithm::{Algorithm, Config, UnknownAlgorithm};
pub use controller::{AckSample, Controller, LossSample, RateSample};
