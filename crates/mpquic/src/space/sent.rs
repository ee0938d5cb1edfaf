use super::skips::Skips;
use crate::streams::Chunk;
use crate::wire::Frame;
use rand::Rng;
use rangemap::RangeSet;
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
    /// The packet asked whether a datagram of this size passes, and has nothing else.
    MtuProbe(usize),
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
    /// Bytes of the packets that were tracked before.
    pub place: u64,
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

impl SentPacket {
    /// The size that it asked for, if it was a probe of the path's MTU.
    pub fn probed(&self) -> Option<usize> {
        match self.frames[..] {
            [SentFrame::MtuProbe(size)] => Some(size),
            _ => None,
        }
    }
}

#[derive(Debug)]
enum Slot {
    Packet(SentPacket),
    /// Settled; its [`SentPacket::place`], or that of the next packet.
    Gone(u64),
}

impl Slot {
    const fn place(&self) -> u64 {
        match self {
            Self::Packet(packet) => packet.place,
            Self::Gone(place) => *place,
        }
    }
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
    /// Packets tracked so far, and their bytes.
    pushed: u64,
    pushed_bytes: u64,
    /// Those of which a copy was made on another path.
    rescued: RangeSet<u64>,
    skips: Skips,
}

impl SentPackets {
    /// The next packet number.
    pub fn next(&self) -> u64 {
        self.first + self.slots.len() as u64
    }

    pub fn push(&mut self, packet: SentPacket) {
        let packet = SentPacket { order: self.pushed, place: self.pushed_bytes, ..packet };
        self.pushed += 1;
        self.pushed_bytes += packet.bytes;
        self.in_flight += 1;
        self.eliciting += u64::from(packet.eliciting);
        self.slots.push_back(Slot::Packet(packet));
    }

    /// A packet that elicits no acknowledgement left: nothing is expected of it.
    pub fn push_settled(&mut self) {
        self.slots.push_back(Slot::Gone(self.pushed_bytes));
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
        let gone = Slot::Gone(slot.place());
        let Slot::Packet(packet) = std::mem::replace(slot, gone) else { return None };
        if !packet.given_up {
            self.in_flight -= 1;
            self.eliciting -= u64::from(packet.eliciting);
        }
        Some(packet)
    }

    /// Drops what is settled at the front.
    pub fn trim(&mut self) {
        while let Some(Slot::Gone(_)) = self.slots.front() {
            self.slots.pop_front();
            self.first += 1;
        }
        if !self.rescued.is_empty() && self.first > 0 {
            self.rescued.remove(0..self.first);
        }
    }

    /// Marks as copied, and returns, the first uncopied packet with `behind_bytes` or more in front of
    /// it. The search ends at the first packet that `wanted` refuses.
    pub fn rescue(
        &mut self,
        behind_bytes: u64,
        wanted: impl Fn(&SentPacket) -> bool,
    ) -> Option<&SentPacket> {
        let from = self.slots.front()?.place().saturating_add(behind_bytes);
        let index = self.slots.partition_point(|slot| slot.place() < from) as u64;
        let mut number = self.first + index;
        while number < self.next() {
            let gap = self.rescued.gaps(&(number..self.next())).next()?;
            number = gap.start;
            let index = (number - self.first) as usize;
            match self.slots.get(index)? {
                Slot::Packet(packet) if !packet.copied && !packet.given_up => {
                    if !wanted(packet) {
                        return None;
                    }
                    self.rescued.insert(number..number + 1);
                    let Some(Slot::Packet(packet)) = self.slots.get_mut(index) else { return None };
                    packet.copied = true;
                    return Some(packet);
                }
                _ => number += 1,
            }
        }
        None
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

#[cfg(test)]
mod tests {
    use super::*;
    use recovery::DeliverySampler;

    fn packet(bytes: u64) -> SentPacket {
        let snapshot = DeliverySampler::default().on_sent(Instant::ZERO, bytes, 0);
        SentPacket {
            sent_at: Instant::ZERO,
            bytes,
            order: 0,
            place: 0,
            eliciting: true,
            frames: SentFrames::new(),
            snapshot,
            given_up: false,
            copied: false,
            requeued: false,
        }
    }

    /// The very first packet may be copied before anything is settled.
    #[test]
    fn a_copy_of_the_first_packet_is_remembered_while_that_is_in_flight() {
        let mut sent = SentPackets::default();
        (0..3).for_each(|_| sent.push(packet(100)));
        assert!(sent.rescue(0, |_| true).is_some());
        sent.take(1);
        sent.trim();
        assert_eq!(sent.rescue(0, |_| true).map(|packet| packet.place), Some(200));
    }

    #[test]
    fn a_copy_is_of_the_first_packet_that_far_behind_and_each_is_copied_once() {
        let mut sent = SentPackets::default();
        (0..10).for_each(|_| sent.push(packet(100)));
        sent.push_settled();
        sent.push(packet(100));
        let place = |found: Option<&SentPacket>| found.map(|packet| packet.place);
        assert_eq!(place(sent.rescue(250, |_| true)), Some(300));
        assert_eq!(place(sent.rescue(250, |_| true)), Some(400));
        assert_eq!(place(sent.rescue(50, |_| true)), Some(100));
        assert_eq!(place(sent.rescue(50, |_| true)), Some(200));
        assert_eq!(place(sent.rescue(50, |_| true)), Some(500)); // those between were copied
        assert_eq!(place(sent.rescue(900, |_| false)), None);
        sent.take(9);
        assert_eq!(place(sent.rescue(850, |_| true)), Some(1000)); // what is settled is passed over
        assert_eq!(place(sent.rescue(1000, |_| true)), None);
        // What was in front is settled: 100 bytes in front of a packet are others now.
        (0..=5).for_each(|number| drop(sent.take(number)));
        sent.trim();
        assert_eq!(place(sent.rescue(100, |_| true)), Some(700));
    }
}
