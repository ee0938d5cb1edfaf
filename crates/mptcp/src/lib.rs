//! TCP and Multipath TCP as packets: a sans-IO endpoint with the rules of both Linux
//! implementations.
//!
//! No sockets, threads or clocks: an engine hands in packets and the time ([`Endpoint::handle`],
//! [`Endpoint::on_timeout`]) and takes packets out ([`Endpoint::poll_transmit`]) until
//! [`Endpoint::poll_timeout`].
//!
//! The model is packet-level: subflow sequence numbers count segments, the data sequence number
//! (DSN) counts bytes. Single-path TCP is the same code with one path and plain headers.
//! Two modes differ where Linux differs ([`Mode`], docs/model.md §2.8); what is left out is in
//! docs/model.md §8.

mod config;
mod endpoint;
mod event;
mod meta;
mod segment;
mod subflow;

pub use config::{EndpointConfig, Mode, Role};
pub use endpoint::{Endpoint, PathStats, Totals};
pub use event::{Event, EventKind};
pub use segment::{Kind, Payload, Sacks, Segment};

#[cfg(test)]
mod tests;
