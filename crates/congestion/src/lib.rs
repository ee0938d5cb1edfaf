//! Congestion control: how much may be in flight on one path, and how fast it may leave.
//!
//! Sans-IO: a controller never sees a clock, a socket or a global random source; `now` is an
//! argument, and randomness comes from the seed it was built with.
//!
//! One file (or folder) per algorithm. [`Controller`] is the whole contract; [`Algorithm`] names
//! every implementation and builds it. See CONTRIBUTING.md, "Adding a congestion control".
//!
//! Numbers are the same on every machine: integers, or floats by `+ - * /` only.

mod algorithm;
mod balia;
mod bbr;
mod bbr_v2_v3;
mod boundary;
mod config;
mod controller;
mod coupled;
mod cubic;
mod fast;
mod group;
mod headroom;
mod hybla;
mod leocc;
mod lia;
mod loss_based;
mod newreno;
mod olia;
mod picoquic;
mod wvegas;

pub use algorithm::{Algorithm, Choice, build};
pub use config::Config;
pub use controller::{AckSample, Controller, LossSample, Phase, RateSample};
pub use group::{Group, Member, Paths, Sibling};

// The harness of the property test is used by the fuzzer, too, for which this crate is another.
#[cfg(test)]
extern crate self as congestion;
#[cfg(test)]
mod tests;
