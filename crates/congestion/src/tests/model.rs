//! One sender, one bottleneck, one receiver: a FIFO path with a fixed rate, a drop-tail queue and
//! random loss, on a virtual clock. Data are endless, each packet is acknowledged, and a lost
//! packet is replaced by a new one (as in QUIC), so nothing here depends on retransmissions.

use crate::{AckSample, Config, Controller, LossSample, RateSample};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;
use units::{Bitrate, Duration, Instant};

/// A FIFO path: what it carries, and what it loses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    pub(crate) rate: Bitrate,
    pub(crate) rtt: Duration,
    pub(crate) queue_packets: u64,
    pub(crate) loss: Loss,
    pub(crate) seed: u64,
}

/// What the path loses besides what its queue has no room for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Loss {
    /// Nothing.
    None,
    /// Each packet with this probability, independently.
    Random(f64),
    /// One packet in this many, at equal distances.
    Every(u64),
    /// Everything that is sent between the two.
    Outage(Instant, Instant),
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    acked: bool,
    at: Instant,
    first_sent: Instant,
    delivered_bytes: u64,
    delivered_at: Instant,
    lost_bytes: u64,
    tx_in_flight_bytes: u64,
}

/// Proportional Rate Reduction (RFC 6937 §3), for controllers that ask for it.
#[derive(Clone, Copy, Debug, Default)]
struct Prr {
    delivered: u64,
    out: u64,
    flight_at_start: u64,
    allowed: u64,
}

/// Sender and path together.
pub(crate) struct Model {
    pub(crate) controller: Box<dyn Controller>,
    pub(crate) now: Instant,
    pub(crate) delivered_bytes: u64,
    pub(crate) lost_packets: u64,
    pub(crate) in_flight_bytes: u64,
    pub(crate) srtt: Duration,
    path: Path,
    mss: u64,
    rng: ChaCha8Rng,
    link_free_at: Instant,
    acks: VecDeque<(Instant, u64)>,
    outstanding: VecDeque<Sent>,
    first_number: u64,
    delivered_at: Instant,
    first_sent: Instant,
    lost_bytes: u64,
    min_rtt: Duration,
    next_release: Instant,
    recovery_until: Option<u64>,
    timed_out: bool,
    prr: Prr,
}

impl Model {
    pub(crate) fn new(controller: Box<dyn Controller>, config: Config, path: Path) -> Self {
        Self {
            controller,
            now: Instant::ZERO,
            delivered_bytes: 0,
            lost_packets: 0,
            in_flight_bytes: 0,
            srtt: Duration::ZERO,
            path,
            mss: config.mss_bytes,
            rng: ChaCha8Rng::seed_from_u64(path.seed),
            link_free_at: Instant::ZERO,
            acks: VecDeque::new(),
            outstanding: VecDeque::new(),
            first_number: 0,
            delivered_at: Instant::ZERO,
            first_sent: Instant::ZERO,
            lost_bytes: 0,
            min_rtt: Duration::MAX,
            next_release: Instant::ZERO,
            recovery_until: None,
            timed_out: false,
            prr: Prr::default(),
        }
    }

    pub(crate) fn window_packets(&self) -> u64 {
        self.controller.window_bytes() / self.mss
    }

    /// The path changes. Packets that wait keep the times they were given, and none overtakes.
    pub(crate) fn change(&mut self, rate: Bitrate, rtt: Duration) {
        self.path.rate = rate;
        self.path.rtt = rtt;
    }

    /// Packets that wait at the bottleneck.
    pub(crate) fn queued_packets(&self) -> u64 {
        self.path.rate.bytes_in(self.link_free_at - self.now) / self.mss
    }

