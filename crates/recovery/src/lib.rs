//! Loss recovery of one TCP-like packet stream, as Linux does it: RTT and RTO, SACK scoreboard with
//! RACK, Proportional Rate Reduction, delivery-rate samples, delayed acknowledgements. And what a receiver
//! measures of it: how long bytes that came wait for earlier ones.
//!
//! Sans-IO: `now` is an argument everywhere; nothing here reads a clock or sends a packet.
//!
//! Sequence numbers count packets, not bytes: the model is packet-level, a packet keeps its
//! boundaries when it is retransmitted.

mod ack_policy;
mod in_order;
mod prr;
mod rack;
mod rate;
mod rtt;
mod scoreboard;
mod undo;

pub use ack_policy::AckPolicy;
pub use in_order::{Blocked, BlockedTime, InOrderWaits, Reordering};
pub use prr::Prr;
pub use rate::{DeliverySample, DeliverySampler, SendSnapshot};
pub use rtt::{RTO_INITIAL, RTO_MAX, RTO_MIN, RttEstimator};
pub use scoreboard::{AckOutcome, LossOutcome, Scoreboard, SentPacket};
pub use undo::UndoPoint;

#[cfg(test)]
mod tests;
