//! One packet number space: what was received, what was sent.

mod received;
mod sent;
mod skips;

pub(crate) use received::Received;
pub(crate) use sent::{Again, SentFrame, SentFrames, SentPacket, SentPackets, chunks_of};