    /// Runs one event: an acknowledgement, a paced departure, or a timeout.
    pub(crate) fn step(&mut self) {
        self.send();
        let ack_at = self.acks.front().map_or(Instant::FAR_FUTURE, |(at, _)| *at);
        let release = if self.may_send() { self.next_release } else { Instant::FAR_FUTURE };
        if ack_at == Instant::FAR_FUTURE && release == Instant::FAR_FUTURE {
            return self.time_out();
        }
        if release < ack_at {
            self.now = release;
            return;
        }
        self.now = ack_at;
        let (_, number) = self.acks.pop_front().expect("the queue has a front: its time is finite");
        self.acknowledge(number);
    }

    fn may_send(&self) -> bool {
        let mut room = self.controller.window_bytes().saturating_sub(self.in_flight_bytes);
        if self.recovery_until.is_some() && !self.timed_out && self.controller.reduces_by_prr() {
            room = self.prr.allowed.saturating_sub(self.prr.out);
        }
        room >= self.mss
    }

    fn send(&mut self) {
        while self.may_send() && self.next_release <= self.now {
            let quantum = self.controller.send_quantum_bytes();
            let mut burst = 0;
            while self.may_send() && burst + self.mss <= quantum {
                self.send_one();
                burst += self.mss;
            }
            if let Some(span) = self.controller.pacing_rate().and_then(|rate| rate.time_for(burst))
            {
                self.next_release = self.now + span;
            }
        }
    }

    fn send_one(&mut self) {
        let was_idle = self.in_flight_bytes == 0;
        if was_idle {
            self.first_sent = self.now;
            self.delivered_at = self.now;
        }
        self.in_flight_bytes += self.mss;
        self.prr.out += self.mss;
        let number = self.first_number + self.outstanding.len() as u64;
        self.outstanding.push_back(Sent {
            acked: false,
            at: self.now,
            first_sent: self.first_sent,
            delivered_bytes: self.delivered_bytes,
            delivered_at: self.delivered_at,
            lost_bytes: self.lost_bytes,
            tx_in_flight_bytes: self.in_flight_bytes,
        });
        self.controller.on_sent(self.now, self.mss, self.in_flight_bytes, was_idle);
        if self.loses(number) || self.queued_packets() >= self.path.queue_packets {
            return;
        }
        let service = self.path.rate.time_for(self.mss).expect("the path carries something");
        self.link_free_at = self.link_free_at.max(self.now) + service;
        let last = self.acks.back().map_or(Instant::ZERO, |(at, _)| *at);
        self.acks.push_back(((self.link_free_at + self.path.rtt).max(last), number));
    }

