//! Acknowledgements and losses of what we sent (RFC 9002).

use super::Endpoint;
use crate::error::TransportError;
use crate::event::Event;
use crate::handshake::Level;
use crate::path::{Acked, Health, Path};
use crate::space::chunks_of;
use crate::space::{SentFrame, SentPacket};
use crate::wire::{AckFrame, Frame};
use scheduler::PathEvent;
use units::{Duration, Instant};

impl Endpoint {
    pub(super) fn on_handshake_ack(
        &mut self,
        now: Instant,
        level: Level,
        ack: &AckFrame,
    ) -> Result<(), TransportError> {
        let space = &mut self.handshake.space_mut(level).space;
        let acked = space
            .take_acked(ack)
            .map_err(|()| TransportError::violation("acknowledged what was not sent"))?
            .packets;
        let Some(path) = self.paths.get_mut(0) else { return Ok(()) };
        let lost = path.settle(now, Some(space), ack, (Duration::ZERO, &acked));
        if !acked.is_empty() {
            self.handshake.on_acked();
        }
        let frames_of = |packets: Vec<(u64, SentPacket)>| {
            packets.into_iter().flat_map(|(_, packet)| packet.frames)
        };
        self.handshake.space_mut(level).settle(frames_of(acked), true);
        self.log_lost(now, (level, 0), &lost);
        self.handshake.space_mut(level).settle(frames_of(lost), false);
        Ok(())
    }

    pub(super) fn on_path_ack(
        &mut self,
        now: Instant,
        id: u32,
        ack: &AckFrame,
    ) -> Result<(), TransportError> {
        let exponent = self.handshake.peer.ack_delay_exponent;
        let delay = Duration::from_micros(ack.delay.saturating_mul(1 << exponent));
        let delay = delay.min(self.handshake.peer_ack_delay()); // RFC 9002 §5.3
        let Some(path) = self.paths.get_mut(id) else {
            // A path that is over may still be acknowledged; one that never was may not.
            let known = self.paths.ids.is_below_next(id);
            return known
                .then_some(())
                .ok_or_else(|| TransportError::violation("acknowledged an unknown path"));
        };
        let largest = path.space.largest_acked;
        let Acked { packets: mut acked, spurious } = path
            .space
            .take_acked(ack)
            .map_err(|()| TransportError::violation("acknowledged what was not sent"))?;
        path.stats.spurious_losses += spurious;
        if acked.is_empty() {
            return Ok(());
        }
        if self.config.is_client() {
            self.on_confirmed(now); // RFC 9001 §4.1.2: HANDSHAKE_DONE may be lost with its path
        }
        let Some(path) = self.paths.get_mut(id) else { return Ok(()) };
        let was = std::mem::replace(&mut path.health, Health::Good);
        if was == Health::Failed {
            path.on_revived(now, &acked);
        }
        if path.space.largest_acked > largest {
            path.on_marks(now, ack, &acked);
        }
        path.mtu.on_acked_packets(now, &acked);
        let lost = path.settle(now, None, ack, (delay, &acked));
        path.pto_count = 0; // RFC 9002 §6.2.1
        path.silent_since = path.space.is_eliciting().then_some(now);
        let net = path.net;
        if was == Health::Failed {
            self.trace.path_event(now, id, Event::PathRevived(net));
            self.scheduling.dispatch.on_path_event(now, net, PathEvent::Revived);
        }
        if let Some(keys) = &mut self.keys {
            acked.iter().for_each(|(_, packet)| keys.on_acked(packet.sent_at));
        }
        let bytes: u64 = acked.iter().map(|(_, packet)| packet.bytes).sum();
        if bytes > 0 {
            self.scheduling.dispatch.on_acked(now, net, bytes);
        }
        let newest = acked.iter().rev().find_map(|(_, packet)| chunks_of(&packet.frames).last());
        let newest = newest.map(|chunk| (chunk.id, chunk.range.end));
        for (_, packet) in acked.drain(..) {
            self.on_packet_acked(packet);
        }
        if let Some(path) = self.paths.get_mut(id) {
            path.space.reuse(acked);
        }
        // In the bytes of one stream: what a scheduler makes of it holds for connections with one.
        if let Some((stream, end)) = newest {
            let whole = self.streams.acked_to(stream).unwrap_or(end);
            self.scheduling.dispatch.on_delivered(now, net, end, whole);
        }
        self.on_packets_lost(now, id, lost);
        if was != Health::Good {
            self.relieve_suspected_paths();
        }
        self.log_metrics(now, id);
        Ok(())
    }

