use crate::delay::Delay;
use crate::fifo::Waiting;
use crate::loss::Loss;
use crate::outage::Outages;
use crate::queue::Queue;
use crate::server::Server;
use crate::{Counters, InFlight};
use std::collections::VecDeque;
use units::{Instant, Window};

mod change;

/// How large a payload is on the wire.
pub trait WireSize {
    /// Bytes that the capacity of the link is spent on, headers included; below 2^31, as on any
    /// network, so that 64-bit arithmetic holds.
    fn wire_bytes(&self) -> u64;
}

/// Why a packet was refused at [`Link::push`]. Losses that come later show in [`Counters`] only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dropped {
    /// The queue had no room for it.
    QueueFull,
    /// It arrived in an outage that drops.
    Outage,
}

/// A packet on its way after departure.
#[derive(Debug)]
struct Flying<P> {
    delivery: Instant,
    bytes: u64,
    packet: P,
}

/// One direction of one path; built by [`crate::LinkConfig::build`].
///
/// Calls come in time order: `now` never decreases from one to the next.
#[derive(Debug)]
pub struct Link<P> {
    queue: Queue<P>,
    server: Server,
    delay: Delay,
    loss: Loss,
    outages: Outages,
    flight: VecDeque<Flying<P>>,
    /// When the service of the packet at the front of the queue ends; [`Instant::FAR_FUTURE`] when
    /// there is none or its service never ends.
    departure: Instant,
    /// When that packet arrives. If it will be lost: its departure, for the next one may arrive
    /// sooner than it would have (the delay may fall).
    delivery: Instant,
    doomed: bool,
    /// Closed by [`Link::close`].
    closed: bool,
    /// End of the previous service.
    free_at: Instant,
    last_delivery: Instant,
    counters: Counters,
}

impl<P: WireSize> Link<P> {
    pub(crate) fn new(
        queue: Queue<P>,
        server: Server,
        delay: Delay,
        loss: Loss,
        outages: Outages,
    ) -> Self {
        Self {
            queue,
            server,
            delay,
            loss,
            outages,
            flight: VecDeque::new(),
            departure: Instant::FAR_FUTURE,
            delivery: Instant::FAR_FUTURE,
            doomed: false,
            closed: false,
            free_at: Instant::ZERO,
            last_delivery: Instant::ZERO,
            counters: Counters::default(),
        }
    }

    /// Offers a packet that arrives at `now`.
    ///
    /// # Errors
    /// [`Dropped`], when it is lost at once; the packet is gone then.
    pub fn push(&mut self, now: Instant, packet: P) -> Result<(), Dropped> {
        self.advance(now);
        self.counters.offered_packets += 1;
        if self.is_closed(now) {
            self.counters.dropped_outage_packets += 1;
            return Err(Dropped::Outage);
        }
        let bytes = packet.wire_bytes();
        if !self.queue.has_room(bytes) {
            self.counters.dropped_queue_packets += 1;
            return Err(Dropped::QueueFull);
        }
        self.queue.push(Waiting { arrival: now, bytes, packet });
        if self.queue.packets() == 1 {
            self.serve_next();
        }
        Ok(())
    }

    /// When [`Link::pop`] may next yield a packet: never too late, and too early only if that packet
    /// turns out to be lost or held up. `None`: not before another packet is pushed.
    pub fn next_at(&self) -> Option<Instant> {
        let next = self.flight.front().map_or(self.delivery, |flying| flying.delivery);
        (next != Instant::FAR_FUTURE).then_some(next)
    }

    /// The next packet that has arrived at the far end by `now`, in the order of departure. Call
    /// again until it yields `None`.
    pub fn pop(&mut self, now: Instant) -> Option<P> {
        self.pop_timed(now).map(|(_, packet)| packet)
    }

    /// Like [`Link::pop`], with the moment at which the packet arrived at the far end, which a late
    /// call does not change.
    pub fn pop_timed(&mut self, now: Instant) -> Option<(Instant, P)> {
        self.pop_timed_if(now, |_| true)
    }

