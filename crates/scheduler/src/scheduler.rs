use crate::default_pick::serving_among;
use crate::{ConnectionView, Decision, PathView, Rescue};
use forecast::Probability;
use units::{Instant, PathId};

/// A path changed in a way that a scheduler may want to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathEvent {
    /// The path can carry data from now on.
    Established,
    /// The path is gone for good (a later one with the same id starts afresh).
    Closed,
    /// The path is thought dead (`pf`, stale) but not closed.
    Failed,
    /// The path was heard of again.
    Revived,
}

/// What a scheduler does beyond choosing a path for each segment, and what it lets the connection do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// How many congestion windows' worth of segments may wait in the queue of a path that has no
    /// room; with 0, the default, nothing is assigned to such a path.
    pub queue_limit_windows: u64,
    /// It may answer [`Decision::Repeat`]: it is then asked even when there is nothing new
    /// ([`segment_bytes`] is 0), and while the receive window is closed. Not by default.
    ///
    /// [`segment_bytes`]: ConnectionView::segment_bytes
    pub repeats: bool,
    /// The connection may use opportunistic retransmission and penalisation (mode `v0.96`,
    /// docs/model.md §2.6 and §2.7). By default it may.
    pub receive_buffer_optimisation: bool,
    /// A decision holds for a whole fragment of the stream (32,728 bytes), whatever room is left on the
    /// path, as `__subflow_push_pending` has it (mode `upstream`, docs/model.md §2.4). Not by default.
    pub whole_fragments: bool,
    /// The views have to say what paths deliver ([`crate::PathView::delivery`]). Not by default: it costs
    /// time.
    pub measures_delivery: bool,
    /// It names what is worth a copy on another path ([`Scheduler::rescues`]): the connection's own rule
    /// for the tail of a stream rests. Not by default.
    pub rescues: bool,
    /// How likely a foreseen outage must be for the connection to heed it, by default as likely as
    /// not: less likely ones are not in the view, and no path rests for them.
    pub least_probability: Probability,
}

impl Default for Capabilities {
    fn default() -> Self {
        Self {
            queue_limit_windows: 0,
            repeats: false,
            receive_buffer_optimisation: true,
            whole_fragments: false,
            measures_delivery: false,
            rescues: false,
            least_probability: Probability::EVEN,
        }
    }
}

/// A packet scheduler.
///
/// `select` is asked once per segment and must answer with a path that is `usable` and `has_room`
/// (or see [`Capabilities::queue_limit_windows`]), or wait. A wait cannot deadlock a connection:
/// [`Dispatch::fall_back`](crate::Dispatch::fall_back).
pub trait Scheduler: Send + std::fmt::Debug {
    /// Chooses a path for the segment being scheduled.
    fn select(&mut self, view: &ConnectionView<'_>) -> Decision;

    /// The transport begins to hand data to its paths: after a write of the application, or because an
    /// acknowledgement made room. It goes on until no data or no room is left. Multipath QUIC has no
    /// such rounds.
    fn on_round(&mut self) {}

    /// `bytes` of payload were assigned to `path`.
    fn on_sent(&mut self, _now: Instant, _path: PathId, _bytes: u64) {}

    /// `bytes` of payload were acknowledged on `path`.
    fn on_acked(&mut self, _now: Instant, _path: PathId, _bytes: u64) {}

    /// `bytes` of payload were marked lost on `path`.
    fn on_lost(&mut self, _now: Instant, _path: PathId, _bytes: u64) {}

    /// `path` delivered in order up to byte `dsn_end` of the stream (the end of the newest segment
    /// that it acknowledged); the acknowledgement that says so carried this DATA_ACK: all that the
    /// receiver had without a hole, from any path.
    fn on_delivered(&mut self, _now: Instant, _path: PathId, _dsn_end: u64, _data_ack: u64) {}

    /// A path changed.
    fn on_path_event(&mut self, _now: Instant, _path: PathId, _event: PathEvent) {}

    /// What it does beyond choosing a path for each segment. Asked once, before anything else.
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    /// Whether it puts nothing on `path` for now although that is usable: the connection's own choice
    /// of an idle path (receive-buffer optimisation) passes over it too.
    fn avoids(&self, _now: Instant, _path: &PathView) -> bool {
        false
    }

    /// Until when nothing at all may leave on `path`, retransmissions and probes included; `None`:
    /// it is not at rest. Asked only of paths with a [`forecast`]; what such a path has lost, not
    /// sent yet, or not heard of for a retransmission timeout is reinjected on the others.
    ///
    /// [`forecast`]: PathView::forecast
    fn rests_until(&self, _now: Instant, _path: &PathView) -> Option<Instant> {
        None
    }

    /// Whether `path` carries as much as the scheduler wants it to, although its window has room. It is
    /// not for lack of data then that the window is not used, and the path's congestion control may
    /// take what is delivered for what the path can deliver. Never by default.
    fn fills(&self, _now: Instant, _path: &PathView) -> bool {
        false
    }

    /// Adds to `found`, the most urgent first, where copies of what is in flight would arrive before
    /// the original. Asked before [`Self::select`] whenever something may leave, also when there is
    /// nothing new to send, or the receive window is closed. Returns when to ask again although
    /// nothing has happened. Only with [`Capabilities::rescues`].
    fn rescues(&mut self, _view: &ConnectionView<'_>, _found: &mut Vec<Rescue>) -> Option<Instant> {
        None
    }

    /// `bytes` of payload of [`Rescue::from`] were copied to [`Rescue::to`].
    fn on_rescued(&mut self, _now: Instant, _rescue: &Rescue, _bytes: u64) {}

    /// Which path carries an acknowledgement that leaves alone, when the connection lets the scheduler
    /// decide that: by default the fastest that it uses now, whatever its window says.
    ///
    /// Not an answer of [`Scheduler::select`]: that one spends turns, learns, or waits for room, and an
    /// acknowledgement is no data (RFC 9002 §7: congestion control does not count it).
    fn ack_path(&mut self, view: &ConnectionView<'_>) -> Option<PathId> {
        let used = |path: &PathView| path.usable && !self.avoids(view.now, path);
        serving_among(view.paths, used).min_by_key(|path| path.srtt).map(|path| path.id)
    }
}
