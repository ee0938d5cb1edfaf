//! The packets between the first unacknowledged and the next new one, and what is known of each.

use crate::rack::Rack;
use crate::{DeliverySample, DeliverySampler, RttEstimator, SendSnapshot};
use std::collections::{BTreeSet, VecDeque};
use units::{Duration, Instant, Ranges};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    InFlight,
    Sacked,
    /// Marked lost, waits for its retransmission.
    Lost,
}

/// One packet on the scoreboard; `D` is what the caller keeps with it (a DSN mapping, say).
#[derive(Clone, Debug)]
pub struct SentPacket<D> {
    /// The caller's own.
    pub data: D,
    /// Payload.
    pub bytes: u64,
    /// Bytes for which it counts in flights, rate samples and losses.
    counted_bytes: u64,
    /// When it left last.
    pub sent_at: Instant,
    /// Left more than once.
    pub retransmitted: bool,
    state: State,
    /// Number of its last transmission, in the order of all transmissions.
    serial: u64,
    snapshot: SendSnapshot,
}

impl<D> SentPacket<D> {
    /// Known to have arrived, behind a hole.
    pub fn is_sacked(&self) -> bool {
        self.state == State::Sacked
    }

    /// Marked lost, and not sent again since.
    pub fn is_lost(&self) -> bool {
        self.state == State::Lost
    }
}

/// What one acknowledgement changed.
#[derive(Clone, Debug, Default)]
pub struct AckOutcome {
    /// Packets newly delivered (cumulatively or selectively).
    pub delivered_packets: u64,
    /// The bytes for which they count.
    pub delivered_bytes: u64,
    /// Their payload.
    pub payload_bytes: u64,
    /// The cumulative acknowledgement moved.
    pub advanced: bool,
    /// RTT of the oldest newly delivered packet that was sent once: includes the wait of a delayed
    /// ACK (Linux `seq_rtt_us`, feeds the estimator).
    pub rtt: Option<Duration>,
    /// RTT of the newest such packet (Linux `ca_rtt_us`, feeds congestion control).
    pub newest_rtt: Option<Duration>,
    /// [`SendSnapshot::prior_delivered_bytes`] of the newest delivered packet.
    pub prior_delivered_bytes: u64,
    /// Delivery-rate sample.
    pub sample: Option<DeliverySample>,
    newest_serial: u64,
}

/// What distinguishes an answer to a retransmission from one to the original.
#[derive(Clone, Copy, Debug)]
struct Answer {
    echo: Instant,
    min_rtt: Duration,
}

impl Answer {
    /// RFC 8985 §6.2 step 2: by the echoed timestamp, and by an RTT that is possible at all.
    fn is_of_retransmission(&self, sent_at: Instant, rtt: Duration) -> bool {
        self.echo >= sent_at && rtt >= self.min_rtt
    }
}

/// What was marked lost.
#[derive(Clone, Copy, Debug, Default)]
pub struct LossOutcome {
    /// Packets newly marked lost.
    pub packets: u64,
    /// The bytes for which they count.
    pub bytes: u64,
    /// Bytes in flight when the newest of them left.
    pub tx_in_flight_bytes: u64,
    /// Bytes marked lost between the sending of the newest of them and now, itself included.
    pub lost_since_sent_bytes: u64,
}

/// SACK scoreboard with RACK loss detection (RFC 2018, RFC 8985).
///
/// A packet counts for its payload, or for as many bytes as [`Scoreboard::counting`] says.
#[derive(Clone, Debug)]
pub struct Scoreboard<D> {
    packets: VecDeque<SentPacket<D>>,
    una: u64,
    /// Transmissions in the order in which they left; entries that are settled are dropped lazily.
    order: VecDeque<(u64, u64)>,
    next_serial: u64,
    sacked: Ranges,
    sacked_packets: u64,
    lost: BTreeSet<u64>,
    in_flight_packets: u64,
    in_flight_bytes: u64,
    /// Bytes for which each packet counts; `None`: its payload.
    counted_bytes: Option<u64>,
    /// Highest packet delivered so far plus one (Linux `fack`).
    forward: u64,
    rack: Rack,
    sampler: DeliverySampler,
}

