use super::EcnSeen;
use super::rtt::Rtt;
use crate::space::{Received, SentPacket, SentPackets};
use crate::wire::AckFrame;
use std::collections::VecDeque;
use std::ops::RangeInclusive;
use units::Instant;

/// A later packet by this many was acknowledged: lost (RFC 9002 §6.1.1, kPacketThreshold).
const PACKET_THRESHOLD: u64 = 3;
/// Lost packets that are remembered, for this many probe timeouts.
const MAX_LOST: usize = 256;
const LOST_PTOS: u32 = 3;

/// A packet number space with its acknowledgements and losses.
#[derive(Debug, Default)]
pub(crate) struct Space {
    pub received: Received,
    pub sent: SentPackets,
    pub largest_acked: Option<u64>,
    /// A packet is lost when nothing is heard of it until then.
    pub loss_at: Option<Instant>,
    pub last_eliciting_at: Instant,
    pub ecn: EcnSeen,
    /// Packets found lost lately, and when: they may be acknowledged yet.
    lost: VecDeque<(u64, Instant)>,
    /// No number in `lost` is higher.
    highest_lost: u64,
    /// The ranges of the last acknowledgement. The next one repeats most of them.
    acked: Vec<RangeInclusive<u64>>,
    /// Memory for what the next one acknowledges.
    spare: Vec<(u64, SentPacket)>,
}

/// Memory for so many acknowledged packets is kept.
const MAX_SPARE: usize = 8;

/// What an acknowledgement brought.
pub(crate) struct Acked {
    pub packets: Vec<(u64, SentPacket)>,
    /// Packets that had been found lost, and arrived after all.
    pub spurious: u64,
}

impl Space {
    /// What an acknowledgement says for the first time: its ranges but the oldest ones that the
    /// acknowledgement before had as well, and the number that they begin with. A range that has grown
    /// since is news from where it ended.
    fn news<'ack>(&self, ack: &'ack AckFrame) -> (&'ack [RangeInclusive<u64>], u64) {
        let oldest = ack.ranges.last().map_or(0, |range| *range.start());
        let mut before = self.acked.iter().rev().skip_while(|range| *range.end() < oldest);
        let pairs = ack.ranges.iter().rev().zip(before.clone());
        let known = pairs.take_while(|(range, before)| range == before).count();
        let news = &ack.ranges[..ack.ranges.len() - known];
        let first = news.last().map_or(0, |range| *range.start());
        let before = before.nth(known).filter(|before| *before.start() == first);
        (news, before.map_or(first, |before| before.end() + 1))
    }

    /// Takes the packets that an acknowledgement covers for the first time, in order of number, and
    /// counts those among them that had been found lost. `Err`: it covers what was never sent.
    pub fn take_acked(&mut self, ack: &AckFrame) -> Result<Acked, ()> {
        let mut packets = std::mem::take(&mut self.spare);
        let (news, from) = self.news(ack);
        for range in news.iter().rev() {
            let range = from.max(*range.start())..=*range.end();
            if self.sent.has_unsent(&range) {
                return Err(()); // RFC 9000 §13.1, §21.4
            }
            for number in self.sent.first().max(*range.start())..=*range.end() {
                packets.extend(self.sent.take(number).map(|packet| (number, packet)));
            }
        }
        let spurious = self.take_spurious(news, from);
        let largest = ack.ranges.first().map(|range| *range.end());
        self.largest_acked = self.largest_acked.max(largest);
        self.acked.clone_from(&ack.ranges);
        Ok(Acked { packets, spurious })
    }

    /// What [`Space::take_acked`] gave is needed no more.
    pub fn reuse(&mut self, mut packets: Vec<(u64, SentPacket)>) {
        if packets.capacity() <= MAX_SPARE {
            packets.clear();
            self.spare = packets;
        }
    }

    /// How many packets that were found lost are in these ranges, from a number on.
    fn take_spurious(&mut self, ranges: &[RangeInclusive<u64>], from: u64) -> u64 {
        if self.highest_lost < from {
            return 0;
        }
        let before = self.lost.len();
        let covers = |number: &u64| {
            let index = ranges.partition_point(|range| range.start() > number);
            ranges.get(index).is_some_and(|range| range.contains(number))
        };
        self.lost.retain(|(number, _)| !covers(number));
        (before - self.lost.len()) as u64
    }

    fn remember_lost(&mut self, now: Instant, rtt: &Rtt, lost: &[(u64, SentPacket)]) {
        let keep = rtt.pto() * LOST_PTOS;
        self.lost.extend(lost.iter().map(|(number, _)| (*number, now)));
        self.highest_lost =
            lost.iter().fold(self.highest_lost, |most, (number, _)| most.max(*number));
        let excess = self.lost.len().saturating_sub(MAX_LOST);
        self.lost.drain(..excess);
        while self.lost.front().is_some_and(|(_, at)| *at + keep <= now) {
            self.lost.pop_front();
        }
    }

    /// Takes the packets that are lost now (RFC 9002 §6.1), and sets when to look again.
    pub fn take_lost(&mut self, now: Instant, rtt: &Rtt) -> Vec<(u64, SentPacket)> {
        self.loss_at = None;
        let Some(largest) = self.largest_acked else { return Vec::new() };
        let delay = rtt.loss_delay();
        let mut lost = Vec::new();
        for (number, packet) in self.sent.iter() {
            if number > largest {
                break;
            }
            let at = packet.sent_at + delay;
            if at <= now || largest >= number + PACKET_THRESHOLD {
                lost.push(number);
            } else {
                self.loss_at = Some(self.loss_at.map_or(at, |earlier| earlier.min(at)));
            }
        }
        let taken = lost.into_iter().filter_map(|number| {
            let packet = self.sent.take(number)?;
            Some((number, packet))
        });
        let taken: Vec<_> = taken.collect();
        self.sent.trim();
        self.remember_lost(now, rtt, &taken);
        taken
    }

    pub fn is_eliciting(&self) -> bool {
        self.sent.is_eliciting()
    }
}
