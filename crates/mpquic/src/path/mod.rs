//! One path: its packet number space, RTT, congestion control, validation and state; and all of a
//! connection.

mod candidate;
mod carriers;
mod ecn;
mod ids;
mod losses;
mod maker;
mod mtu;
mod pacer;
mod rest;
mod rtt;
mod sending;
mod space;
mod stats;
mod status;
mod table;
#[cfg(test)]
mod table_tests;
mod timers;
mod twin;
mod validation;
mod ways;

pub(crate) use carriers::Carriers;
pub(crate) use ecn::{EcnPath, EcnSeen};
pub(crate) use rest::Rest;
pub(crate) use rtt::Rtt;
pub(crate) use space::{Acked, Space};
pub use stats::{Health, PathStats};
pub(crate) use status::PathStatus;
pub(crate) use table::{Changed, MAX_NETS, Paths};
pub(crate) use timers::{Due, Running};
pub(crate) use ways::Move;

use crate::config::PacingTimer;
use crate::space::Again;
use crate::streams::Chunk;
use candidate::{AMPLIFICATION, Candidate, LEAST_BYTES};
use congestion::Controller;
use forecast::Feed;
use mtu::Mtu;
use pacer::Pacer;
use recovery::DeliverySampler;
use scheduler::{Delivery, PathView};
use std::collections::VecDeque;
use twin::Twin;
use units::{Bitrate, Duration, Instant, PathId};

/// Packets that may leave back to back (RFC 9002 §7.7: no more than the initial window).
const BURST_PACKETS: u64 = 10;
/// The same at most where that is the controller's affair (picoquic `picoquic_update_pacing_data`).
const MOST_QUANTUM: u64 = 16;

/// Linux's floor of `rttvar_us`, which kernel ECF reads (`PathView::rttvar_kernel`).
const KERNEL_RTTVAR_FLOOR: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub(crate) struct Path {
    pub id: u32,
    pub net: PathId,
    pub space: Space,
    pub rtt: Rtt,
    pub cc: Box<dyn Controller>,
    pub sampler: DeliverySampler,
    pacer: Pacer,
    pacing_timer: PacingTimer,
    pub in_flight: u64,
    /// The peer has shown that it receives here.
    pub validated: bool,
    pub came_bytes: u64,
    pub left_bytes: u64,
    /// Ours, waiting for its answer; and when it is retransmitted.
    pub challenge: Option<[u8; 8]>,
    pub challenge_at: Option<Instant>,
    pub challenge_tries: u32,
    /// It left in a full datagram, so that its answer says that such pass (RFC 9000 §8.2.1).
    pub challenge_in_full: bool,
    pub response: Option<[u8; 8]>,
    /// Another way that its packets came.
    pub candidate: Option<Candidate>,
    /// The way that it has left, until that is found to work or not.
    pub former: Option<Candidate>,
    /// Not proven: where copies of what came over `net` come from; whatever leaves goes there, too.
    pub twin: Option<Twin>,
    pub health: Health,
    /// When the last authentic packet of the path came.
    pub heard_at: Instant,
    pub pto_count: u32,
    pub probes: u32,
    /// Packets sent earlier say nothing of the RTT; and that has been so since the last sample.
    pub rtt_from: Instant,
    /// When it came where it is (RFC 9000 §9.4).
    pub moved_at: Instant,
    pub rtt_doubted: bool,
    /// Another path over the same interface takes over once it is validated.
    pub replaced: bool,
    /// Since when something is in flight without any sign of life.
    pub silent_since: Option<Instant>,
    /// Losses of packets sent before belong to the episode under way (RFC 9002 §7.3.2).
    pub recovery_start: Option<Instant>,
    pub in_recovery: bool,
    /// How long the peer may hold an acknowledgement back.
    pub peer_ack_delay: Duration,
    pub feed: Feed,
    /// The outage under way was acted upon.
    pub outage_noted: bool,
    /// Nothing leaves until then.
    pub rest_until: Option<Instant>,
    pub local_backup: bool,
    pub status_sequence: u64,
    pub peer_backup: bool,
    pub peer_status_sequence: Option<u64>,
    /// Given up: what still comes is acknowledged elsewhere until then.
    pub drains_until: Option<Instant>,
    /// Paths whose acknowledgement leaves here with the next packet.
    pub acks_to_carry: Vec<u32>,
    /// Assigned by the scheduler while there was no room.
    pub queue: VecDeque<(Chunk, Option<Again>)>,
    pub queued_bytes: u64,
    /// The scheduler gives it nothing more although its window has room.
    pub filled: bool,
    /// The redundant scheduler's walk along the streams.
    pub walk: (u64, u64),
    pub ecn: EcnPath,
    pub mtu: Mtu,
    pub stats: PathStats,
}

