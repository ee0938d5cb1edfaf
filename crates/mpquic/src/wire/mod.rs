//! The bytes of QUIC: packets, frames, transport parameters.

mod cid;
mod frame;
mod frame_decode;
mod frame_encode;
mod header;
mod number;
mod params;
mod varint;

pub use cid::{ConnectionId, MAX_CID_LEN, ResetToken};
pub use frame::{AckFrame, EcnCounts, Frame, NewCid};
pub(crate) use header::KEY_PHASE_BIT;
pub use header::{
    Header, Kind, MIN_INITIAL_BYTES, VERSION_1, begin_long, begin_retry, begin_short, parse,
    version_negotiation,
};
pub use number::{decode_number, number_len};
pub use params::Params;
pub use varint::{MAX_VARINT, Reader, put_two_varints, put_varint, varint_len};

/// Why bytes could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// The bytes end before the field does.
    #[error("the bytes end within {0}")]
    Short(&'static str),
    /// A field has a value that the specification forbids.
    #[error("{0} has a value that is not allowed")]
    Value(&'static str),
    /// A frame type that was not negotiated or does not exist.
    #[error("frame type {0:#x} is not known")]
    UnknownFrame(u64),
    /// A path ID beyond 2^32 - 1 (draft-ietf-quic-multipath-21 §4.6).
    #[error("a path ID is beyond 2^32 - 1")]
    PathId,
    /// A version other than QUIC version 1.
    #[error("QUIC version {0:#x} is not spoken here")]
    Version(u32),
}