impl<D> Default for Scoreboard<D> {
    fn default() -> Self {
        Self {
            packets: VecDeque::new(),
            una: 0,
            order: VecDeque::new(),
            next_serial: 0,
            sacked: Ranges::default(),
            sacked_packets: 0,
            lost: BTreeSet::new(),
            in_flight_packets: 0,
            in_flight_bytes: 0,
            counted_bytes: None,
            forward: 0,
            rack: Rack::default(),
            sampler: DeliverySampler::default(),
        }
    }
}

impl<D> Scoreboard<D> {
    /// A scoreboard on which every packet counts for the same bytes, whatever it carries: Linux counts
    /// packets, and turns them into bytes by `mss_cache` (`tcp_rate.c`, `tcp_bbr.c`).
    pub fn counting(bytes: u64) -> Self {
        Self { counted_bytes: Some(bytes), ..Self::default() }
    }

    /// First unacknowledged packet.
    pub fn una(&self) -> u64 {
        self.una
    }

    /// Number of the next new packet.
    pub fn next(&self) -> u64 {
        self.una + self.packets.len() as u64
    }

    /// Packets in flight: sent and neither delivered nor marked lost.
    pub fn in_flight_packets(&self) -> u64 {
        self.in_flight_packets
    }

    /// Bytes for which the packets in flight count.
    pub fn in_flight_bytes(&self) -> u64 {
        self.in_flight_bytes
    }

    /// Nothing is unacknowledged.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Packets that were selectively acknowledged and still stand behind a hole.
    pub fn sacked_packets(&self) -> u64 {
        self.sacked_packets
    }

    /// Packets marked lost that wait for their retransmission.
    pub fn lost_packets(&self) -> u64 {
        self.lost.len() as u64
    }

    /// The lowest packet that waits for its retransmission.
    pub fn next_lost(&self) -> Option<u64> {
        self.lost.first().copied()
    }

    /// Delivery-rate state: totals of delivered and lost bytes, application limits.
    pub fn sampler(&mut self) -> &mut DeliverySampler {
        &mut self.sampler
    }

    /// Bytes delivered since the stream began.
    pub fn delivered_bytes(&self) -> u64 {
        self.sampler.delivered_bytes()
    }

    /// The unacknowledged packets from the oldest on.
    pub fn unacked(&self) -> impl Iterator<Item = &SentPacket<D>> {
        self.packets.iter()
    }

    /// A packet that is on the scoreboard.
    pub fn get(&self, seq: u64) -> Option<&SentPacket<D>> {
        self.packets.get(usize::try_from(seq.checked_sub(self.una)?).ok()?)
    }

    fn get_mut(&mut self, seq: u64) -> Option<&mut SentPacket<D>> {
        self.packets.get_mut(usize::try_from(seq.checked_sub(self.una)?).ok()?)
    }

    /// A new packet leaves; its number is returned.
    pub fn on_sent(&mut self, now: Instant, data: D, bytes: u64) -> u64 {
        let seq = self.next();
        let counted_bytes = self.counted_bytes.unwrap_or(bytes);
        let snapshot = self.sampler.on_sent(now, counted_bytes, self.in_flight_bytes);
        let serial = self.take_serial(seq);
        self.packets.push_back(SentPacket {
            data,
            bytes,
            counted_bytes,
            sent_at: now,
            retransmitted: false,
            state: State::InFlight,
            serial,
            snapshot,
        });
        self.in_flight_packets += 1;
        self.in_flight_bytes += counted_bytes;
        seq
    }

