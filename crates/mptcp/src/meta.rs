//! The connection above its subflows: one stream in data sequence numbers.

mod receive;
mod send;

pub(crate) use receive::ReceiveBuffer;
pub(crate) use send::SendBuffer;
