//! Delivery-rate estimation: draft-ietf-ccwg-bbr §4.1 (Linux `tcp_rate.c`).

use units::{Duration, Instant};

/// What is noted with a packet when it leaves.
#[derive(Clone, Copy, Debug)]
pub struct SendSnapshot {
    delivered_bytes: u64,
    lost_bytes: u64,
    delivered_at: Instant,
    first_sent_at: Instant,
    sent_at: Instant,
    /// Bytes in flight just after the packet left, itself included.
    pub tx_in_flight_bytes: u64,
    app_limited: bool,
}

/// One delivery-rate sample.
#[derive(Clone, Copy, Debug)]
pub struct DeliverySample {
    /// Bytes delivered in `interval`.
    pub delivered_bytes: u64,
    /// The longer of send and acknowledgement interval.
    pub interval: Duration,
    /// The rate is a lower bound only: the sender had nothing to send.
    pub app_limited: bool,
    /// Bytes in flight just after the sampled packet left.
    pub tx_in_flight_bytes: u64,
    /// Bytes marked lost since the sampled packet left.
    pub lost_bytes: u64,
    /// Bytes delivered in total when the sampled packet left.
    pub prior_delivered_bytes: u64,
}

/// Connection state of the estimator (`C.*` in the draft).
#[derive(Clone, Debug, Default)]
pub struct DeliverySampler {
    delivered_bytes: u64,
    lost_bytes: u64,
    delivered_at: Instant,
    first_sent_at: Instant,
    /// Samples are application-limited until this much is delivered; zero: not limited.
    app_limited_until: u64,
    newest: Option<SendSnapshot>,
}

impl DeliverySampler {
    /// A packet of `bytes` leaves; `in_flight_bytes` is what was in flight before it.
    pub fn on_sent(&mut self, now: Instant, bytes: u64, in_flight_bytes: u64) -> SendSnapshot {
        if in_flight_bytes == 0 {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        SendSnapshot {
            delivered_bytes: self.delivered_bytes,
            lost_bytes: self.lost_bytes,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            sent_at: now,
            tx_in_flight_bytes: in_flight_bytes + bytes,
            app_limited: self.app_limited_until != 0,
        }
    }

    /// A packet of `bytes` was delivered; called for each packet of an acknowledgement.
    pub fn on_delivered(&mut self, now: Instant, bytes: u64, packet: &SendSnapshot) {
        self.delivered_bytes += bytes;
        self.delivered_at = now;
        let newer = self.newest.is_none_or(|newest| packet.sent_at >= newest.sent_at);
        if newer {
            self.newest = Some(*packet);
        }
    }

    /// `bytes` were marked lost.
    pub fn on_lost(&mut self, bytes: u64) {
        self.lost_bytes += bytes;
    }

    /// The sender has nothing to send, or its scheduler holds it back, while the window is open
    /// (docs/model.md §1.5): what is sampled until everything in flight is delivered is a lower
    /// bound.
    pub fn set_app_limited(&mut self, in_flight_bytes: u64) {
        self.app_limited_until = (self.delivered_bytes + in_flight_bytes).max(1);
    }

    /// Ends the acknowledgement: the sample of its newest packet, unless it delivered nothing or
    /// the interval is shorter than `min_rtt` (unreliable: draft §4.1.2.3).
    pub fn take_sample(&mut self, min_rtt: Duration) -> Option<DeliverySample> {
        let packet = self.newest.take()?;
        if self.app_limited_until != 0 && self.delivered_bytes > self.app_limited_until {
            self.app_limited_until = 0;
        }
        self.first_sent_at = packet.sent_at;
        let send_elapsed = packet.sent_at - packet.first_sent_at;
        let ack_elapsed = self.delivered_at - packet.delivered_at;
        let interval = send_elapsed.max(ack_elapsed);
        (interval >= min_rtt && !interval.is_zero()).then(|| DeliverySample {
            delivered_bytes: self.delivered_bytes - packet.delivered_bytes,
            interval,
            app_limited: packet.app_limited,
            tx_in_flight_bytes: packet.tx_in_flight_bytes,
            lost_bytes: self.lost_bytes - packet.lost_bytes,
            prior_delivered_bytes: packet.delivered_bytes,
        })
    }

    /// Bytes delivered since the stream began.
    pub fn delivered_bytes(&self) -> u64 {
        self.delivered_bytes
    }

    /// Bytes marked lost since the stream began.
    pub fn lost_bytes(&self) -> u64 {
        self.lost_bytes
    }
}

impl SendSnapshot {
    /// Bytes that had been marked lost when the packet left.
    pub fn prior_lost_bytes(&self) -> u64 {
        self.lost_bytes
    }

    /// Bytes that had been delivered when the packet left: the mark that ends a round trip.
    pub fn prior_delivered_bytes(&self) -> u64 {
        self.delivered_bytes
    }
}
