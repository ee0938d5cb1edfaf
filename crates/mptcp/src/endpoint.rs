//! One end of a connection: subflows below, one stream above.

mod handling;
mod paths;
mod persist;
mod scheduling;
mod stats;
mod subflows;
mod upstream;
mod v096;
mod views;

pub use stats::{PathStats, Totals};

use crate::config::{EndpointConfig, Mode};
use crate::event::{Event, EventKind};
use crate::meta::{Cuts, ReceiveBuffer, SendBuffer};
use crate::segment::{Kind, Payload, Segment};
use crate::subflow::{Subflow, SubflowSender};
use congestion::Group;
use forecast::{Feed, Forecast};
use persist::Persist;
use recovery::{InOrderWaits, Reordering};
use scheduler::{Dispatch, PathSet, Scheduler};
use std::collections::VecDeque;
use subflows::Subflows;
use units::{Instant, PathId};
use views::Views;

/// What an endpoint remembers of a path beyond the life of one subflow.
#[derive(Debug, Default)]
struct PathState {
    /// Client: the interface exists.
    present: bool,
    incarnation: u16,
    /// Thought dead: `pf` in v0.96, stale upstream.
    failed: bool,
    last_heard: Instant,
    /// Last receive-buffer optimisation for this path (v0.96, at most one per RTT).
    optimised_at: Option<Instant>,
    /// Upstream: timer periods without a sign of life, and `last_heard` at the first of them.
    silent_periods: u32,
    heard_at_check: Instant,
    /// Upstream: the first of the retransmission timeouts in a row.
    timed_out_at: Instant,
    reinjected_packets: u64,
    redundant_packets: u64,
    /// End of the last new or repeated segment put on this path: its walk goes on from here.
    walked_to: u64,
    feed: Feed,
    unique_bytes: u64,
    /// Totals of subflows that this path had before.
    past: stats::PastSubflows,
}

/// A TCP or Multipath TCP endpoint.
///
/// Contract (sans-IO): after each call that takes `now`, call [`Endpoint::poll_transmit`] until it
/// returns `None`, then look at [`Endpoint::poll_timeout`].
#[derive(Debug)]
pub struct Endpoint {
    config: EndpointConfig,
    dispatch: Dispatch,
    /// What coupled congestion controls of the subflows share.
    group: Group,
    subflows: Subflows,
    paths: Vec<PathState>,
    /// Paths with an outage ahead, or at rest.
    foreseen: PathSet,
    /// Data or a DATA_ACK came: further subflows may join (docs/model.md §2.3).
    fully_established: bool,
    send: SendBuffer,
    receive: ReceiveBuffer,
    reordering: Reordering,
    waits: InOrderWaits,
    /// In boxes: a segment is moved a dozen times before it is read.
    outbox: VecDeque<(PathId, Box<Segment>)>,
    /// Something happened since the last round of sending.
    dirty: bool,
    events: Vec<Event>,
    views: Views,
    /// Interfaces that went away, still to be announced to the peer.
    removals: Vec<(PathId, u16)>,
    meta_at: Instant,
    meta_backoff: u32,
    persist: Persist,
    /// The path that brought the last data.
    fed_by: PathId,
    window_blocked: bool,
    totals: Totals,
}

impl Endpoint {
    /// An endpoint with `paths` paths, none of them opened.
    pub fn new(config: EndpointConfig, scheduler: Box<dyn Scheduler>, paths: usize) -> Self {
        let send_bytes = if config.autotune { 0 } else { config.send_buffer_bytes };
        let send = SendBuffer::new(send_bytes, config.mode.mss_bytes());
        let feed = Feed::new(scheduler.capabilities().least_probability);
        let path = || PathState { feed: feed.clone(), ..<_>::default() };
        Self {
            send: match config.mode {
                Mode::Tcp => send.cutting(Cuts::writes()),
                Mode::V096 => send,
                Mode::Upstream => send.cutting(Cuts::upstream()),
            },
            receive: ReceiveBuffer::new(
                config.receive_buffer_bytes,
                config.autotune,
                config.mode.mss_bytes(),
            ),
            reordering: Reordering::default(),
            waits: InOrderWaits::default(),
            config,
            dispatch: Dispatch::new(scheduler),
            group: Group::new(),
            subflows: Subflows::new(paths),
            paths: (0..paths).map(|_| path()).collect(),
            foreseen: PathSet::EMPTY,
            fully_established: false,
            outbox: VecDeque::new(),
            dirty: false,
            events: Vec::new(),
            views: Views::new(paths),
            removals: Vec::new(),
            meta_at: Instant::FAR_FUTURE,
            meta_backoff: 0,
            persist: Persist::default(),
            fed_by: PathId(0),
            window_blocked: false,
            totals: Totals::default(),
        }
    }