    /// Like [`Link::pop_timed`], if the packet is one that the caller wants; else it stays.
    pub fn pop_timed_if(
        &mut self,
        now: Instant,
        wants: impl FnOnce(&P) -> bool,
    ) -> Option<(Instant, P)> {
        self.advance(now);
        let first = self.flight.front()?;
        if first.delivery > now || !wants(&first.packet) {
            return None;
        }
        let arrived = self.flight.pop_front()?;
        self.counters.delivered_packets += 1;
        self.counters.delivered_bytes += arrived.bytes;
        Some((arrived.delivery, arrived.packet))
    }

    /// Brings the books up to `now`: what has departed leaves the queue. [`Link::push`] and
    /// [`Link::pop`] do it themselves; call it before reading the queue in between.
    pub fn advance(&mut self, now: Instant) {
        // A departure at the very start of an outage comes first: its work is done.
        loop {
            let outage = self.outages.next_start();
            if self.departure <= now.min(outage) && self.departure != Instant::FAR_FUTURE {
                self.depart();
            } else if outage <= now {
                match self.outages.enter() {
                    Some((window, InFlight::Drop)) => self.lose_all(window.start),
                    Some((window, InFlight::Hold)) => self.hold_up(window),
                    None => return,
                }
            } else {
                return;
            }
        }
    }

    /// Bytes in the queue, the packet in service included, as of the last call with a time.
    pub fn queued_bytes(&self) -> u64 {
        self.queue.bytes()
    }

    /// Packets in the queue, the one in service included, as of the last call with a time.
    pub fn queued_packets(&self) -> u64 {
        self.queue.packets()
    }

    /// Packets that have departed and were not yet popped, as of the last call with a time.
    pub fn flying_packets(&self) -> u64 {
        self.flight.len() as u64
    }

    /// What became of the packets so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// The packet in service has used its capacity: it goes on the air.
    fn depart(&mut self) {
        self.free_at = self.departure;
        self.loss.on_departure();
        if let Some(Waiting { bytes, packet, .. }) = self.queue.pop() {
            if self.doomed {
                self.counters.dropped_loss_packets += 1;
            } else {
                let delivery = self.delivery.max(self.last_delivery);
                self.last_delivery = delivery;
                self.flight.push_back(Flying { delivery, bytes, packet });
            }
        }
        self.serve_next();
    }

    /// Starts the service of the next packet, at max(its arrival, end of the previous service).
    fn serve_next(&mut self) {
        self.counters.dropped_aqm_packets += self.queue.choose_first(self.free_at);
        let Some(first) = self.queue.front() else {
            return self.plan(Instant::FAR_FUTURE);
        };
        let waited = first.arrival < self.free_at;
        let start = if waited { self.free_at } else { first.arrival };
        let departure = self.server.finish(start, first.bytes, waited);
        self.plan(departure);
    }

    /// The packet in service departs at `departure`; [`Instant::FAR_FUTURE`]: never, or there is
    /// none.
    fn plan(&mut self, departure: Instant) {
        self.departure = departure;
        self.delivery = Instant::FAR_FUTURE;
        if departure == Instant::FAR_FUTURE {
            return;
        }
        self.doomed = self.loss.will_lose(self.departure);
        self.delivery = if self.doomed {
            self.departure
        } else {
            (self.departure + self.delay.at(self.departure)).max(self.last_delivery)
        };
    }

    fn is_closed(&self, now: Instant) -> bool {
        self.closed || self.outages.is_closed(now)
    }

    /// An outage takes what waits, is served or would arrive from its start on.
    fn lose_all(&mut self, start: Instant) {
        let arrived = self.flight.partition_point(|flying| flying.delivery < start);
        let flying = self.flight.len() - arrived;
        self.flight.truncate(arrived);
        self.counters.dropped_outage_packets += self.queue.clear() + flying as u64;
        self.server.abort();
        self.free_at = start;
        self.last_delivery = self.last_delivery.min(start);
        self.plan(Instant::FAR_FUTURE);
    }

    /// An outage shifts what is in flight by its length; service knows the window already.
    fn hold_up(&mut self, window: Window) {
        let length = window.length();
        let late = self.flight.partition_point(|flying| flying.delivery < window.start);
        for flying in self.flight.iter_mut().skip(late) {
            flying.delivery += length;
        }
        if self.last_delivery >= window.start {
            self.last_delivery += length;
        }
    }
}
