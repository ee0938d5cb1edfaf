use crate::fifo::Fifo;
use units::{Duration, Instant};

/// Controlled delay (RFC 8289 §5): drops at dequeue when the sojourn time has stayed above a target
/// for an interval. "Dequeue" is the start of service, so the packet at the front of the queue is
/// judged when the server has become free for it.
#[derive(Debug)]
pub(crate) struct CoDel {
    /// TARGET (RFC 8289 §4.3).
    target: Duration,
    /// INTERVAL (RFC 8289 §4.2).
    interval: Duration,
    /// `first_above_time_` (RFC 8289 §5.2): when the sojourn time, above the target since, will
    /// have been so for an interval; `None` for its 0.
    first_above: Option<Instant>,
    /// `drop_next_`: when to drop the next packet.
    drop_next: Instant,
    /// `count_`: packets dropped since the dropping state was entered.
    count: u64,
    /// `lastcount_`: `count_` from the previous dropping state.
    last_count: u64,
    /// `dropping_`.
    dropping: bool,
    /// `maxpacket_`: RFC 8289 §5.2 suggests the interface's MTU, which a link does not know; here
    /// the largest packet so far.
    max_packet_bytes: u64,
}

impl CoDel {
    pub(crate) fn new(target: Duration, interval: Duration) -> Self {
        Self {
            target,
            interval,
            first_above: None,
            drop_next: Instant::ZERO,
            count: 0,
            last_count: 0,
            dropping: false,
            max_packet_bytes: 0,
        }
    }

    /// A packet of `bytes` joins the queue; its arrival time stands beside it (RFC 8289 §5.4).
    pub(crate) fn on_enqueue(&mut self, bytes: u64) {
        self.max_packet_bytes = self.max_packet_bytes.max(bytes);
    }

    /// The queue was emptied from outside (an outage): the same as a dequeue from an empty one.
    pub(crate) fn on_cleared(&mut self) {
        self.first_above = None;
        self.dropping = false;
    }

    /// Drops what is to be dropped at `now` before the next packet is served, which stays at the
    /// front; returns how many were dropped (RFC 8289 §5.5, `dequeue`).
    pub(crate) fn dequeue<P>(&mut self, now: Instant, queue: &mut Fifo<P>) -> u64 {
        let mut dropped = 0;
        let ok_to_drop = self.ok_to_drop(now, queue);
        if self.dropping {
            self.dropping = ok_to_drop;
            while self.dropping && now >= self.drop_next {
                queue.pop();
                dropped += 1;
                self.count += 1;
                self.dropping = self.ok_to_drop(now, queue);
                if self.dropping {
                    self.drop_next = self.control_law(self.drop_next);
                }
            }
        } else if ok_to_drop {
            queue.pop();
            dropped += 1;
            self.ok_to_drop(now, queue);
            self.start_dropping(now);
        }
        dropped
    }

    /// Enters the dropping state, at the last drop rate if that was not long ago (RFC 8289 §5.5).
    fn start_dropping(&mut self, now: Instant) {
        self.dropping = true;
        let delta = self.count.saturating_sub(self.last_count);
        let recent = now.since(self.drop_next) < 16 * self.interval;
        self.count = if delta > 1 && recent { delta } else { 1 };
        self.drop_next = self.control_law(now);
        self.last_count = self.count;
    }

    /// Whether the packet at the front has waited too long, for too long (RFC 8289 §5.6,
    /// `dodequeue`, whose `bytes()` no longer counts that packet).
    fn ok_to_drop<P>(&mut self, now: Instant, queue: &Fifo<P>) -> bool {
        let Some(first) = queue.front() else {
            self.first_above = None;
            return false;
        };
        let behind_bytes = queue.bytes() - first.bytes;
        if now.since(first.arrival) < self.target || behind_bytes <= self.max_packet_bytes {
            self.first_above = None;
            return false;
        }
        match self.first_above {
            None => {
                self.first_above = Some(now + self.interval);
                false
            }
            Some(first_above) => now >= first_above,
        }
    }

    /// `t + INTERVAL / sqrt(count_)` (RFC 8289 §5.6). Division and square root are exactly rounded
    /// by IEEE 754, hence the same on every machine.
    fn control_law(&self, t: Instant) -> Instant {
        let nanos = self.interval.as_nanos() as f64 / (self.count as f64).sqrt();
        t + Duration::from_nanos(nanos as u64)
    }
}