    // ---- the byte stream ---------------------------------------------------------------------

    /// The application has `bytes` more to send; the send buffer takes them as it has room.
    pub fn offer(&mut self, bytes: u64) {
        self.send.offer(bytes);
        self.subflows.touch_all(); // those without data have some now
        self.dirty = true;
    }

    /// What is known ahead of a path: schedulers see the outage that is under way or comes next, its
    /// congestion control the boundaries. Replaces what was known before, unless that was issued later.
    pub fn set_forecast(&mut self, path: PathId, forecast: Forecast) {
        let Some(state) = self.paths.get_mut(path.index()) else { return };
        if state.feed.update(forecast) {
            self.dirty = true;
            self.foreseen = self.foreseen.with(path);
            if let Some(subflow) = self.subflows.get_mut(path) {
                subflow.tx.cc.on_forecast(&state.feed.boundaries());
            }
        }
    }

    /// Some subflow can carry data.
    pub fn is_open(&self) -> bool {
        self.established().next().is_some()
    }

    /// Payload of a full segment.
    pub fn mss_bytes(&self) -> u64 {
        self.config.mode.mss_bytes()
    }

    /// Bytes that came in order, each counted once; the application says what it has of them
    /// ([`Endpoint::read`]).
    pub fn delivered_bytes(&self) -> u64 {
        self.receive.next()
    }

