use super::skips::Skips;
use crate::streams::Chunk;
use crate::wire::Frame;
use rand::Rng;
use recovery::SendSnapshot;
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::ops::{Range, RangeInclusive};
use units::Instant;

/// Why stream data goes once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Again {
    /// This path carried it, and it is thought lost.
    Retransmission,
    /// Another path carried it.
    Reinjection,
    /// The scheduler wants a copy.
    Redundancy,
}

/// What has to be done when a packet is acknowledged or lost.
#[derive(Clone, Debug)]
pub(crate) enum SentFrame {
    Stream(Chunk),
    Crypto(Range<u64>),
    /// The acknowledgement of a path's packets up to this number.
    Ack {
        path: u32,
        largest: u64,
    },
    /// A frame that is retransmitted as it stands.
    Control(Box<Frame<'static>>),
    MaxData,
    MaxStreamData(u64),
    MaxStreams(bool),
}

/// Those of a packet: most have one.
pub(crate) type SentFrames = SmallVec<[SentFrame; 1]>;

/// The pieces of streams in a packet.
pub(crate) fn chunks_of(frames: &[SentFrame]) -> impl DoubleEndedIterator<Item = &Chunk> {
    frames.iter().filter_map(|frame| match frame {
        SentFrame::Stream(chunk) => Some(chunk),
        _ => None,
    })
}

/// A packet in flight.
#[derive(Debug)]
pub(crate) struct SentPacket {
    pub sent_at: Instant,
    pub bytes: u64,
    /// Place among the packets that are tracked: acknowledgements alone leave no gap.
    pub order: u64,
    pub eliciting: bool,
    pub frames: SentFrames,
    pub snapshot: SendSnapshot,
    /// Its frames were given to others already, and it no longer counts as in flight.
    pub given_up: bool,
    /// Its data was sent on another path, too.
    pub copied: bool,
    /// All its frames wait, or went, again as if lost. (A copy at the tail is not that: it leaves
    /// control frames out, and may be lost with the path that carried it.)
    pub requeued: bool,
}

#[derive(Debug)]
enum Slot {
    Packet(SentPacket),
    Gone,
}

/// The packets of a space that are neither acknowledged nor lost, by number.
#[derive(Debug, Default)]
pub(crate) struct SentPackets {
    slots: VecDeque<Slot>,
    /// Number of the first slot.
    first: u64,
    /// Those that count as in flight, and of these the ones that elicit an acknowledgement.
    in_flight: u64,
    eliciting: u64,
    /// Packets tracked so far.
    pushed: u64,
    skips: Skips,
}

impl SentPackets {
    /// The next packet number.
    pub fn next(&self) -> u64 {
        self.first + self.slots.len() as u64
    }

    pub fn push(&mut self, packet: SentPacket) {
        let packet = SentPacket { order: self.pushed, ..packet };
        self.pushed += 1;
        self.in_flight += 1;
        self.eliciting += u64::from(packet.eliciting);
        self.slots.push_back(Slot::Packet(packet));
    }

    /// A packet that elicits no acknowledgement left: nothing is expected of it.
    pub fn push_settled(&mut self) {
        self.slots.push_back(Slot::Gone);
        self.trim();
    }

    /// The number of the packet that is built now, after some that are never used (RFC 9000 §21.4).
    pub fn begin(&mut self, rng: &mut impl Rng) -> u64 {
        while self.skips.takes(self.next(), rng) {
            self.push_settled();
        }
        self.next()
    }

    /// Whether a range of numbers holds one that was never sent.
    pub fn has_unsent(&self, range: &RangeInclusive<u64>) -> bool {
        *range.end() >= self.next() || self.skips.meet(range)
    }

    /// Takes a packet out; `None`: it was settled before.
    pub fn take(&mut self, number: u64) -> Option<SentPacket> {
        let index = number.checked_sub(self.first)?;
        let slot = self.slots.get_mut(index as usize)?;
        let Slot::Packet(packet) = std::mem::replace(slot, Slot::Gone) else { return None };
        if !packet.given_up {
            self.in_flight -= 1;
            self.eliciting -= u64::from(packet.eliciting);
        }
        Some(packet)
    }

    /// Drops what is settled at the front.
    pub fn trim(&mut self) {
        while let Some(Slot::Gone) = self.slots.front() {
            self.slots.pop_front();
            self.first += 1;
        }
    }

    /// Numbers below this were all settled long ago.
    pub fn first(&self) -> u64 {
        self.first
    }

    pub fn iter(&self) -> impl Iterator<Item = (u64, &SentPacket)> {
        self.slots.iter().zip(self.first..).filter_map(|(slot, number)| match slot {
            Slot::Packet(packet) => Some((number, packet)),
            _ => None,
        })
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = (u64, &mut SentPacket)> {
        self.slots.iter_mut().zip(self.first..).filter_map(|(slot, number)| match slot {
            Slot::Packet(packet) => Some((number, packet)),
            _ => None,
        })
    }

    /// Nothing counts as in flight any more: it was given to others.
    pub fn give_up(&mut self) {
        self.iter_mut().for_each(|(_, packet)| packet.given_up = true);
        (self.in_flight, self.eliciting) = (0, 0);
    }

    /// Whether an acknowledgement of something in flight is due.
    pub fn is_eliciting(&self) -> bool {
        self.eliciting > 0
    }

    /// Packets that count as in flight.
    pub fn in_flight_packets(&self) -> u64 {
        self.in_flight
    }

    pub fn len(&self) -> usize {
        self.slots.len()
    }
}
