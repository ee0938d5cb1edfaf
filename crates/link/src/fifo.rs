use std::collections::VecDeque;
use units::Instant;

/// A packet that waits for service, or is in it.
#[derive(Debug)]
pub(crate) struct Waiting<P> {
    pub(crate) arrival: Instant,
    pub(crate) bytes: u64,
    pub(crate) packet: P,
}

/// Packets in order of arrival, and their bytes.
#[derive(Debug)]
pub(crate) struct Fifo<P> {
    packets: VecDeque<Waiting<P>>,
    bytes: u64,
}

impl<P> Fifo<P> {
    pub(crate) fn front(&self) -> Option<&Waiting<P>> {
        self.packets.front()
    }

    pub(crate) fn pop(&mut self) -> Option<Waiting<P>> {
        let first = self.packets.pop_front()?;
        self.bytes -= first.bytes;
        Some(first)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn len(&self) -> usize {
        self.packets.len()
    }

    pub(crate) fn push(&mut self, waiting: Waiting<P>) {
        self.bytes += waiting.bytes;
        self.packets.push_back(waiting);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Waiting<P>> {
        self.packets.iter()
    }

    pub(crate) fn clear(&mut self) {
        self.packets.clear();
        self.bytes = 0;
    }
}

impl<P> Default for Fifo<P> {
    fn default() -> Self {
        Self { packets: VecDeque::new(), bytes: 0 }
    }
}