    /// Packet `seq` leaves again (one that [`Scoreboard::next_lost`] named, or a tail probe).
    pub fn on_retransmitted(&mut self, now: Instant, seq: u64) {
        let in_flight_bytes = self.in_flight_bytes;
        let Some(bytes) = self.get(seq).map(|packet| packet.counted_bytes) else { return };
        let snapshot = self.sampler.on_sent(now, bytes, in_flight_bytes);
        let serial = self.take_serial(seq);
        let was_lost = self.lost.remove(&seq);
        if let Some(packet) = self.get_mut(seq) {
            packet.sent_at = now;
            packet.retransmitted = true;
            packet.serial = serial;
            packet.snapshot = snapshot;
            packet.state = State::InFlight;
        }
        if was_lost {
            self.in_flight_packets += 1;
            self.in_flight_bytes += bytes;
        }
    }

    fn take_serial(&mut self, seq: u64) -> u64 {
        self.next_serial += 1;
        self.order.push_back((self.next_serial, seq));
        self.next_serial
    }

    /// An acknowledgement came: everything before `ack` and the packets in `sacks` (half-open
    /// ranges, ascending: else the later ones seem reordered) were received. Numbers beyond what was sent are ignored. `echo` is when the segment
    /// that it answers left (timestamp option).
    pub fn on_ack(
        &mut self,
        now: Instant,
        ack: u64,
        sacks: impl IntoIterator<Item = (u64, u64)>,
        echo: Instant,
        rtt: &mut RttEstimator,
    ) -> AckOutcome {
        let mut outcome = AckOutcome::default();
        let next = self.next();
        let answer = Answer { echo, min_rtt: rtt.min() };
        let forward = self.forward;
        let mut sacked = std::mem::take(&mut self.sacked);
        for (start, end) in sacks {
            let range = start.max(self.una)..end.min(next);
            self.sacked_packets += sacked.insert_with(range, |fresh| {
                fresh.for_each(|seq| self.deliver(now, seq, &answer, &mut outcome));
            });
        }
        self.sacked = sacked;
        if ack > self.una && ack <= next {
            // Blocks of the same acknowledgement overtook nothing (tcp_ack: `prior_fack`).
            let highest = std::mem::replace(&mut self.forward, forward);
            for seq in self.una..ack {
                self.deliver(now, seq, &answer, &mut outcome);
            }
            self.forward = self.forward.max(highest);
            self.drop_before(ack);
            outcome.advanced = true;
        }
        if let Some(newest) = outcome.newest_rtt {
            rtt.on_min_sample(newest);
        }
        if let Some(sample) = outcome.rtt {
            rtt.on_sample(sample, self.una, self.next());
        }
        outcome.sample = self.sampler.take_sample(rtt.min());
        outcome
    }

    fn drop_before(&mut self, ack: u64) {
        let count = (ack - self.una) as usize;
        self.packets.drain(..count);
        self.sacked_packets -= self.sacked.remove_before(ack);
        self.una = ack;
    }

    fn deliver(&mut self, now: Instant, seq: u64, answer: &Answer, outcome: &mut AckOutcome) {
        let index = (seq - self.una) as usize;
        let packet = &mut self.packets[index];
        match packet.state {
            State::Sacked => return,
            State::InFlight => {
                self.in_flight_packets -= 1;
                self.in_flight_bytes -= packet.counted_bytes;
            }
            State::Lost => {
                self.lost.remove(&seq);
            }
        }
        packet.state = State::Sacked;
        let (bytes, sent_at, serial) = (packet.counted_bytes, packet.sent_at, packet.serial);
        outcome.payload_bytes += packet.bytes;
        let (snapshot, retransmitted) = (packet.snapshot, packet.retransmitted);
        self.sampler.on_delivered(now, bytes, &snapshot);
        let rtt = now - sent_at;
        if !retransmitted || answer.is_of_retransmission(sent_at, rtt) {
            self.rack.on_delivered(serial, rtt);
        }
        outcome.delivered_packets += 1;
        outcome.delivered_bytes += bytes;
        if !retransmitted {
            outcome.rtt = Some(outcome.rtt.map_or(rtt, |oldest| oldest.max(rtt)));
            outcome.newest_rtt = Some(outcome.newest_rtt.map_or(rtt, |newest| newest.min(rtt)));
            // Overtaken by a later packet and not lost: the stream reorders.
            self.rack.reordering_seen |= seq + 1 < self.forward;
        }
        if serial > outcome.newest_serial {
            outcome.newest_serial = serial;
            outcome.prior_delivered_bytes = snapshot.prior_delivered_bytes();
        }
        self.forward = self.forward.max(seq + 1);
    }