impl Path {
    pub fn new(id: u32, net: PathId, cc: Box<dyn Controller>, feed: Feed) -> Self {
        Self {
            id,
            net,
            space: Space::default(),
            rtt: Rtt::default(),
            cc,
            sampler: DeliverySampler::default(),
            pacer: Pacer::default(),
            pacing_timer: PacingTimer::Every,
            in_flight: 0,
            validated: false,
            came_bytes: 0,
            left_bytes: 0,
            challenge: None,
            challenge_at: None,
            challenge_tries: 0,
            challenge_in_full: false,
            response: None,
            candidate: None,
            former: None,
            twin: None,
            health: Health::Good,
            heard_at: Instant::ZERO,
            pto_count: 0,
            probes: 0,
            rtt_from: Instant::ZERO,
            moved_at: Instant::ZERO,
            rtt_doubted: false,
            replaced: false,
            silent_since: None,
            recovery_start: None,
            in_recovery: false,
            peer_ack_delay: Duration::ZERO,
            feed,
            outage_noted: false,
            rest_until: None,
            local_backup: false,
            status_sequence: 0,
            peer_backup: false,
            peer_status_sequence: None,
            drains_until: None,
            acks_to_carry: Vec::new(),
            queue: VecDeque::new(),
            queued_bytes: 0,
            filled: false,
            walk: (0, 0),
            ecn: EcnPath::default(),
            mtu: Mtu::new(0, 0),
            stats: PathStats::default(),
        }
    }

    /// Neither given up nor waiting for its validation.
    pub fn is_open(&self) -> bool {
        self.validated && self.drains_until.is_none()
    }

    /// Neither given up nor at rest: acknowledgements and probes may leave.
    pub fn is_awake(&self) -> bool {
        self.rest_until.is_none() && self.drains_until.is_none()
    }

    /// Validated, and no path over the same interface has taken over.
    pub fn carries_data(&self) -> bool {
        self.is_open() && !self.replaced
    }

    /// May carry data as far as its state is concerned.
    pub fn is_usable(&self) -> bool {
        let may = self.carries_data() && self.rest_until.is_none();
        may && self.health == Health::Good
    }

    /// It has to send what no scheduler decides on, and may.
    pub fn has_duty(&self, now: Instant) -> bool {
        let wants = !self.acks_to_carry.is_empty()
            || self.response.is_some()
            || self.probes > 0
            || self.challenge_is_due(now);
        wants && self.is_awake() && self.amplification_left() >= LEAST_BYTES
    }

    /// Bytes that may leave before the peer has shown itself.
    pub fn amplification_left(&self) -> u64 {
        if self.validated {
            return u64::MAX;
        }
        (self.came_bytes * AMPLIFICATION).saturating_sub(self.left_bytes)
    }

    pub fn pacing_rate(&self) -> Bitrate {
        self.rate_with(self.cc.window_bytes(), self.cc.ssthresh_bytes())
    }

    /// The pacing rate with this window and threshold.
    fn rate_with(&self, window: u64, ssthresh: u64) -> Bitrate {
        if let Some(rate) = self.cc.pacing_rate() {
            return rate;
        }
        let rate = Bitrate::from_bytes_per(window, self.rtt.smoothed());
        // RFC 9002 §7.7: N = 1.25; twice in slow start, which doubles in a round trip.
        if window < ssthresh { rate.scaled(2, 1) } else { rate.scaled(5, 4) }
    }

