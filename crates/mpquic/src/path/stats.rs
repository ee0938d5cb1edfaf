use units::{Bitrate, Duration};

/// Whether a path answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Health {
    /// It does, as far as is known.
    #[default]
    Good,
    /// A probe timer fired: nothing new goes there while others work.
    Suspected,
    /// Silent for long.
    Failed,
}

/// What a path has carried since the beginning, and what it is like now. When a path of the protocol
/// follows another one on the same path of the caller's, the counts go on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathStats {
    /// Packets with data, control frames or padding sent: those that congestion control counts.
    pub sent_packets: u64,
    /// UDP payload sent, all packets.
    pub sent_bytes: u64,
    /// Packets found lost.
    pub lost_packets: u64,
    /// Packets found lost that were acknowledged later (at most the newest few hundred are known).
    pub spurious_losses: u64,
    /// UDP payload of acknowledged packets.
    pub delivered_bytes: u64,
    /// Packets that bring stream data again which this path had carried itself.
    pub retransmitted_packets: u64,
    /// Packets that bring stream data again which another path had carried: known to be lost there, on
    /// suspicion, or at the tail.
    pub reinjected_packets: u64,
    /// Packets that bring stream data a second time because the scheduler wants copies.
    pub redundant_packets: u64,
    /// Stream bytes sent here that had been sent before, whatever the reason.
    pub retransmitted_bytes: u64,
    /// Of these, bytes that another path had carried, or copies that the scheduler wants.
    pub reinjected_bytes: u64,
    /// PATH_ACK and ACK frames sent here.
    pub acks: u64,
    /// Times that the probe timer fired (RFC 9002 §6.2).
    pub probe_timeouts: u64,
    /// Congestion events that the network's marks caused (ECN-CE).
    pub ecn_events: u64,
    /// Receiver: stream bytes that came here first.
    pub unique_bytes: u64,
    /// Smoothed RTT; the default of RFC 9002 before the first sample.
    pub srtt: Duration,
    /// Smallest RTT; the default of RFC 9002 before the first sample.
    pub min_rtt: Duration,
    /// Congestion window.
    pub cwnd_bytes: u64,
    /// In flight.
    pub in_flight_bytes: u64,
    /// Packets in flight.
    pub in_flight_packets: u64,
    /// Rate at which packets are spaced.
    pub pacing_rate: Bitrate,
    /// Whether it answers.
    pub health: Health,
}

impl PathStats {
    /// These counts and those of `before`; what the path is like now is that of `self`.
    pub(crate) fn after(mut self, before: &Self) -> Self {
        self.sent_packets += before.sent_packets;
        self.sent_bytes += before.sent_bytes;
        self.lost_packets += before.lost_packets;
        self.spurious_losses += before.spurious_losses;
        self.delivered_bytes += before.delivered_bytes;
        self.retransmitted_packets += before.retransmitted_packets;
        self.reinjected_packets += before.reinjected_packets;
        self.redundant_packets += before.redundant_packets;
        self.retransmitted_bytes += before.retransmitted_bytes;
        self.reinjected_bytes += before.reinjected_bytes;
        self.acks += before.acks;
        self.probe_timeouts += before.probe_timeouts;
        self.ecn_events += before.ecn_events;
        self.unique_bytes += before.unique_bytes;
        self
    }
}
