use crate::Delivery;
use forecast::Foreseen;
use units::{Bitrate, Duration, Instant, PathId};

/// One path as a scheduler sees it. Windows and queues count in packets of one MSS.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathView {
    /// Which path.
    pub id: PathId,
    /// Established and not thought dead (`pf`, stale, closed, in an RTO): new data may go here as
    /// far as its state is concerned. Says nothing of room.
    pub usable: bool,
    /// There is room for one more segment: free congestion window (`v0.96`) or send memory
    /// (`upstream`), docs/model.md §2.4.
    pub has_room: bool,
    /// A backup path: used only when no other path is usable.
    pub backup: bool,
    /// The segment being scheduled (a reinjection) was put on this path before (`path_mask`).
    pub tried: bool,
    /// Smoothed RTT; zero before the first sample.
    pub srtt: Duration,
    /// Latest RTT sample, unsmoothed.
    pub latest_rtt: Duration,
    /// Smallest RTT ever sampled.
    pub min_rtt: Duration,
    /// Mean deviation of the RTT, as it is.
    pub mdev: Duration,
    /// Linux `rttvar_us`: four mean deviations and never below 200 ms, what kernel ECF reads
    /// (docs/model.md §1.1).
    pub rttvar_kernel: Duration,
    /// Congestion window.
    pub cwnd_packets: u64,
    /// Slow-start threshold, `u64::MAX` before the first loss.
    pub ssthresh_packets: u64,
    /// Sent and neither acknowledged, selectively acknowledged nor marked lost.
    pub in_flight_packets: u64,
    /// Assigned to the path and not yet sent.
    pub queued_packets: u64,
    /// Bytes assigned to the path that are not yet acknowledged, sent or not
    /// (Linux `write_seq - snd_una`).
    pub unacked_bytes: u64,
    /// Payload bytes of one full segment.
    pub mss_bytes: u64,
    /// The rate that the path's stack would pace at (docs/model.md §1.4); zero before the first
    /// RTT sample.
    pub pacing_rate: Bitrate,
    /// What it has delivered of late; zero for schedulers that do not ask for it.
    pub delivery: Delivery,
    /// Share of the sent packets that were lost, since the path began.
    pub loss_ratio: f64,
    /// The path's foreseen outage that is under way or comes next, of those that are at least as
    /// likely as [`crate::Capabilities::least_probability`].
    pub forecast: Option<Foreseen>,
    /// Payload of the next segment on this path's own walk along the stream: the first after the
    /// last one that it sent, or the head, that others have sent and that has no DATA_ACK. 0 when
    /// the path is up to date; always 0 for schedulers that do not repeat.
    pub repeat_bytes: u64,
}

impl PathView {
    /// There is room for a segment in the window, or for up to this many windows in the queue behind
    /// it ([`crate::Capabilities::queue_limit_windows`]).
    pub fn accepts(&self, queue_limit_windows: u64) -> bool {
        let limit = queue_limit_windows.saturating_mul(self.cwnd_packets);
        self.has_room || self.queued_packets < limit
    }
}

/// A connection as a scheduler sees it when one segment waits for a path.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionView<'a> {
    /// Now.
    pub now: Instant,
    /// All paths that have been set up, in the order of their ids.
    pub paths: &'a [PathView],
    /// Payload bytes of the segment being scheduled; 0 when nothing is, and only a repetition can
    /// go out.
    pub segment_bytes: u64,
    /// The segment being scheduled was sent before on another path.
    pub reinjection: bool,
    /// Bytes that the application gave and that no path has been assigned yet, the segment being
    /// scheduled included; bounded by the send buffer.
    pub unsent_bytes: u64,
    /// The receive window as advertised (not what is left of it).
    pub receive_window_bytes: u64,
    /// What is left of the receive window beyond everything sent.
    pub window_left_bytes: u64,
    /// The receive-buffer optimisation has met a closed window since the last decision
    /// (docs/model.md §2.6): BLEST raises its lambda.
    pub window_blocked: bool,
    /// A stream is open whose reader waits for each byte (RFC 9218 urgency below the default of 3).
    pub urgent: bool,
}

impl ConnectionView<'_> {
    /// The path with this id.
    pub fn path(&self, id: PathId) -> Option<&PathView> {
        let in_place = self.paths.get(id.index()).filter(|path| path.id == id);
        in_place.or_else(|| self.paths.iter().find(|path| path.id == id))
    }

    /// Segments of `mss_bytes` that are not assigned yet, the one being scheduled included; at
    /// least one.
    pub fn unsent_packets(&self, mss_bytes: u64) -> u64 {
        self.unsent_bytes.div_ceil(mss_bytes.max(1)).max(1)
    }
}
