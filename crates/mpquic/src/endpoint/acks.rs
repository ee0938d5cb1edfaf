//! Acknowledgements and losses of what we sent (RFC 9002).

use super::Endpoint;
use super::frames::violation;
use super::handshake::Level;
use crate::error::TransportError;
use crate::event::Event;
use crate::path::{EcnPath, Health, Path, Space};
use crate::space::{SentFrame, SentPacket};
use crate::wire::{AckFrame, Frame};
use congestion::{AckSample, LossSample, RateSample};
use scheduler::PathEvent;
use units::{Bitrate, Duration, Instant};

/// Losses over so many probe timeouts without an acknowledgement between are persistent congestion
/// (RFC 9002 §7.6.1, kPersistentCongestionThreshold).
const PERSISTENT_PTOS: u32 = 3;

/// Bytes that an acknowledgement settled.
#[derive(Clone, Copy, Debug, Default)]
struct Settled {
    prior_in_flight: u64,
    acked: u64,
    lost: u64,
    rtt: Option<Duration>,
    newest: Option<Instant>,
}

impl Endpoint {
    pub(super) fn on_handshake_ack(
        &mut self,
        now: Instant,
        level: Level,
        ack: &AckFrame,
    ) -> Result<(), TransportError> {
        let space = &mut self.handshake.space_mut(level).space;
        let acked =
            space.take_acked(ack).map_err(|()| violation("acknowledged what was not sent"))?;
        let Some(path) = self.paths.get_mut(&0) else { return Ok(()) };
        let space = &mut self.handshake.space_mut(level).space;
        let lost = apply(now, path, Some(space), ack, (Duration::ZERO, &acked));
        if !acked.is_empty() {
            self.handshake.pto_count = 0;
        }
        for (_, packet) in acked {
            self.settle_handshake(level, packet, true);
        }
        self.log_lost(now, (level, 0), &lost);
        for (_, packet) in lost {
            self.settle_handshake(level, packet, false);
        }
        Ok(())
    }

    pub(super) fn settle_handshake(&mut self, level: Level, packet: SentPacket, acked: bool) {
        for frame in packet.frames {
            let SentFrame::Crypto(range) = frame else { continue };
            if acked {
                self.handshake.space_mut(level).out.on_acked(range, false);
            } else {
                self.on_crypto_lost(level, range);
            }
        }
    }

    pub(super) fn on_path_ack(
        &mut self,
        now: Instant,
        id: u32,
        ack: &AckFrame,
    ) -> Result<(), TransportError> {
        let exponent = self.peer.ack_delay_exponent;
        let delay = Duration::from_micros(ack.delay.saturating_mul(1 << exponent));
        let delay = delay.min(self.max_ack_delay()); // RFC 9002 §5.3
        let Some(path) = self.paths.get_mut(&id) else {
            // A path that is over may still be acknowledged; one that never was may not.
            let known = id < self.next_path;
            return known.then_some(()).ok_or_else(|| violation("acknowledged an unknown path"));
        };
        let largest = path.space.largest_acked;
        let acked =
            path.space.take_acked(ack).map_err(|()| violation("acknowledged what was not sent"))?;
        path.stats.spurious_losses += path.space.take_spurious(ack);
        if acked.is_empty() {
            return Ok(());
        }
        if path.space.largest_acked > largest {
            on_marks(now, path, ack, &acked);
        }
        let lost = apply(now, path, None, ack, (delay, &acked));
        path.pto_count = 0; // RFC 9002 §6.2.1
        path.silent_since = path.space.is_eliciting().then_some(now);
        let was = std::mem::replace(&mut path.health, Health::Good);
        let net = path.net;
        if was == Health::Failed {
            self.tell_of_path(now, id, Event::PathRevived(net));
            self.scheduler.on_path_event(now, net, PathEvent::Revived);
        }
        if let Some(keys) = &mut self.one_rtt {
            acked.iter().for_each(|(_, packet)| keys.on_acked(packet.sent_at));
        }
        let bytes: u64 = acked.iter().map(|(_, packet)| packet.bytes).sum();
        if bytes > 0 {
            self.scheduler.on_acked(now, net, bytes);
        }
        for (_, packet) in acked {
            self.on_packet_acked(packet);
        }
        self.on_packets_lost(now, id, lost);
        self.log_metrics(now, id);
        Ok(())
    }

