use crate::codel::CoDel;
use crate::fifo::{Fifo, Waiting};
use units::Instant;

/// A bounded queue whose first packet is the one in service.
#[derive(Debug)]
pub(crate) struct Queue<P> {
    fifo: Fifo<P>,
    max_bytes: u64,
    max_packets: u64,
    codel: Option<CoDel>,
}

impl<P> Queue<P> {
    /// `None` is no bound; without `codel` packets are dropped at the tail only.
    pub(crate) fn new(
        max_bytes: Option<u64>,
        max_packets: Option<u64>,
        codel: Option<CoDel>,
    ) -> Self {
        Self {
            fifo: Fifo::default(),
            max_bytes: max_bytes.unwrap_or(u64::MAX),
            max_packets: max_packets.unwrap_or(u64::MAX),
            codel,
        }
    }

    /// Takes the bounds and the discipline of `to`; what waits stays.
    pub(crate) fn change(&mut self, to: Self) {
        let waiting = std::mem::replace(self, to);
        self.fifo = waiting.fifo;
        if let Some(codel) = &mut self.codel {
            self.fifo.iter().for_each(|packet| codel.on_enqueue(packet.bytes));
        }
    }

    /// Whether a packet of `bytes` still fits.
    pub(crate) fn has_room(&self, bytes: u64) -> bool {
        (self.fifo.len() as u64) < self.max_packets
            && self.fifo.bytes().saturating_add(bytes) <= self.max_bytes
    }

    /// Appends a packet; the caller has asked [`Queue::has_room`].
    pub(crate) fn push(&mut self, waiting: Waiting<P>) {
        if let Some(codel) = &mut self.codel {
            codel.on_enqueue(waiting.bytes);
        }
        self.fifo.push(waiting);
    }

    /// Lets the queue discipline decide which packet is served next when the server is free at
    /// `free_at`; that packet stays at the front. Returns how many were dropped before it.
    pub(crate) fn choose_first(&mut self, free_at: Instant) -> u64 {
        let Some(codel) = &mut self.codel else {
            return 0;
        };
        let arrival = self.fifo.front().map_or(free_at, |first| first.arrival);
        codel.dequeue(arrival.max(free_at), &mut self.fifo)
    }

    /// The packet in service, or about to be.
    pub(crate) fn front(&self) -> Option<&Waiting<P>> {
        self.fifo.front()
    }

    /// Takes the packet whose service has ended.
    pub(crate) fn pop(&mut self) -> Option<Waiting<P>> {
        self.fifo.pop()
    }

    /// Throws everything away; returns how many packets that were.
    pub(crate) fn clear(&mut self) -> u64 {
        let dropped = self.fifo.len() as u64;
        self.fifo.clear();
        if let Some(codel) = &mut self.codel {
            codel.on_cleared();
        }
        dropped
    }

    /// Bytes in the queue and in service.
    pub(crate) fn bytes(&self) -> u64 {
        self.fifo.bytes()
    }

    /// Packets in the queue and in service.
    pub(crate) fn packets(&self) -> u64 {
        self.fifo.len() as u64
    }
}
