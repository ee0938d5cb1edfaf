//! The scheduler, what it is shown, and what it has ordered.

use crate::config::PacingTimer;
use crate::path::{Changed, Health, Path, Paths};
use crate::space::Again;
use crate::streams::{Chunk, Streams};
use crate::turn::Turn;
use scheduler::{Budget, ConnectionView, Decision, Dispatch, Order, PathSet, PathView, Rescue};
use scheduler::{Scheduler, able};
use smallvec::SmallVec;
use std::collections::VecDeque;
use units::{Instant, PathId};

/// Header, tag and head of a STREAM frame: what a full packet cannot carry.
pub(crate) const OVERHEAD_BYTES: u64 = 50;

/// The rule for the tail copies at most this share of the bytes sent, in bursts of [`TAIL_BYTES`].
const TAIL_SHARE: f64 = 0.1;
const TAIL_BYTES: u64 = 256 << 10;

/// Data that goes on a further path as well.
#[derive(Clone, Debug)]
pub(crate) struct Copy {
    pub path: u32,
    pub chunks: Vec<Chunk>,
    /// `None`: for the first time.
    pub why: Option<Again>,
}

/// What waits to be sent for the first time, and how much of it a scheduler is asked about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unsent {
    pub all_bytes: u64,
    pub segment_bytes: u64,
}

/// What there is to send when nothing more leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Supply {
    Nothing,
    /// Data that the peer's windows hold back.
    Held,
    Data,
}

/// What the views were made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    now: Instant,
    packet_bytes: u64,
    any_good: bool,
    turn: Turn,
}

/// Which path carries what.
pub(crate) struct Scheduling {
    pub dispatch: Dispatch,
    pub views: Vec<PathView>,
    seen: Seen,
    /// Whose turn it is to send.
    pub turn: Turn,
    pub copies: VecDeque<Copy>,
    /// What the rule for the tail may send twice.
    pub tail_budget: Budget,
    /// When a pacer lets the next packet of data go.
    pub paced_until: Instant,
    /// The peer's flow control has stopped us, and that was counted.
    stalled: bool,
}

impl Scheduling {
    pub fn new(scheduler: Box<dyn Scheduler>, timer: PacingTimer) -> Self {
        let turn = Turn::new(timer);
        Self {
            dispatch: Dispatch::new(scheduler),
            views: Vec::new(),
            seen: Seen { now: Instant::ZERO, packet_bytes: 0, any_good: false, turn },
            turn,
            copies: VecDeque::new(),
            tail_budget: Budget::new(TAIL_SHARE, TAIL_BYTES),
            paced_until: Instant::FAR_FUTURE,
            stalled: false,
        }
    }

    /// When something of it is due.
    pub fn timer(&self) -> Instant {
        self.dispatch.wake_at().min(self.paced_until)
    }

    pub fn on_timer(&mut self, now: Instant) {
        self.turn.end();
        self.dispatch.on_timer(now);
        if self.paced_until <= now {
            self.paced_until = Instant::FAR_FUTURE;
        }
    }

    /// Looks at the paths anew: at all of them, unless time stands still and one alone has changed, as
    /// while several packets leave.
    pub fn refresh(
        &mut self,
        now: Instant,
        packet_bytes: u64,
        paths: &mut Paths,
        streams: &Streams,
    ) {
        let any_good = paths.values().any(Path::is_usable);
        let changed = paths.take_changed();
        // What a path may repeat changes with what the others send.
        let repeats = self.dispatch.capabilities().repeats;
        let seen = Seen { now, packet_bytes, any_good, turn: self.turn };
        let stands = std::mem::replace(&mut self.seen, seen);
        let kept = !repeats && stands == self.seen && self.keeps(changed, paths);
        if !kept {
            self.views.clear();
            for path in paths.values().filter(|path| path.carries_data()) {
                let mut view = view_of(path, self.seen);
                if repeats {
                    let next = streams.unacked_from(path.walk, packet_bytes - OVERHEAD_BYTES);
                    view.repeat_bytes = next.map_or(0, |chunk| chunk.range.end - chunk.range.start);
                }
                self.views.push(view);
            }
            self.views.sort_by_key(|view| view.id);
        }
        debug_assert!(self.is_fresh(paths), "a path changed unnoticed");
        if self.dispatch.capabilities().measures_delivery {
            for view in &mut self.views {
                view.delivery = self.dispatch.delivery(now, view.id);
            }
        }
    }

    /// The views are those that all paths together would give, but for what is filled in later.
    fn is_fresh(&self, paths: &Paths) -> bool {
        let carriers = paths.values().filter(|path| path.carries_data());
        let mut fresh: Vec<_> = carriers.map(|path| view_of(path, self.seen)).collect();
        fresh.sort_by_key(|view| view.id);
        let plain = |view: &PathView| PathView {
            delivery: scheduler::Delivery::default(),
            repeat_bytes: 0,
            ..*view
        };
        self.views.iter().map(plain).eq(fresh)
    }

