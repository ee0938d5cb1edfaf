//! A scheduler at work: what a transport asks it, and the rules that hold whatever it answers.
//!
//! Sans-IO, and the same for Multipath TCP and multipath QUIC. The transport fills the views, carries
//! an [`Order`] out and says when it could not; everything else about asking is here.

use crate::default_pick::serving_among;
use crate::delivery::{Delivery, Meter};
use crate::{Capabilities, ConnectionView, Decision, Gap, PathEvent, PathSet, PathView};
use crate::{Rescue, Scheduler};
use units::{Duration, Instant, PathId};

/// Waits shorter than this are ordinary ACK clocking and are not reported.
const NOTABLE_WAIT: Duration = Duration::from_millis(10);

/// What becomes of the segment being scheduled: a [`Decision`] held to the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Nothing leaves until something happens on the connection, or until [`Dispatch::wake_at`].
    Wait,
    /// Send it on these paths, all of which have room.
    Send(PathSet),
    /// Put it into the queues of these paths, all of which are full.
    Queue(PathSet),
    /// Keep it, and repeat on this path what that has not carried ([`Decision::Repeat`]).
    Repeat(PathId),
    /// Keep it, and send a later segment on this path ([`Decision::Ahead`]).
    Ahead {
        /// Where the later segment goes.
        path: PathId,
        /// How much is left before it.
        gap: Gap,
    },
}

/// The scheduler of one connection with everything that concerns asking it: when to ask again, how
/// long it has waited, what it may demand, and the rule against deadlocks.
///
/// For each segment a transport calls [`ask`], then [`order`]. It carries the order out; a repetition
/// or a later segment that does not exist, or a queue that takes nothing, becomes what [`fall_back`]
/// says.
///
/// [`ask`]: Self::ask
/// [`order`]: Self::order
/// [`fall_back`]: Self::fall_back
#[derive(Debug)]
pub struct Dispatch {
    scheduler: Box<dyn Scheduler>,
    capabilities: Capabilities,
    wake_at: Instant,
    /// When to look for something to rescue although nothing has happened.
    check_at: Instant,
    waiting_since: Option<Instant>,
    waits: u64,
    /// By the id of the path; none for schedulers that do not ask.
    meters: Vec<Meter>,
    rescues: Vec<Rescue>,
}

impl Dispatch {
    /// A fresh scheduler that was never asked.
    pub fn new(scheduler: Box<dyn Scheduler>) -> Self {
        Self {
            capabilities: scheduler.capabilities(),
            scheduler,
            wake_at: Instant::FAR_FUTURE,
            check_at: Instant::FAR_FUTURE,
            waiting_since: None,
            waits: 0,
            meters: Vec::new(),
            rescues: Vec::new(),
        }
    }

    /// What the scheduler does beyond choosing a path.
    pub const fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    // ---- asking ------------------------------------------------------------------------------

    /// Whether the scheduler may put a segment on any path: usable, with room in the window or, as
    /// far as it fills them, in the queue. If not, it need not be asked.
    pub fn may_assign(&self, paths: &[PathView]) -> bool {
        let windows = self.capabilities.queue_limit_windows;
        paths.iter().any(|path| path.usable && path.accepts(windows))
    }

    /// What the scheduler says to the segment being scheduled, as it says it.
    pub fn ask(&mut self, view: &ConnectionView<'_>) -> Decision {
        let decision = self.scheduler.select(view);
        self.wake_at = match decision {
            Decision::Wait(Some(until)) if until > view.now => until,
            _ => Instant::FAR_FUTURE,
        };
        decision
    }

