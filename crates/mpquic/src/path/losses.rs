//! What acknowledgements and losses do to a path (RFC 9002).

use super::{EcnPath, Path, Space};
use crate::space::SentPacket;
use crate::wire::AckFrame;
use congestion::{AckSample, LossSample, RateSample};
use units::{Bitrate, Duration, Instant};

/// Losses over this many probe timeouts without an acknowledgement between are persistent
/// congestion (RFC 9002 §7.6.1, kPersistentCongestionThreshold).
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

impl Path {
    /// It failed, and answers. What was sent before that measured the silence and not the path: its
    /// RTT is left out, once; a path that fails again before it could be measured has become slower.
    /// If what was given up arrived after all (a link that held it), the window is not to blame.
    pub fn on_revived(&mut self, now: Instant, acked: &[(u64, SentPacket)]) {
        if !std::mem::replace(&mut self.rtt_doubted, true) {
            self.rtt_from = now;
        }
        if acked.iter().any(|(_, packet)| packet.given_up) {
            self.cc.on_spurious(now);
        }
    }

    /// Feeds RTT, delivery rate and congestion control; returns what is lost by this acknowledgement.
    /// `space` is the handshake's, or `None` for the path's own.
    pub fn settle(
        &mut self,
        now: Instant,
        space: Option<&mut Space>,
        ack: &AckFrame,
        (delay, acked): (Duration, &[(u64, SentPacket)]),
    ) -> Vec<(u64, SentPacket)> {
        let mut settled = Settled { prior_in_flight: self.in_flight, ..Settled::default() };
        let largest = ack.ranges.first().map(|range| *range.end());
        for (number, packet) in acked {
            if Some(*number) == largest && acked.iter().any(|(_, packet)| packet.eliciting) {
                let rtt = now - packet.sent_at; // RFC 9002 §5.1
                if packet.sent_at >= self.rtt_from {
                    settled.rtt = Some(rtt);
                    self.rtt.on_sample(now, rtt, delay);
                    self.rtt_doubted = false;
                }
            }
            let here = packet.sent_at >= self.moved_at;
            if packet.bytes > 0 && here {
                self.sampler.on_delivered(now, packet.bytes, &packet.snapshot);
            }
            if !packet.given_up {
                self.in_flight = self.in_flight.saturating_sub(packet.bytes);
            }
            settled.acked += if here { packet.bytes } else { 0 };
            self.stats.delivered_bytes += packet.bytes;
            settled.newest = settled.newest.max(Some(packet.sent_at));
        }
        let lost = match space {
            Some(space) => space.take_lost(now, &self.rtt),
            None => self.space.take_lost(now, &self.rtt),
        };
        settled.lost = self.on_lost(now, &lost);
        if settled.acked > 0 {
            self.on_acked(now, &settled, delay > Duration::from_millis(1));
        }
        lost
    }

    /// Checks what the peer says about marks; those of the network are a congestion event
    /// (RFC 9002 §7.1), one per round trip.
    pub fn on_marks(&mut self, now: Instant, ack: &AckFrame, acked: &[(u64, SentPacket)]) {
        if self.ecn == EcnPath::Off {
            return;
        }
        let sent = self.space.sent.next();
        let Ok(marks) = self.space.ecn.update(ack.ecn, acked.len() as u64, sent) else {
            self.ecn = EcnPath::Off;
            return;
        };
        self.ecn = EcnPath::Capable;
        let Some((_, newest)) = acked.last().filter(|_| marks > 0) else { return };
        if self.recovery_start.is_some_and(|start| newest.sent_at <= start) {
            return;
        }
        self.recovery_start = Some(now);
        self.in_recovery = true;
        self.stats.ecn_events += 1;
        let mark = self.loss_sample(newest, 0, true);
        self.cc.on_congestion_experienced(now, &mark);
    }

    fn loss_sample(&self, newest: &SentPacket, lost_bytes: u64, new_episode: bool) -> LossSample {
        LossSample {
            lost_bytes,
            in_flight_bytes: self.in_flight,
            tx_in_flight_bytes: newest.snapshot.tx_in_flight_bytes,
            lost_since_sent_bytes: self.sampler.lost_bytes() - newest.snapshot.prior_lost_bytes(),
            delivered_bytes: self.sampler.delivered_bytes(),
            new_episode,
        }
    }