    /// Brings the view of the one path that changed up to date; false if that is not all there is to do.
    fn keeps(&mut self, changed: Changed, paths: &Paths) -> bool {
        let id = match changed {
            Changed::None => return true,
            Changed::One(id) => id,
            Changed::Any => return false,
        };
        let Some(path) = paths.get(id).filter(|path| path.carries_data()) else { return false };
        let row = self.views.iter_mut().find(|view| view.id == path.net);
        row.map(|row| *row = view_of(path, self.seen)).is_some()
    }

    /// Asks the scheduler: what it said, and what that amounts to.
    pub fn ask(&mut self, now: Instant, streams: &Streams, unsent: Unsent) -> (Decision, Order) {
        let view = connection_view(now, (streams, unsent), &self.views);
        let decision = self.dispatch.ask(&view);
        (decision, self.dispatch.order(&view, decision))
    }

    /// The order could not be carried out: paths for a packet, if nothing would end the wait.
    pub fn fall_back(
        &mut self,
        now: Instant,
        streams: &Streams,
        unsent: Unsent,
    ) -> Option<PathSet> {
        let view = connection_view(now, (streams, unsent), &self.views);
        match self.dispatch.fall_back(&view) {
            Order::Send(targets) => Some(targets),
            _ => None,
        }
    }

    /// What the scheduler wants copied, the most urgent first.
    pub fn rescues(
        &mut self,
        now: Instant,
        streams: &Streams,
        unsent: Unsent,
    ) -> SmallVec<[Rescue; 4]> {
        let view = connection_view(now, (streams, unsent), &self.views);
        SmallVec::from_slice(self.dispatch.rescues(&view))
    }

    /// What the scheduler calls the path of acknowledgements.
    pub fn ack_path(&mut self, now: Instant, streams: &Streams, unsent: Unsent) -> Option<PathId> {
        let view = connection_view(now, (streams, unsent), &self.views);
        self.dispatch.ack_path(&view)
    }

    /// The path with the least RTT that could carry something now.
    pub fn fastest(&self, now: Instant) -> Option<PathId> {
        self.dispatch.fastest(now, &self.views)
    }

    /// Whether the peer's windows stop what a path could take: true once each time.
    pub fn note_stall(&mut self, is_stalled: bool) -> bool {
        let begins = is_stalled && !self.stalled && able(&self.views) != PathSet::EMPTY;
        self.stalled = is_stalled && (self.stalled || begins);
        begins
    }

    /// Nothing more leaves now: when a pacer lets the next packet go, and which paths could have
    /// sent more (what they sample is a lower bound, docs/model.md §1.5). A sender that the peer's windows
    /// hold back has data to send, and its samples count (draft-ietf-ccwg-bbr §4.1.2.4, Linux
    /// `tcp_rate_check_app_limited`): else a connection with little memory never left Startup.
    pub fn note_limits(
        &mut self,
        now: Instant,
        packet_bytes: u64,
        paths: &mut Paths,
        supply: Supply,
    ) {
        let is_queued = paths.values().any(|path| !path.queue.is_empty());
        let has_data = supply == Supply::Data || is_queued;
        let mut is_full = false;
        for path in paths.values_mut().filter(|path| path.is_open()) {
            if self.turn.excludes(path.net) {
                continue;
            }
            if !path.window_has_room(packet_bytes) {
                let counts = self.turn.heeds_full_windows() && path.is_usable();
                is_full |= counts && path.pacer_ready_at(packet_bytes) <= now;
                continue;
            }
            let ready = path.pacer_ready_at(packet_bytes);
            let view = self.views.iter().find(|view| view.id == path.net);
            path.filled = has_data && view.is_some_and(|view| self.dispatch.fills(now, view));
            if path.filled {
                continue; // what it delivers is all that it could
            }
            if ready <= now && supply == Supply::Held {
                continue;
            }
            if ready <= now {
                path.sampler.set_app_limited(path.in_flight);
            } else if has_data && path.rest_until.is_none() && path.health != Health::Failed {
                path.hold(now);
                self.paced_until = self.paced_until.min(ready);
            }
        }
        if is_full {
            self.paced_until = Instant::FAR_FUTURE;
        }
    }
}

/// What a scheduler sees of a path.
fn view_of(path: &Path, seen: Seen) -> PathView {
    let mut view = path.view(seen.now, seen.packet_bytes);
    view.has_room &= !seen.turn.excludes(path.net);
    // With nothing better a suspected path still carries what its window admits.
    view.usable |= !seen.any_good && path.health == Health::Suspected && path.rest_until.is_none();
    view
}

fn connection_view<'a>(
    now: Instant,
    (streams, unsent): (&Streams, Unsent),
    paths: &'a [PathView],
) -> ConnectionView<'a> {
    ConnectionView {
        now,
        paths,
        segment_bytes: unsent.segment_bytes,
        reinjection: streams.has_again(),
        unsent_bytes: unsent.all_bytes,
        receive_window_bytes: streams.receive_window_bytes(),
        window_left_bytes: streams.window_left(),
        window_blocked: false,
        urgent: streams.is_urgent(),
    }
}