    /// What happened since the last call.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    fn note(&mut self, at: Instant, path: Option<PathId>, kind: EventKind) {
        self.events.push(Event { at, path, kind });
    }

    // ---- packets out -------------------------------------------------------------------------

    /// The next packet to send and its path.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<(PathId, Box<Segment>)> {
        if self.outbox.is_empty() && self.dirty {
            self.dirty = false;
            self.fill(now);
        }
        self.outbox.pop_front()
    }

    fn fill(&mut self, now: Instant) {
        self.rest_paths(now);
        for path in self.subflows.active(now).iter() {
            self.send_handshake(now, path);
            self.send_queued(now, path);
        }
        self.tune_send_buffer();
        self.schedule(now);
        self.end_round(now);
        self.announce_removals(now);
        self.check_persist(now);
        self.subflows.settle();
    }

    fn end_round(&mut self, now: Instant) {
        // Whether a path is filled changes with time.
        if self.dispatch.capabilities().measures_delivery {
            self.subflows.touch_all();
        }
        let sends_data = self.send.offered() > 0;
        for path in self.subflows.active(now).iter() {
            let filled = self.is_filled(now, path);
            let Some(subflow) = self.subflows.get_mut(path) else { continue };
            if !subflow.is_established() {
                continue;
            }
            if sends_data {
                let (mode, send) = (self.config.mode, &self.send);
                subflow.tx.note_app_limited(filled, || is_held(mode, send));
            }
            if subflow.rx.acks.is_due() {
                self.push_segment(now, path, Kind::Data, None);
            }
        }
    }

    /// The scheduler, and not a lack of data, keeps a subflow from using its window (docs/weave.md, rule 8).
    fn is_filled(&self, now: Instant, path: PathId) -> bool {
        if !self.dispatch.capabilities().measures_delivery || self.send.next_new().is_none() {
            return false;
        }
        let view = self.views.rows().iter().find(|view| view.id == path);
        view.is_some_and(|view| self.dispatch.fills(now, view))
    }

    /// `__mptcp_sync_sndbuf`: the connection may hold as much as its subflows together.
    fn tune_send_buffer(&mut self) {
        if self.config.autotune {
            let lent_bytes = self.subflows.lent_bytes();
            self.send.grow_to(lent_bytes.min(self.config.send_buffer_bytes));
        }
    }

    fn send_handshake(&mut self, now: Instant, path: PathId) {
        use crate::subflow::State;
        let Some(subflow) = self.subflows.get_mut(path) else { return };
        if !subflow.handshake.has_to_send() {
            return;
        }
        let kind = match subflow.handshake.state() {
            State::SynSent => Kind::Syn,
            State::SynReceived => Kind::SynAck,
            State::PreEstablished => Kind::JoinAck,
            State::Established => Kind::Data,
        };
        subflow.handshake.on_sent(now);
        self.push_segment(now, path, kind, None);
    }

    fn send_queued(&mut self, now: Instant, path: PathId) {
        while let Some(subflow) = self.subflows.get_mut(path)
            && subflow.is_established()
            && let Some(payload) = subflow.tx.transmit(now)
        {
            self.push_segment(now, path, Kind::Data, Some(payload));
        }
    }

    fn push_segment(&mut self, now: Instant, path: PathId, kind: Kind, payload: Option<Payload>) {
        let window_end = self.receive.advertise(self.subflows.waiting_bytes());
        let data_ack = self.receive.next();
        let mode = self.config.mode;
        let Some(subflow) = self.subflows.get_mut(path) else { return };
        let sacks = subflow.rx.sacks(mode.sack_blocks());
        let (duplicate, echo) = subflow.rx.on_ack_sent();
        let headers = match payload {
            Some(_) => mode.data_header_bytes(),
            None if sacks.is_empty() => mode.ack_header_bytes(),
            None => mode.ack_header_bytes() + 4 + 8 * sacks.len() as u64,
        };
        let segment = Box::new(Segment {
            kind,
            incarnation: subflow.incarnation,
            payload,
            ack: subflow.rx.next(),
            sacks,
            duplicate,
            data_ack,
            window_end,
            sent_at: now,
            echo,
            removed: None,
            wire_bytes: headers + payload.map_or(0, |payload| payload.bytes),
        });
        self.outbox.push_back((path, segment));
    }

    fn announce_removals(&mut self, now: Instant) {
        if self.removals.is_empty() {
            return;
        }
        let Some(path) = self.prober() else { return };
        for removed in std::mem::take(&mut self.removals) {
            self.push_segment(now, path, Kind::Data, None);
            if let Some((_, segment)) = self.outbox.back_mut() {
                segment.removed = Some(removed);
            }
        }
    }

    // ---- time --------------------------------------------------------------------------------

    /// When [`Endpoint::on_timeout`] has to be called at the latest.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let first = self.subflows.next_timer();
        let first = first.min(self.meta_at).min(self.dispatch.wake_at()).min(self.persist.at());
        (first != Instant::FAR_FUTURE).then_some(first)
    }

    /// Fires every timer that is due.
    pub fn on_timeout(&mut self, now: Instant) {
        self.dirty = true;
        self.rest_paths(now);
        for path in self.subflows.active(now).iter() {
            let Some(subflow) = self.subflows.get_mut(path) else { continue };
            subflow.handshake.on_timer(now);
            subflow.rx.acks.on_timer(now);
            if subflow.tx.next_timer() > now {
                continue;
            }
            let (effects, probe) = subflow.tx.on_timer(now);
            if probe.is_some() {
                self.push_segment(now, path, Kind::Data, probe);
            }
            self.apply(now, path, &effects);
        }
        self.dispatch.on_timer(now);
        self.on_persist_timer(now);
        if self.meta_at <= now {
            match self.config.mode {
                Mode::Tcp => self.meta_at = Instant::FAR_FUTURE,
                Mode::V096 => self.meta_timeout_v096(now),
                Mode::Upstream => self.meta_timeout_upstream(now),
            }
        }
    }

    /// Starts the connection's own retransmission timer afresh, or stops it.
    fn restart_meta_timer(&mut self, now: Instant) {
        let period = match self.config.mode {
            Mode::Tcp => None,
            Mode::V096 => Some(self.meta_period_v096()),
            Mode::Upstream => Some(self.meta_period_upstream(now)),
        };
        self.meta_at = match period {
            Some(period) if !self.send.is_empty() => now + period,
            _ => Instant::FAR_FUTURE,
        };
    }

    fn sender(&self, path: PathId) -> Option<&SubflowSender> {
        self.subflows.get(path).map(|subflow| &subflow.tx)
    }

    fn established(&self) -> impl Iterator<Item = &Subflow> {
        self.subflows.iter().filter(|subflow| subflow.is_established())
    }
}

/// The peer's window, and not a lack of data, keeps a connection from sending. Linux does not count that
/// as limited by the application (`tcp_rate_check_app_limited`).
fn is_held(mode: Mode, send: &SendBuffer) -> bool {
    let next = send.next_new().filter(|_| mode == Mode::Tcp);
    next.is_some_and(|(dsn, bytes)| !send.fits(dsn + bytes))
}