    /// What a decision amounts to. Paths that are not usable or take nothing are left out; a decision
    /// of which nothing is left counts as a wait, and a wait is subject to the rule against deadlocks.
    pub fn order(&mut self, view: &ConnectionView<'_>, decision: Decision) -> Order {
        let is_able = |id| view.path(id).is_some_and(|path| path.usable && path.has_room);
        let chosen = match decision {
            Decision::Repeat(path) if is_able(path) => return Order::Repeat(path),
            Decision::Ahead { path, gap } if may_yield(view, gap) && is_able(path) => {
                return Order::Ahead { path, gap };
            }
            Decision::Send(path) if view.path(path).is_some() => PathSet::EMPTY.with(path),
            Decision::Duplicate(paths) => paths,
            _ => PathSet::EMPTY, // a wait, or what cannot be followed
        };
        let (mut now, mut queues) = (PathSet::EMPTY, PathSet::EMPTY);
        let chosen = chosen.iter().filter_map(|id| view.path(id));
        for path in chosen.filter(|path| path.usable) {
            if path.has_room {
                now = now.with(path.id);
            } else if path.accepts(self.capabilities.queue_limit_windows) {
                queues = queues.with(path.id);
            }
        }
        match (now, queues) {
            _ if view.segment_bytes == 0 => Order::Wait,
            (PathSet::EMPTY, PathSet::EMPTY) => self.fall_back(view),
            (PathSet::EMPTY, _) => Order::Queue(queues),
            _ => Order::Send(now),
        }
    }

    /// What happens to the segment being scheduled when the scheduler sends it nowhere: it waits. Unless
    /// nothing is in flight or queued on any path and the scheduler asked for no wake-up: nothing
    /// would ever end that wait, so the segment goes out on the [`fastest`] path with room.
    ///
    /// [`fastest`]: Self::fastest
    pub fn fall_back(&mut self, view: &ConnectionView<'_>) -> Order {
        if view.segment_bytes == 0 {
            return Order::Wait;
        }
        let is_idle = |path: &PathView| path.in_flight_packets == 0 && path.queued_packets == 0;
        if self.wake_at == Instant::FAR_FUTURE
            && view.paths.iter().all(is_idle)
            && let Some(path) = self.fastest(view.now, view.paths)
        {
            return Order::Send(PathSet::EMPTY.with(path));
        }
        self.waiting_since.get_or_insert(view.now);
        self.waits += 1;
        Order::Wait
    }

    /// Where the connection sends without asking for a decision: the path with room and the smallest
    /// smoothed RTT. Backup paths, and those that the scheduler avoids now, serve only while no other
    /// is usable; a path without room is waited for.
    pub fn fastest(&self, now: Instant, paths: &[PathView]) -> Option<PathId> {
        let wanted = |path: &PathView| path.usable && !self.scheduler.avoids(now, path);
        let avoids_all = !paths.iter().any(wanted);
        let serving = serving_among(paths, |path| wanted(path) || avoids_all && path.usable);
        serving.filter(|path| path.has_room).min_by_key(|path| path.srtt).map(|path| path.id)
    }

    // ---- waiting -----------------------------------------------------------------------------

    /// When to ask again although nothing has happened; [`Instant::FAR_FUTURE`]: not at all.
    pub fn wake_at(&self) -> Instant {
        self.wake_at.min(self.check_at)
    }

    /// Time passes: a wake-up that is due is over.
    pub fn on_timer(&mut self, now: Instant) {
        for at in [&mut self.wake_at, &mut self.check_at] {
            if *at <= now {
                *at = Instant::FAR_FUTURE;
            }
        }
    }

    /// The segment being scheduled leaves: how long the scheduler held it back although some path could have
    /// taken it, when that was longer than ordinary ACK clocking.
    pub fn end_wait(&mut self, now: Instant) -> Option<Duration> {
        let waited = now - self.waiting_since.take()?;
        (waited >= NOTABLE_WAIT).then_some(waited)
    }

    /// Times that a segment was held back although some path could have taken it.
    pub const fn waits(&self) -> u64 {
        self.waits
    }

    // ---- what else a scheduler decides -------------------------------------------------------

    /// See [`Scheduler::avoids`].
    pub fn avoids(&self, now: Instant, path: &PathView) -> bool {
        self.scheduler.avoids(now, path)
    }