    fn on_packet_acked(&mut self, packet: SentPacket) {
        for frame in packet.frames {
            match frame {
                SentFrame::Stream(chunk) if self.streams.on_acked(&chunk) => {
                    self.trace.event(Event::Sent(chunk.id));
                    self.streams.collect(chunk.id);
                }
                SentFrame::Crypto(_) => {
                    self.handshake.space_mut(Level::OneRtt).settle([frame], true);
                }
                SentFrame::Ack { path, largest } => {
                    if let Some(path) = self.paths.get_mut(path) {
                        path.space.received.settle_through(largest);
                    }
                }
                SentFrame::Control(frame) => {
                    if let Frame::ResetStream { id, .. } = *frame {
                        self.streams.collect(id);
                    }
                }
                _ => {}
            }
        }
    }

    /// What lost packets carried goes through the scheduler again.
    pub(super) fn on_packets_lost(&mut self, now: Instant, id: u32, lost: Vec<(u64, SentPacket)>) {
        self.log_lost(now, (Level::OneRtt, id), &lost);
        let Some(path) = self.paths.get_mut(id) else { return };
        path.mtu.on_lost_packets(now, &lost);
        let net = path.net;
        let data = lost.iter().filter(|(_, packet)| packet.probed().is_none());
        let bytes: u64 = data.map(|(_, packet)| packet.bytes).sum();
        if bytes > 0 {
            self.scheduling.dispatch.on_lost(now, net, bytes);
        }
        for (_, packet) in lost {
            if !packet.given_up {
                self.send_again(id, packet.frames);
            }
        }
    }

    /// Queues what a packet of path `by` carried, as far as it is still missing.
    pub(super) fn send_again(&mut self, by: u32, frames: impl IntoIterator<Item = SentFrame>) {
        for frame in frames {
            match frame {
                SentFrame::Stream(chunk) => self.streams.on_lost(&chunk, by),
                SentFrame::Crypto(_) => {
                    self.handshake.space_mut(Level::OneRtt).settle([frame], false);
                }
                SentFrame::Ack { .. } | SentFrame::MtuProbe(_) => {}
                SentFrame::Control(frame) => self.control.push_again(*frame),
                SentFrame::MaxData => self.streams.window.changed = true,
                SentFrame::MaxStreamData(id) => {
                    if self.streams.recv.contains_key(&id) {
                        self.streams.raised.insert(id);
                    }
                }
                SentFrame::MaxStreams(bidi) => {
                    self.streams.counts[usize::from(!bidi)].changed = true;
                }
            }
        }
    }

    fn log_lost(&mut self, now: Instant, (level, id): (Level, u32), lost: &[(u64, SentPacket)]) {
        let space = match level {
            Level::OneRtt => self.paths.get(id).map(|path| &path.space),
            _ => Some(&self.handshake.space(level).space),
        };
        let largest = space.and_then(|space| space.largest_acked);
        self.trace.packets_lost(now, (self.origin(level, id), largest), lost);
    }

    pub(super) fn log_metrics(&mut self, now: Instant, id: u32) {
        if let Some(path) = self.paths.get(id) {
            self.trace.metrics(now, path);
        }
    }

    /// The loss timer of a path, or of the handshake, fired.
    pub(super) fn detect_losses(&mut self, now: Instant) {
        for level in Level::LONG {
            let Some(path) = self.paths.get_mut(0) else { break };
            let space = &mut self.handshake.space_mut(level).space;
            if space.loss_at.is_none_or(|at| at > now) {
                continue;
            }
            let lost = space.take_lost(now, &path.rtt);
            path.on_lost(now, &lost);
            self.log_lost(now, (level, 0), &lost);
            let frames = lost.into_iter().flat_map(|(_, packet)| packet.frames);
            self.handshake.space_mut(level).settle(frames, false);
        }
        let due = |path: &Path| path.space.loss_at.is_some_and(|at| at <= now);
        for id in self.paths.ids_of(due) {
            let Some(path) = self.paths.get_mut(id) else { continue };
            let lost = path.space.take_lost(now, &path.rtt);
            path.on_lost(now, &lost);
            self.on_packets_lost(now, id, lost);
            self.log_metrics(now, id);
        }
    }
}
