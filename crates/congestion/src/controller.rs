use forecast::Boundary;
use units::{Bitrate, Duration, Instant};

/// One delivery-rate sample (draft-ietf-ccwg-bbr §4.1): what was delivered between the sending of
/// a packet and its acknowledgement.
#[derive(Clone, Copy, Debug)]
pub struct RateSample {
    /// Bytes delivered in `interval`, divided by it.
    pub rate: Bitrate,
    /// Bytes delivered in `interval`.
    pub delivered_bytes: u64,
    /// The longer of the send and the acknowledgement interval; never shorter than the minimum RTT.
    pub interval: Duration,
    /// The path had nothing to send when the sampled packet left (or its scheduler held it back):
    /// the rate is a lower bound only.
    pub app_limited: bool,
    /// Bytes in flight just after the sampled packet left, itself included.
    pub tx_in_flight_bytes: u64,
    /// Bytes marked lost between the sending of the sampled packet and now.
    pub lost_bytes: u64,
}

/// What one acknowledgement reports about a path.
#[derive(Clone, Copy, Debug)]
pub struct AckSample {
    /// Bytes newly delivered by this acknowledgement, cumulatively or selectively.
    pub acked_bytes: u64,
    /// Bytes newly marked lost while this acknowledgement was processed.
    pub lost_bytes: u64,
    /// RTT sample of this acknowledgement; `None` when it acknowledged nothing new.
    pub rtt: Option<Duration>,
    /// The receiver may have held this acknowledgement back (delayed ACK): `rtt` may be too long.
    pub ack_delayed: bool,
    /// Smoothed RTT after this sample.
    pub srtt: Duration,
    /// Smallest RTT ever sampled on this path.
    pub min_rtt: Duration,
    /// Bytes in flight before this acknowledgement was processed.
    pub prior_in_flight_bytes: u64,
    /// Bytes in flight after it.
    pub in_flight_bytes: u64,
    /// Bytes delivered on this path since it began, this acknowledgement included.
    pub delivered_bytes: u64,
    /// `delivered_bytes` at the time when the newest packet that this ACK covers was sent: a round
    /// trip ends when this reaches the total at the round's start (draft-ietf-ccwg-bbr §4.1).
    pub prior_delivered_bytes: u64,
    /// Delivery-rate sample, where one could be taken.
    pub rate: Option<RateSample>,
    /// The window (not the application or the scheduler) was the limit in the last round trip:
    /// loss-based controllers grow only then (RFC 7661; Linux `tcp_is_cwnd_limited`).
    pub window_limited: bool,
    /// The path is repairing a loss episode or a timeout; controllers that reduce by PRR must not
    /// grow during a loss episode.
    pub in_recovery: bool,
}

/// A loss episode began on a path (one per round trip at most), or a packet was lost within one.
#[derive(Clone, Copy, Debug)]
pub struct LossSample {
    /// Bytes newly marked lost.
    pub lost_bytes: u64,
    /// Bytes in flight after the lost ones were subtracted.
    pub in_flight_bytes: u64,
    /// Bytes in flight when the newest lost packet left.
    pub tx_in_flight_bytes: u64,
    /// Bytes marked lost between the sending of the newest lost packet and now, itself included
    /// (BBRv2's rate of loss within the flight of a probe).
    pub lost_since_sent_bytes: u64,
    /// Bytes delivered on this path since it began.
    pub delivered_bytes: u64,
    /// True for the first loss of an episode: the window is reduced on this one only.
    pub new_episode: bool,
}

/// What a controller is doing: the typed event that the record keeps when it changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Doubling per round trip, or an algorithm's own quick start.
    SlowStart,
    /// HyStart++: growing slowly before congestion avoidance.
    ConservativeSlowStart,
    /// Loss- or delay-based growth.
    Avoidance,
    /// FAST: waiting after a reduction.
    Freeze,
    /// BBR: looking for the bandwidth.
    Startup,
    /// BBR: emptying the queue that Startup built.
    Drain,
    /// BBRv1: cycling around the bandwidth.
    ProbeBw,
    /// BBRv2 and later: sending less to empty the queue.
    ProbeBwDown,
    /// BBRv2 and later: at the bandwidth.
    ProbeBwCruise,
    /// BBRv2 and later: filling the pipe for one round trip.
    ProbeBwRefill,
    /// BBRv2 and later: sending more to see whether there is more.
    ProbeBwUp,
    /// BBR: a nearly empty pipe, to see the minimum RTT.
    ProbeRtt,
}

