//! Applications: what runs over a connection, whatever the connection speaks.
//!
//! Sans-IO: `now` is an argument; no sockets, threads, clock or randomness. An [`Application`] is one end
//! of a workload. It reads and writes [`Streams`], which the simulator's ends, multipath QUIC on UDP
//! sockets and the kernel's TCP and Multipath TCP sockets all provide, so that one file serves every
//! transport and both engines. What it measures goes into the record as a table of its own
//! ([`Describe::columns`]).
//!
//! A new kind of workload is one file here and one line in `workload.rs`.

mod adaptive;
mod application;
mod blocked;
mod bulk;
mod describe;
mod ease;
mod error;
mod forecasts;
mod objects;
mod paced;
mod pipe;
mod requests;
mod streams;
mod table;
mod video;
mod workload;

pub use crate::video::{Film, Video};
pub use ::video::abr::Abr;
pub use adaptive::Adaptive;
pub use application::{Application, Signal, deliver};
pub use bulk::Bulk;
pub use describe::Describe;
pub use ease::Ease;
pub use error::WorkloadError;
pub use forecasts::Forecasts;
pub use paced::{Paced, Ways};
pub use pipe::Pipe;
pub use requests::Requests;
pub use streams::{MAX_FILLER_BYTES, PathStatus, Priority, Read, StreamId, Streams};
pub use table::{Cell, Column, Row};
pub use workload::Workload;

#[cfg(test)]
mod tests;