    fn on_acked(&mut self, now: Instant, settled: &Settled, ack_delayed: bool) {
        if self.in_recovery && settled.newest > self.recovery_start {
            self.in_recovery = false; // RFC 9002 §7.3.2
            self.cc.on_recovered(now);
        }
        let window = self.cc.window_bytes();
        let slow_start = window < self.cc.ssthresh_bytes();
        // RFC 9002 §7.8: grow only what is used; a pacer keeps a few packets back, slow start half.
        let used = settled.prior_in_flight;
        let window_limited = if slow_start {
            used * 2 >= window
        } else {
            // What the scheduler holds back could be used, up to four times what is.
            used + used / 4 >= window || self.filled && used * 4 >= window
        };
        let sample = self.sampler.take_sample(self.rtt.min());
        let delivered_bytes = self.sampler.delivered_bytes();
        let rate = sample.map(|sample| RateSample {
            rate: Bitrate::from_bytes_per(sample.delivered_bytes, sample.interval),
            delivered_bytes: sample.delivered_bytes,
            interval: sample.interval,
            app_limited: sample.app_limited,
            tx_in_flight_bytes: sample.tx_in_flight_bytes,
            lost_bytes: sample.lost_bytes,
        });
        let prior = sample
            .map_or(delivered_bytes.saturating_sub(settled.acked), |s| s.prior_delivered_bytes);
        self.cc.on_acked(
            now,
            &AckSample {
                acked_bytes: settled.acked,
                lost_bytes: settled.lost,
                rtt: settled.rtt,
                ack_delayed,
                srtt: self.rtt.smoothed(),
                min_rtt: self.rtt.min(),
                prior_in_flight_bytes: settled.prior_in_flight,
                in_flight_bytes: self.in_flight,
                delivered_bytes,
                prior_delivered_bytes: prior,
                rate,
                window_limited,
                in_recovery: self.in_recovery,
            },
        );
    }

    /// Tells the congestion control what is lost: bytes that were in flight.
    pub fn on_lost(&mut self, now: Instant, lost: &[(u64, SentPacket)]) -> u64 {
        let in_flight = |(_, packet): &&(u64, SentPacket)| packet.bytes > 0 && !packet.given_up;
        // RFC 9000 §14.4: that a probe was lost says nothing of congestion.
        let (probes, counted): (Vec<_>, Vec<_>) =
            lost.iter().filter(in_flight).partition(|(_, packet)| packet.probed().is_some());
        let probe_bytes: u64 = probes.iter().map(|(_, packet)| packet.bytes).sum();
        self.in_flight = self.in_flight.saturating_sub(probe_bytes);
        let bytes: u64 = counted.iter().map(|(_, packet)| packet.bytes).sum();
        let Some((_, newest)) = counted.last() else { return 0 };
        self.in_flight = self.in_flight.saturating_sub(bytes);
        self.stats.lost_packets += counted.len() as u64;
        self.sampler.on_lost(bytes);
        let new_episode = self.recovery_start.is_none_or(|start| newest.sent_at > start);
        if new_episode {
            self.recovery_start = Some(now);
            self.in_recovery = true;
        }
        let loss = self.loss_sample(newest, bytes, new_episode);
        self.cc.on_lost(now, &loss);
        if self.is_persistent(&counted) {
            self.cc.on_timeout(now, self.in_flight + bytes, false);
        }
        bytes
    }

    /// Whether the losses say that nothing came through for long (RFC 9002 §7.6).
    fn is_persistent(&self, lost: &[&(u64, SentPacket)]) -> bool {
        let eliciting = || lost.iter().map(|(_, packet)| packet).filter(|packet| packet.eliciting);
        let (Some(oldest), Some(newest)) = (eliciting().next(), eliciting().next_back()) else {
            return false;
        };
        let unbroken = newest.order - oldest.order < lost.len() as u64;
        let span = newest.sent_at - oldest.sent_at;
        // RFC 9002 §7.6.2: only what was sent after the first RTT sample.
        let sampled = self.rtt.first_at().is_some_and(|at| at <= oldest.sent_at);
        unbroken && sampled && span > self.pto() * PERSISTENT_PTOS
    }
}