impl Phase {
    /// Name in the record.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SlowStart => "slow-start",
            Self::ConservativeSlowStart => "conservative-slow-start",
            Self::Avoidance => "avoidance",
            Self::Freeze => "freeze",
            Self::Startup => "startup",
            Self::Drain => "drain",
            Self::ProbeBw => "probe-bw",
            Self::ProbeBwDown => "probe-bw-down",
            Self::ProbeBwCruise => "probe-bw-cruise",
            Self::ProbeBwRefill => "probe-bw-refill",
            Self::ProbeBwUp => "probe-bw-up",
            Self::ProbeRtt => "probe-rtt",
        }
    }
}

/// A congestion control of one path.
///
/// The sender calls the hooks in this order for each acknowledgement: `on_lost` for what it marks
/// lost, then `on_acked`. All windows are in bytes of payload; an implementation may count in
/// packets of one MSS within.
pub trait Controller: Send + std::fmt::Debug {
    /// Payload bytes that may be in flight. Never below one MSS.
    fn window_bytes(&self) -> u64;

    /// What it is doing now.
    fn phase(&self) -> Phase;

    /// Slow-start threshold, `u64::MAX` before the first loss. Schedulers read it (BLEST, STTF).
    fn ssthresh_bytes(&self) -> u64 {
        u64::MAX
    }

    /// The rate at which packets must be spaced; `None` leaves them to the ACK clock.
    fn pacing_rate(&self) -> Option<Bitrate> {
        None
    }

    /// Payload bytes that may leave back to back while pacing; at least one MSS.
    fn send_quantum_bytes(&self) -> u64 {
        u64::MAX
    }

    /// How many windows of send memory the sender should have (Linux `tcp_sndbuf_expand`): more for
    /// controls that keep sending at full rate while they repair.
    fn send_memory_windows(&self) -> u64 {
        2
    }

    /// True when the sender must spread the reduction of a loss episode over it by Proportional
    /// Rate Reduction (RFC 6937). Model-based controllers say false and own their window.
    fn reduces_by_prr(&self) -> bool {
        true
    }

    /// The handshake took `rtt`: known before the first packet leaves.
    fn on_handshake(&mut self, _rtt: Duration) {}

    /// `bytes` were sent; `in_flight_bytes` includes them. `was_idle`: nothing was in flight
    /// before.
    fn on_sent(&mut self, _now: Instant, _bytes: u64, _in_flight_bytes: u64, _was_idle: bool) {}

    /// An acknowledgement was processed.
    fn on_acked(&mut self, now: Instant, ack: &AckSample);

    /// Packets were marked lost by acknowledgements (not by a timeout).
    fn on_lost(&mut self, now: Instant, loss: &LossSample);

    /// The network marked packets (ECN-CE): congestion without a loss (`lost_bytes` is 0), at most one
    /// episode per round trip like [`Controller::on_lost`] (RFC 9002 §7.1, RFC 3168 §6.1.2). Controls
    /// that take loss as their signal answer it as one.
    fn on_congestion_experienced(&mut self, now: Instant, mark: &LossSample) {
        self.on_lost(now, mark);
    }

    /// The loss episode that began last is repaired: everything sent before it was acknowledged.
    fn on_recovered(&mut self, _now: Instant) {}

    /// The retransmission timer fired: everything in flight is presumed lost.
    /// `in_flight_bytes` is the amount before that. `repeated`: a back-off of the same timeout.
    fn on_timeout(&mut self, now: Instant, in_flight_bytes: u64, repeated: bool);

    /// The last reduction (loss episode or timeout) was spurious: undo it.
    fn on_spurious(&mut self, _now: Instant) {}

    /// Sending resumes after `idle` without anything in flight, longer than `rto`
    /// (Linux `tcp_slow_start_after_idle`: halve once per RTO, floor at the initial window).
    fn on_idle_restart(&mut self, _now: Instant, _idle: Duration, _rto: Duration) {}

    /// The connection could not use the window because the application or the scheduler gave it
    /// nothing to send, for `span`: CUBIC shifts its epoch by it.
    fn on_app_limited(&mut self, _now: Instant, _span: Duration) {}

    /// What is foreseen of the path: `boundaries` in order of time replace all that was told before, and
    /// may be late, wrong, past or none. Controls that know nothing of boundaries ignore it.
    fn on_forecast(&mut self, _boundaries: &[Boundary]) {}

    /// Multipath TCP v0.96 halves the window of a path that holds up the shared receive window
    /// (docs/model.md §2.6): window to half, at least one MSS; threshold likewise, at least two,
    /// unless the path is in slow start. Model-based controllers ignore it.
    fn penalise(&mut self) {}
}
