//! Multipath QUIC on UDP sockets: drivers for the endpoints of `crates/mpquic`, and what runs on them.
//!
//! A [`Client`] has a socket for each path, bound to an interface; a [`Server`] has one socket for
//! all its connections, and distinguishes a client's paths by their addresses. Both run in the
//! caller's thread and hand everything to a [`Session`]. Datagrams of one size leave as one batch
//! (GSO), and come in batches (GRO, `recvmmsg`), by quinn-udp. Linux first: elsewhere it is not
//! tried.
//!
//! A server keeps a bounded number of connections and of handshakes under way, in all, of one address and
//! of one network ([`Limits`]); it asks for a proof of the client's address (Retry) when many are, makes
//! room by closing who is idle, and refuses the others at once.
//!
//! **Not there:** migration of a path to other addresses, which clients here do by opening a new path.

mod carry;
mod client;
mod clock;
mod connect;
mod digest;
mod error;
mod fetch;
mod files;
mod foresight;
mod gate;
mod gateway;
mod get;
mod hints;
mod interfaces;
mod kernel;
mod lane;
mod limits;
mod log;
mod options;
mod part;
mod peer;
mod poller;
mod server;
mod session;
mod socket;
mod tell;
mod tls;
mod transfer;
mod wait;
mod watch;

pub use carry::{Behaviour, Carry, TransferServer, carry};
pub use client::{Client, ClientConfig};
pub use clock::{Clock, monotonic_ns};
pub use error::SocketError;
pub use fetch::{Fetch, Fetched, More, fetch, resolve};
pub use files::{Files, Served, bound_for_files, check_token};
pub use foresight::{Foresight, PathForecasts};
pub use gate::RetryPolicy;
pub use gateway::{
    Connect, Door, Doors, GATEWAY, Gateway, Origin, Origins, Passed, Passing, bound_for_gateway,
};
pub use get::{Get, Order, Progress};
pub use hints::{Aware, AwareService, Hints};
pub use http3::H3;
pub use interfaces::Local;
pub use kernel::{KernelEnd, KernelListener, KernelPlan, KernelReport, KernelTransport};
pub use limits::Limits;
pub use options::Options;
pub use server::{Server, ServerConfig, Service};
pub use session::{Ends, Notice, PathReport, Session, Status};
pub use tls::{Anchor, HQ_INTEROP, Identity, Trust};
pub use transfer::{Happening, PathRow, Row, Shared, Transfer, TransferPlan, TransferReport};

#[cfg(test)]
extern crate self as sockets; // what tests share with the examples names the crate from outside

#[cfg(test)]
mod tests;