    fn on_packet_acked(&mut self, packet: SentPacket) {
        for frame in packet.frames {
            match frame {
                SentFrame::Stream(chunk) if self.streams.on_acked(&chunk) => {
                    self.events.push_back(Event::Sent(chunk.id));
                    self.streams.collect(chunk.id);
                }
                SentFrame::Crypto(range) => {
                    self.handshake.space_mut(Level::OneRtt).out.on_acked(range, false);
                }
                SentFrame::Ack { path, largest } => {
                    if let Some(path) = self.paths.get_mut(&path) {
                        path.space.received.forget_through(largest);
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
        let Some(path) = self.paths.get(&id) else { return };
        let net = path.net;
        let bytes: u64 = lost.iter().map(|(_, packet)| packet.bytes).sum();
        if bytes > 0 {
            self.scheduler.on_lost(now, net, bytes);
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
                SentFrame::Crypto(range) => self.on_crypto_lost(Level::OneRtt, range),
                SentFrame::Ack { .. } => {}
                SentFrame::Control(frame) => self.control.push_back(*frame),
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

    /// The loss timer of a path, or of the handshake, fired.
    pub(super) fn detect_losses(&mut self, now: Instant) {
        for level in [Level::Initial, Level::Handshake] {
            let Some(path) = self.paths.get_mut(&0) else { break };
            let space = &mut self.handshake.space_mut(level).space;
            if space.loss_at.is_none_or(|at| at > now) {
                continue;
            }
            let lost = space.take_lost(now, &path.rtt);
            on_lost(now, path, &lost);
            self.log_lost(now, (level, 0), &lost);
            for (_, packet) in lost {
                self.settle_handshake(level, packet, false);
            }
        }
        let due = |path: &&Path| path.space.loss_at.is_some_and(|at| at <= now);
        let due: Vec<u32> = self.paths.values().filter(due).map(|path| path.id).collect();
        for id in due {
            let Some(path) = self.paths.get_mut(&id) else { continue };
            let lost = path.space.take_lost(now, &path.rtt);
            on_lost(now, path, &lost);
            self.on_packets_lost(now, id, lost);
            self.log_metrics(now, id);
        }
    }
}

/// Feeds RTT, delivery rate and congestion control; returns what is lost by this acknowledgement.
/// `space` is the handshake's, or `None` for the path's own.
fn apply(
    now: Instant,
    path: &mut Path,
    space: Option<&mut Space>,
    ack: &AckFrame,
    (delay, acked): (Duration, &[(u64, SentPacket)]),
) -> Vec<(u64, SentPacket)> {
    let mut settled = Settled { prior_in_flight: path.in_flight, ..Settled::default() };
    let largest = ack.ranges.first().map(|range| *range.end());
    for (number, packet) in acked {
        if Some(*number) == largest && acked.iter().any(|(_, packet)| packet.eliciting) {
            let rtt = now - packet.sent_at; // RFC 9002 §5.1
            settled.rtt = Some(rtt);
            path.rtt.on_sample(rtt, delay);
        }
        if packet.bytes > 0 {
            path.sampler.on_delivered(now, packet.bytes, &packet.snapshot);
        }
        if !packet.given_up {
            path.in_flight = path.in_flight.saturating_sub(packet.bytes);
        }
        settled.acked += packet.bytes;
        settled.newest = settled.newest.max(Some(packet.sent_at));
    }
    path.stats.delivered_bytes += settled.acked;
    let lost = match space {
        Some(space) => space.take_lost(now, &path.rtt),
        None => path.space.take_lost(now, &path.rtt),
    };
    settled.lost = on_lost(now, path, &lost);
    if settled.acked > 0 {
        on_acked(now, path, &settled, delay > Duration::from_millis(1));
    }
    lost
}

/// Checks what the peer says about marks; those of the network are a congestion event
/// (RFC 9002 §7.1), one per round trip.
fn on_marks(now: Instant, path: &mut Path, ack: &AckFrame, acked: &[(u64, SentPacket)]) {
    if path.ecn == EcnPath::Off {
        return;
    }
    let sent = path.space.sent.next();
    let Ok(marks) = path.space.ecn.update(ack.ecn, acked.len() as u64, sent) else {
        path.ecn = EcnPath::Off;
        return;
    };
    path.ecn = EcnPath::Capable;
    let Some((_, newest)) = acked.last().filter(|_| marks > 0) else { return };
    if path.recovery_start.is_some_and(|start| newest.sent_at <= start) {
        return;
    }
    path.recovery_start = Some(now);
    path.in_recovery = true;
    path.stats.ecn_events += 1;
    let mark = loss_sample(path, newest, 0, true);
    path.cc.on_congestion_experienced(now, &mark);
}

fn loss_sample(path: &Path, newest: &SentPacket, lost_bytes: u64, new_episode: bool) -> LossSample {
    LossSample {
        lost_bytes,
        in_flight_bytes: path.in_flight,
        tx_in_flight_bytes: newest.snapshot.tx_in_flight_bytes,
        lost_since_sent_bytes: path.sampler.lost_bytes() - newest.snapshot.prior_lost_bytes(),
        delivered_bytes: path.sampler.delivered_bytes(),
        new_episode,
    }
}

fn on_acked(now: Instant, path: &mut Path, settled: &Settled, ack_delayed: bool) {
    if path.in_recovery && settled.newest > path.recovery_start {
        path.in_recovery = false; // RFC 9002 §7.3.2
        path.cc.on_recovered(now);
    }
    let window = path.cc.window_bytes();
    let slow_start = window < path.cc.ssthresh_bytes();
    // RFC 9002 §7.8: grow only what is used; a pacer keeps a few packets back, slow start half.
    let used = settled.prior_in_flight;
    let window_limited = if slow_start { used * 2 >= window } else { used + used / 4 >= window };
    let sample = path.sampler.take_sample(path.rtt.min());
    let delivered_bytes = path.sampler.delivered_bytes();
    let rate = sample.map(|sample| RateSample {
        rate: Bitrate::from_bytes_per(sample.delivered_bytes, sample.interval),
        delivered_bytes: sample.delivered_bytes,
        interval: sample.interval,
        app_limited: sample.app_limited,
        tx_in_flight_bytes: sample.tx_in_flight_bytes,
        lost_bytes: sample.lost_bytes,
    });
    let prior =
        sample.map_or(delivered_bytes.saturating_sub(settled.acked), |s| s.prior_delivered_bytes);
    path.cc.on_acked(
        now,
        &AckSample {
            acked_bytes: settled.acked,
            lost_bytes: settled.lost,
            rtt: settled.rtt,
            ack_delayed,
            srtt: path.rtt.smoothed(),
            min_rtt: path.rtt.min(),
            prior_in_flight_bytes: settled.prior_in_flight,
            in_flight_bytes: path.in_flight,
            delivered_bytes,
            prior_delivered_bytes: prior,
            rate,
            window_limited,
            in_recovery: path.in_recovery,
        },
    );
}

/// Tells the congestion control what is lost: bytes that were in flight.
fn on_lost(now: Instant, path: &mut Path, lost: &[(u64, SentPacket)]) -> u64 {
    let counted: Vec<&(u64, SentPacket)> =
        lost.iter().filter(|(_, packet)| packet.bytes > 0 && !packet.given_up).collect();
    let bytes: u64 = counted.iter().map(|(_, packet)| packet.bytes).sum();
    let Some((_, newest)) = counted.last() else { return 0 };
    path.in_flight = path.in_flight.saturating_sub(bytes);
    path.stats.lost_packets += counted.len() as u64;
    path.sampler.on_lost(bytes);
    let new_episode = path.recovery_start.is_none_or(|start| newest.sent_at > start);
    if new_episode {
        path.recovery_start = Some(now);
        path.in_recovery = true;
    }
    let loss = loss_sample(path, newest, bytes, new_episode);
    path.cc.on_lost(now, &loss);
    if is_persistent(path, &counted) {
        path.cc.on_timeout(now, path.in_flight + bytes, false);
    }
    bytes
}

/// Whether the losses say that nothing came through for long (RFC 9002 §7.6).
fn is_persistent(path: &Path, lost: &[&(u64, SentPacket)]) -> bool {
    let (Some((first, oldest)), Some((last, newest))) = (lost.first(), lost.last()) else {
        return false;
    };
    let unbroken = last - first + 1 == lost.len() as u64;
    let span = newest.sent_at - oldest.sent_at;
    unbroken && path.rtt.has_sample() && span > path.rtt.pto() * PERSISTENT_PTOS
}
