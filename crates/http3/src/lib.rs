//! HTTP/3 (RFC 9114) on a multipath QUIC connection. Sans-IO: bytes of streams go in, fields and bodies
//! come out.
//!
//! A [`Message`] reads one request or response, frame by frame, and checks its form; [`Link`] has what
//! both ends say beside that: settings and the streams of QPACK. [`Fields`] become bytes by [`head`].
//! Everything that a peer sends is taken for hostile: sizes are bounded, and whatever RFC 9114 calls an
//! error is one here, with its code.
//!
//! **Not there:** server push; a dynamic table of QPACK (RFC 9204 §3.2: its capacity is 0, so no stream
//! waits for another one); CONNECT, extended or not; datagrams; priorities. Fields are written
//! without Huffman's code.

mod control;
mod error;
mod fields;
mod frame;
mod head;
mod link;
mod message;
mod qpack;

pub use error::{Code, Error};
pub use fields::Fields;
pub use head::{Head, Request, Response};
pub use link::{Link, Side};
pub use message::{Item, Message, data_head, head};

/// The protocol's name (RFC 9114 §3.1).
pub const H3: &[u8] = b"h3";

/// Largest field section that is accepted (RFC 9114 §4.2.2), announced as SETTINGS_MAX_FIELD_SECTION_SIZE.
pub const MAX_FIELD_SECTION_BYTES: u64 = 16 << 10;

#[cfg(test)]
mod tests;