    pub fn window_has_room(&self, packet_bytes: u64) -> bool {
        self.in_flight + packet_bytes <= self.cc.window_bytes()
    }

    pub fn pacer_ready_at(&self, packet_bytes: u64) -> Instant {
        if !self.rtt.has_sample() {
            return Instant::ZERO; // nothing to pace by: the initial window leaves at once
        }
        self.pacer.ready_at(self.pacing_rate(), self.burst_bytes(packet_bytes))
    }

    /// What may follow a packet at once.
    fn burst_bytes(&self, packet_bytes: u64) -> u64 {
        let own = match self.pacing_timer {
            PacingTimer::Every => BURST_PACKETS * packet_bytes,
            PacingTimer::Last => self.cc.send_quantum_bytes().min(MOST_QUANTUM * packet_bytes),
        };
        own.saturating_sub(packet_bytes)
    }

    pub fn on_paced(&mut self, now: Instant, bytes: u64) {
        let rate = self.pacing_rate();
        self.pacer.on_sent(now, rate, bytes);
    }

    /// Gathers packets for a batch before the next one leaves.
    pub fn hold(&mut self, now: Instant) {
        self.pacer.hold(now);
    }

    /// What the pacer lets leave at once ([`crate::Config::pacing_grain`]), and which pacers count.
    pub fn set_pacing(&mut self, grain: Duration, timer: PacingTimer) {
        self.pacer = Pacer::new(grain);
        self.pacing_timer = timer;
    }

    /// Sends a probe at once, and the next ones as if it were the first.
    pub fn ask(&mut self, now: Instant) {
        (self.pto_count, self.probes) = (0, 1);
        self.space.last_eliciting_at = now;
    }

    /// Its own counts with what it is like now.
    pub fn stats_now(&self) -> PathStats {
        PathStats {
            srtt: self.rtt.smoothed(),
            min_rtt: self.rtt.min(),
            cwnd_bytes: self.cc.window_bytes(),
            in_flight_bytes: self.in_flight,
            in_flight_packets: self.space.sent.in_flight_packets(),
            pacing_rate: self.pacing_rate(),
            health: self.health,
            ..self.stats
        }
    }

    /// What a scheduler sees.
    pub fn view(&self, now: Instant, packet_bytes: u64) -> PathView {
        let (window, ssthresh) = (self.cc.window_bytes(), self.cc.ssthresh_bytes());
        let rate = self.rate_with(window, ssthresh);
        let has_sample = self.rtt.has_sample();
        let ready = !has_sample || self.pacer.is_ready(now, rate, self.burst_bytes(packet_bytes));
        let sent = self.stats.sent_packets.max(1);
        let sampled = |span| if has_sample { span } else { Duration::ZERO };
        PathView {
            id: self.net,
            usable: self.is_usable(),
            has_room: ready && self.in_flight + packet_bytes <= window,
            backup: self.local_backup || self.peer_backup,
            tried: false,
            srtt: sampled(self.rtt.smoothed()),
            latest_rtt: sampled(self.rtt.latest()),
            min_rtt: sampled(self.rtt.min()),
            mdev: self.rtt.var(),
            rttvar_kernel: (self.rtt.var() * 4).max(KERNEL_RTTVAR_FLOOR),
            cwnd_packets: window / packet_bytes,
            ssthresh_packets: match ssthresh {
                u64::MAX => u64::MAX,
                bytes => bytes / packet_bytes,
            },
            in_flight_packets: self.in_flight.div_ceil(packet_bytes),
            queued_packets: self.queue.len() as u64,
            unacked_bytes: self.in_flight + self.queued_bytes,
            mss_bytes: packet_bytes,
            pacing_rate: if has_sample { rate } else { Bitrate::ZERO },
            delivery: Delivery::default(),
            loss_ratio: self.stats.lost_packets as f64 / sent as f64,
            forecast: self.feed.outage(),
            repeat_bytes: 0,
        }
    }
}
