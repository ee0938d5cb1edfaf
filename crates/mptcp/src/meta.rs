//! The connection above its subflows: one stream in data sequence numbers.

mod cuts;
mod receive;
mod send;

pub(crate) use cuts::{Cuts, FRAGMENT_BYTES};
pub(crate) use receive::ReceiveBuffer;
pub(crate) use send::SendBuffer;
