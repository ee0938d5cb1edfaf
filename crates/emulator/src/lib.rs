//! The links of `crates/link` in real time: a relay carries frames between pairs of TUN devices.
//!
//! Each path has a device at the client and one at the server. What is read from one is pushed onto a
//! link; what the link hands out is written to the other. The link computes all moments on its virtual
//! clock, so a late wake-up delays a frame, but changes no verdict and loses no capacity. Where devices
//! have segmentation offload (`offload.rs`), one read or write moves many frames of a flow.
//!
//! `core.rs` is that, sans-IO: time is an argument, devices are a trait. `run.rs` is the thread around
//! it with its clock and its sleep, `moderation.rs` how long that is, `relay.rs` the handle that others
//! hold.

mod capture;
mod clock;
mod core;
mod device;
mod error;
mod frame;
mod moderation;
mod offload;
mod pcapng;
mod relay;
mod run;
mod samples;
mod statistics;

pub use core::Change;
pub use error::EmulatorError;
pub use offload::Offload;
pub use relay::{Relay, RelayConfig};
pub use samples::Sample;
pub use statistics::{Counts, Lateness, Statistics};

#[cfg(test)]
mod tests;