    fn loses(&mut self, number: u64) -> bool {
        match self.path.loss {
            Loss::None => false,
            Loss::Outage(begin, end) => (begin..end).contains(&self.now),
            Loss::Every(count) => number % count == count - 1,
            // 53 random bits make a number in [0, 1).
            Loss::Random(p) => ((self.rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64) < p,
        }
    }

    fn acknowledge(&mut self, number: u64) {
        let prior_in_flight = self.in_flight_bytes;
        let Some(index) = number.checked_sub(self.first_number) else { return }; // given up
        let packet = &mut self.outstanding[index as usize];
        packet.acked = true;
        let sent = *packet;
        self.in_flight_bytes -= self.mss;
        self.delivered_bytes += self.mss;
        self.delivered_at = self.now;
        let rtt = self.now - sent.at;
        self.min_rtt = self.min_rtt.min(rtt);
        self.srtt = if self.srtt.is_zero() { rtt } else { (self.srtt * 7 + rtt) / 8 }; // RFC 6298
        let lost = self.mark_lost(number);
        if self.recovery_until.is_some_and(|until| self.first_number >= until) {
            self.recovery_until = None;
            self.timed_out = false;
            self.controller.on_recovered(self.now);
        }
        let sample = AckSample {
            acked_bytes: self.mss,
            lost_bytes: lost,
            rtt: Some(rtt),
            ack_delayed: false,
            srtt: self.srtt,
            min_rtt: self.min_rtt,
            prior_in_flight_bytes: prior_in_flight,
            in_flight_bytes: self.in_flight_bytes,
            delivered_bytes: self.delivered_bytes,
            prior_delivered_bytes: sent.delivered_bytes,
            rate: self.sample_rate(&sent),
            window_limited: true,
            in_recovery: self.recovery_until.is_some(),
        };
        self.first_sent = sent.at;
        self.controller.on_acked(self.now, &sample);
        self.reduce_rate(lost);
    }

    /// Three later packets were acknowledged: lost (RFC 6675). Tells the controller.
    fn mark_lost(&mut self, newest_acked: u64) -> u64 {
        let mut lost = 0;
        let (mut tx_in_flight, mut lost_before) = (0, 0);
        while let Some(packet) = self.outstanding.front() {
            if !packet.acked {
                if self.first_number + 3 > newest_acked {
                    break;
                }
                lost += self.mss;
                tx_in_flight = packet.tx_in_flight_bytes;
                lost_before = packet.lost_bytes;
            }
            self.outstanding.pop_front();
            self.first_number += 1;
        }
        if lost == 0 {
            return 0;
        }
        self.in_flight_bytes -= lost;
        self.lost_bytes += lost;
        self.lost_packets += lost / self.mss;
        let new_episode = self.recovery_until.is_none();
        if new_episode {
            self.recovery_until = Some(self.first_number + self.outstanding.len() as u64);
            let flight_at_start = self.in_flight_bytes + lost;
            self.prr = Prr { flight_at_start, ..Prr::default() };
        }
        let loss = LossSample {
            lost_bytes: lost,
            in_flight_bytes: self.in_flight_bytes,
            tx_in_flight_bytes: tx_in_flight,
            lost_since_sent_bytes: self.lost_bytes - lost_before,
            delivered_bytes: self.delivered_bytes,
            new_episode,
        };
        self.controller.on_lost(self.now, &loss);
        lost
    }

    /// RFC 6937 §3: how much may have left by now in this episode.
    fn reduce_rate(&mut self, lost: u64) {
        let target = self.controller.window_bytes();
        self.prr.delivered += self.mss;
        let room = if self.in_flight_bytes > target {
            let proportional = self.prr.delivered * target;
            proportional.div_ceil(self.prr.flight_at_start.max(1)).saturating_sub(self.prr.out)
        } else {
            let limit = self.prr.delivered.saturating_sub(self.prr.out).max(self.mss) + self.mss;
            limit.min(target - self.in_flight_bytes)
        };
        // The fast retransmission is not held back.
        let first = if self.prr.out == 0 && lost > 0 { self.mss } else { 0 };
        self.prr.allowed = self.prr.out + room.max(first);
    }

    /// draft-ietf-ccwg-bbr §4.1.
    fn sample_rate(&self, sent: &Sent) -> Option<RateSample> {
        let interval = (sent.at - sent.first_sent).max(self.delivered_at - sent.delivered_at);
        if interval < self.min_rtt {
            return None;
        }
        let delivered_bytes = self.delivered_bytes - sent.delivered_bytes;
        Some(RateSample {
            rate: Bitrate::from_bytes_per(delivered_bytes, interval),
            delivered_bytes,
            interval,
            app_limited: false,
            tx_in_flight_bytes: sent.tx_in_flight_bytes,
            lost_bytes: self.lost_bytes - sent.lost_bytes,
        })
    }

    /// Nothing is on its way and nothing may leave: everything outstanding is lost.
    fn time_out(&mut self) {
        self.now += self.srtt.max(self.path.rtt) + Duration::from_millis(200); // Linux RTO
        self.controller.on_timeout(self.now, self.in_flight_bytes, self.timed_out);
        self.lost_packets += self.in_flight_bytes / self.mss;
        self.lost_bytes += self.in_flight_bytes;
        self.in_flight_bytes = 0;
        self.first_number += self.outstanding.len() as u64;
        self.outstanding.clear();
        self.timed_out = true;
        self.recovery_until = Some(self.first_number + 1); // repaired by the next acknowledgement
    }
}
