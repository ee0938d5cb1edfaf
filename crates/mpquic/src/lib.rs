//! Multipath QUIC. Sans-IO: no sockets, threads, wall clock or global random source; `now` and the
//! random seed are arguments.

mod cids;
mod config;
mod crypto;
mod endpoint;
mod error;
mod event;
mod path;
mod reset;
mod space;
mod streams;
pub mod wire;

pub use config::{AckPath, Config, Reinjection, Role};
pub use endpoint::{Ecn, Endpoint, Read, Totals};
pub use error::{Code, Error, TransportError};
pub use event::{Closed, Event};
pub use path::PathStats;
pub use reset::stateless_reset;
pub use rustls;

#[cfg(test)]
mod tests;
