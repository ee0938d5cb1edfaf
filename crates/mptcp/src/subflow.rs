//! One subflow: handshake, sending and receiving side.

mod handshake;
mod pacing;
mod receiver;
mod sender;

pub(crate) use handshake::{Handshake, State};
#[cfg(test)]
pub(crate) use pacing::Pacer;
pub(crate) use receiver::SubflowReceiver;
pub(crate) use sender::{CaState, Effects, Mapping, SenderStats, SubflowSender};

use crate::config::EndpointConfig;
use congestion::Group;
use units::{Instant, PathId};

/// One subflow of an endpoint.
#[derive(Debug)]
pub(crate) struct Subflow {
    pub path: PathId,
    pub incarnation: u16,
    pub backup: bool,
    pub handshake: Handshake,
    pub tx: SubflowSender,
    pub rx: SubflowReceiver,
}

impl Subflow {
    pub fn new(
        config: &EndpointConfig,
        group: &Group,
        path: PathId,
        incarnation: u16,
        handshake: Handshake,
    ) -> Self {
        let mut controller = config.controller;
        controller.seed = controller.seed.wrapping_add(u64::from(path.0));
        Self {
            path,
            incarnation,
            backup: config.backup.get(path.index()).copied().unwrap_or(false),
            handshake,
            tx: SubflowSender::new(
                config.mode,
                congestion::build(&config.congestion, controller, group),
            ),
            rx: SubflowReceiver::default(),
        }
    }

    /// Data may be sent.
    pub fn is_established(&self) -> bool {
        self.handshake.state() == State::Established
    }

    /// What it adds to the send buffer of its connection (`__mptcp_sync_sndbuf`).
    pub fn lent_bytes(&self) -> u64 {
        if self.is_established() { self.tx.memory_bytes() } else { 0 }
    }

    /// The next moment at which [`Subflow::on_timer`] has something to do.
    pub fn next_timer(&self) -> Instant {
        let ack = self.rx.acks.deadline().unwrap_or(Instant::FAR_FUTURE);
        self.tx.next_timer().min(ack).min(self.handshake.deadline())
    }
}
