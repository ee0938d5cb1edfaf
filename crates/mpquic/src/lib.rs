//! Multipath QUIC. Sans-IO: no sockets, threads, wall clock or global random source; `now` and the
//! random seed are arguments.
//!
//! One [`Endpoint`] is one end of one connection, client or server: datagrams go in by
//! [`Endpoint::handle`] and come out by [`Endpoint::poll_transmit`], each with the path that it takes.
//! TLS 1.3 and all cryptography are those of rustls and ring. Their keys are random, so the bytes of
//! two runs differ; what is sent when, and how long it is, follows from the seed.
//!
//! What no other endpoint lets a caller choose is chosen here: the path of each packet of data by a
//! [`scheduler::Scheduler`] (which may send a later piece of a stream first, or fill the queue of a
//! full path), the path of acknowledgements by [`AckPath`], what is sent again on other paths by
//! [`Reinjection`], and when a path rests by [`Endpoint::set_forecast`].
//!
//! **There:** QUIC version 1 (RFC 9000, 9001, 9002) with streams both ways, flow control with windows
//! that grow, DATAGRAM (RFC 9221), key update, Retry ([`Retry`]), version negotiation, stateless reset,
//! idle timeout, discovery of each path's MTU ([`Config::most_datagram_bytes`]), clients whose address changes (NAT rebinding), ECN both ways ([`Config::ecn`]; the
//! caller sets the mark), qlog ([`Endpoint::set_qlog`]); the multipath extension
//! (draft-ietf-quic-multipath-21 as noq-proto 1.4 speaks it): path IDs, packet number spaces and
//! connection IDs per path, validation, PATH_ACK, PATH_ABANDON, PATH_STATUS. A path that is silent for
//! max(3 PTO, 500 ms) counts as failed; its flight goes elsewhere one PTO after it was expected, and it
//! is used again when it answers a probe.
//!
//! **Not there:** 0-RTT; session tickets kept beyond what rustls does; NEW_TOKEN; migration that a client
//! wants, other than by a path of its own; a preferred address; ACK frequency; QUIC version 2; stream priorities;
//! key updates and timers in the qlog. What a scheduler hears of delivery
//! ([`scheduler::Scheduler::on_delivered`]) counts the bytes of one stream. A listener for many
//! connections is the caller's; `crates/sockets` has one.
//!
//! A peer that acknowledges all paths on one (noq-proto) makes every path look silent when that one is
//! dark: nothing here helps against that.
//!
//! It has had **no external security review**.

mod application_host;
mod arrival;
mod cids;
mod config;
mod control;
mod crypto;
mod datagrams;
mod draft;
mod ecn;
mod endpoint;
mod error;
mod event;
mod forgeries;
mod handshake;
mod key_order;
mod keys;
mod lifetime;
mod path;
mod path_manager;
mod qlog;
mod refuse;
mod reset;
mod retry;
mod scheduling;
mod space;
mod spare;
mod streams;
mod study;
mod totals;
mod trace;
mod turn;
mod upkeep;
pub mod wire;

pub use application_host::ApplicationHost;
pub use cids::LOCAL_LEN as LOCAL_CID_BYTES;
pub use config::{AckPath, Config, FlowControl, PacingTimer, Reinjection, Role};
pub use ecn::Ecn;
pub use endpoint::{Endpoint, Read};
pub use error::{Code, Error, TransportError};
pub use event::{Closed, Event};
pub use path::{Health, PathStats};
pub use path_manager::{Action, PathManager, PathNews};
pub use qlog::QlogSchema;
pub use refuse::refuse;
pub use reset::stateless_reset;
pub use retry::{Retried, Retry, Token};
pub use rustls;
pub use study::{QuicConfig, Reinject, StudyConnection};
pub use totals::Totals;

#[cfg(test)]
mod tests;