    /// Until when nothing at all leaves on `path` ([`Scheduler::rests_until`]); never a past moment.
    pub fn rests_until(&self, now: Instant, path: &PathView) -> Option<Instant> {
        self.scheduler.rests_until(now, path).filter(|until| *until > now)
    }

    /// See [`Scheduler::ack_path`].
    pub fn ack_path(&mut self, view: &ConnectionView<'_>) -> Option<PathId> {
        self.scheduler.ack_path(view)
    }

    /// See [`Scheduler::fills`].
    pub fn fills(&self, now: Instant, path: &PathView) -> bool {
        self.scheduler.fills(now, path)
    }

    /// What may be worth a copy, the most urgent first; nothing for schedulers without
    /// [`Capabilities::rescues`]. [`Self::on_rescued`] says what became of it.
    pub fn rescues(&mut self, view: &ConnectionView<'_>) -> &[Rescue] {
        self.rescues.clear();
        if self.capabilities.rescues {
            let check_at = self.scheduler.rescues(view, &mut self.rescues);
            self.check_at = check_at.unwrap_or(Instant::FAR_FUTURE);
        }
        &self.rescues
    }

    /// What the path has delivered of late, if the scheduler wants to know.
    pub fn delivery(&mut self, now: Instant, path: PathId) -> Delivery {
        match self.meter(path) {
            Some(meter) => meter.delivery(now),
            None => Delivery::default(),
        }
    }

    fn meter(&mut self, path: PathId) -> Option<&mut Meter> {
        if !self.capabilities.measures_delivery {
            return None;
        }
        if self.meters.len() <= path.index() {
            self.meters.resize_with(path.index() + 1, Meter::default);
        }
        self.meters.get_mut(path.index())
    }

    // ---- what a scheduler hears --------------------------------------------------------------

    /// See [`Scheduler::on_round`].
    pub fn on_round(&mut self) {
        self.scheduler.on_round();
    }

    /// See [`Scheduler::on_sent`].
    pub fn on_sent(&mut self, now: Instant, path: PathId, bytes: u64) {
        self.scheduler.on_sent(now, path, bytes);
    }

    /// See [`Scheduler::on_acked`].
    pub fn on_acked(&mut self, now: Instant, path: PathId, bytes: u64) {
        if let Some(meter) = self.meter(path) {
            meter.on_acked(now, bytes);
        }
        self.scheduler.on_acked(now, path, bytes);
    }

    /// See [`Scheduler::on_rescued`].
    pub fn on_rescued(&mut self, now: Instant, rescue: &Rescue, bytes: u64) {
        self.scheduler.on_rescued(now, rescue, bytes);
    }

    /// See [`Scheduler::on_lost`].
    pub fn on_lost(&mut self, now: Instant, path: PathId, bytes: u64) {
        self.scheduler.on_lost(now, path, bytes);
    }

    /// See [`Scheduler::on_delivered`].
    pub fn on_delivered(&mut self, now: Instant, path: PathId, dsn_end: u64, data_ack: u64) {
        self.scheduler.on_delivered(now, path, dsn_end, data_ack);
    }

    /// See [`Scheduler::on_path_event`].
    pub fn on_path_event(&mut self, now: Instant, path: PathId, event: PathEvent) {
        if event == PathEvent::Closed
            && let Some(meter) = self.meter(path)
        {
            *meter = Meter::default();
        }
        self.scheduler.on_path_event(now, path, event);
    }
}

/// The paths that can carry a segment now.
pub fn able(paths: &[PathView]) -> PathSet {
    let able = paths.iter().filter(|path| path.usable && path.has_room);
    able.fold(PathSet::EMPTY, |set, path| set.with(path.id))
}

/// A later segment can go first: the one being scheduled exists, and was never sent or may be passed.
const fn may_yield(view: &ConnectionView<'_>, gap: Gap) -> bool {
    view.segment_bytes > 0 && (!view.reinjection || matches!(gap, Gap::Unsent(_)))
}