    /// A retransmission has left and is neither acknowledged nor marked lost (`retrans_out`).
    pub fn has_retransmission_out(&self) -> bool {
        self.packets.iter().any(|packet| packet.retransmitted && packet.state == State::InFlight)
    }

    /// Marks what RACK proves lost by now. Returns it and the moment at which the next packet would
    /// be, unless something else happens before.
    pub fn detect_losses(
        &mut self,
        now: Instant,
        rtt: &RttEstimator,
        in_recovery: bool,
    ) -> (LossOutcome, Option<Instant>) {
        let mut outcome = LossOutcome::default();
        if self.rack.serial == 0 {
            return (outcome, None);
        }
        let window =
            self.rack.reordering_window(rtt.min(), rtt.srtt(), in_recovery, self.sacked_packets);
        let wait = self.rack.rtt + window;
        while let Some(&(serial, seq)) = self.order.front() {
            if serial > self.rack.serial {
                break;
            }
            let current =
                self.get(seq).filter(|p| p.serial == serial && p.state == State::InFlight);
            if let Some(packet) = current {
                let deadline = packet.sent_at + wait;
                if deadline > now {
                    return (outcome, Some(deadline));
                }
                self.mark_lost(seq, &mut outcome);
            }
            self.order.pop_front();
        }
        (outcome, None)
    }

    fn mark_lost(&mut self, seq: u64, outcome: &mut LossOutcome) {
        let Some(packet) = self.get_mut(seq) else { return };
        packet.state = State::Lost;
        let (bytes, snapshot) = (packet.counted_bytes, packet.snapshot);
        self.lost.insert(seq);
        self.in_flight_packets -= 1;
        self.in_flight_bytes -= bytes;
        self.sampler.on_lost(bytes);
        outcome.packets += 1;
        outcome.bytes += bytes;
        outcome.tx_in_flight_bytes = snapshot.tx_in_flight_bytes;
        outcome.lost_since_sent_bytes = self.sampler.lost_bytes() - snapshot.prior_lost_bytes();
    }

    /// The retransmission timer fired: everything in flight counts as lost.
    pub fn on_timeout(&mut self) -> LossOutcome {
        let mut outcome = LossOutcome::default();
        for seq in self.una..self.next() {
            if self.get(seq).is_some_and(|packet| packet.state == State::InFlight) {
                self.mark_lost(seq, &mut outcome);
            }
        }
        self.order.clear();
        outcome
    }

    /// The last episode was spurious: what waits for a retransmission is in flight after all.
    /// Returns how many packets that were.
    pub fn unmark_lost(&mut self) -> u64 {
        let lost = std::mem::take(&mut self.lost);
        for &seq in &lost {
            let Some(packet) = self.get_mut(seq) else { continue };
            packet.state = State::InFlight;
            let (serial, bytes) = (packet.serial, packet.counted_bytes);
            self.in_flight_packets += 1;
            self.in_flight_bytes += bytes;
            self.order.push_back((serial, seq));
        }
        self.order.make_contiguous().sort_unstable();
        lost.len() as u64
    }

    /// A packet that was taken for lost had only been overtaken.
    pub fn on_reordered(&mut self) {
        self.rack.reordering_seen = true;
        self.rack.on_duplicate();
    }

    /// The receiver reported a packet twice (DSACK): a retransmission was not needed.
    pub fn on_duplicate(&mut self) {
        self.rack.on_duplicate();
    }
}
