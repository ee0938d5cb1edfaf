//! Two endpoints over paths that only delay: what each rule sends again, and where.

use super::{at, ms};
use crate::{Endpoint, EndpointConfig, EventKind, Kind, Mode, Role, Segment};
use congestion::{Algorithm, Config};
use scheduler::{Capabilities, ConnectionView, Decision, PathSet, Scheduler};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use units::{Duration, Instant, PathId};

/// Bytes with which every pair begins.
pub(super) const FIRST: u64 = 1000;

/// A client and a server; path 0 takes 10 ms one way, path 1 takes 30 ms.
pub(super) struct Pair {
    pub client: Endpoint,
    pub server: Endpoint,
    /// When they arrive, whether at the client, the path.
    pub wire: Vec<(Instant, bool, PathId, Segment)>,
    pub now: Instant,
    /// Paths that lose everything.
    pub dark: PathSet,
    /// The applications read what comes.
    pub reads: bool,
    /// Data segments that the server put on each path.
    pub sent: [u64; 2],
}

impl Pair {
    pub fn new(mode: Mode, backup: Vec<bool>, scheduler: impl Fn() -> Box<dyn Scheduler>) -> Self {
        let mut pair = Self::opening(mode, backup, scheduler);
        pair.run(at(500));
        assert!(mode == Mode::Tcp || pair.client.path_stats(PathId(1)).cwnd_packets > 0);
        pair.sent = [0; 2];
        pair.server.take_events();
        pair
    }

    /// A pair of which nothing has left yet.
    fn opening(mode: Mode, backup: Vec<bool>, scheduler: impl Fn() -> Box<dyn Scheduler>) -> Self {
        Self::opening_with(1 << 20, mode, backup, scheduler)
    }

    /// The same with receive buffers of this size.
    pub fn opening_with(
        receive_buffer_bytes: u64,
        mode: Mode,
        backup: Vec<bool>,
        scheduler: impl Fn() -> Box<dyn Scheduler>,
    ) -> Self {
        let end = |role| {
            let config = EndpointConfig {
                role,
                mode,
                congestion: Algorithm::NewReno.into(),
                controller: Config::new(mode.mss_bytes(), 1),
                send_buffer_bytes: 1 << 20,
                receive_buffer_bytes,
                autotune: false,
                backup: backup.clone(),
            };
            Endpoint::new(config, scheduler(), 2)
        };
        let (client, server) = (end(Role::Client), end(Role::Server));
        let dark = PathSet::EMPTY;
        let mut pair =
            Self { client, server, wire: vec![], now: at(0), dark, reads: true, sent: [0; 2] };
        pair.client.path_up(at(0), PathId(0));
        pair.client.path_up(at(0), PathId(1));
        pair.server.offer(FIRST); // the second subflow joins when data have come
        pair
    }

    /// Runs until a moment.
    pub fn run(&mut self, until: Instant) {
        loop {
            for to_client in [false, true] {
                let end = if to_client { &mut self.server } else { &mut self.client };
                while let Some((path, segment)) = end.poll_transmit(self.now) {
                    if to_client && segment.payload.is_some() {
                        self.sent[path.index()] += 1;
                    }
                    let delay = ms([10, 30][path.index()]);
                    self.wire.push((self.now + delay, to_client, path, *segment));
                }
            }
            let timers = [self.client.poll_timeout(), self.server.poll_timeout()];
            let next = self.wire.iter().map(|one| one.0).chain(timers.into_iter().flatten()).min();
            let Some(next) = next.filter(|at| *at <= until) else { break };
            self.now = next.max(self.now);
            self.deliver();
            for end in [&mut self.client, &mut self.server] {
                if end.poll_timeout().is_some_and(|at| at <= self.now) {
                    end.on_timeout(self.now);
                }
            }
        }
        self.now = until;
    }

    fn deliver(&mut self) {
        let (now, dark) = (self.now, self.dark);
        let (due, later) = std::mem::take(&mut self.wire).into_iter().partition(|one| one.0 <= now);
        self.wire = later;
        let due: Vec<(Instant, bool, PathId, Segment)> = due;
        for (_, to_client, path, segment) in due.iter().filter(|one| !dark.contains(one.2)) {
            let end = if *to_client { &mut self.client } else { &mut self.server };
            end.handle(now, *path, segment);
            if self.reads {
                end.read(now, u64::MAX);
            }
        }
    }

    /// The server's events of a kind, by path.
    fn server_events(&mut self, kind: fn(EventKind) -> bool) -> Vec<Option<PathId>> {
        let events = self.server.take_events();
        events.into_iter().filter(|event| kind(event.kind)).map(|event| event.path).collect()
    }
}

pub(super) fn minrtt() -> Box<dyn Scheduler> {
    scheduler::Algorithm::MinRtt.build()
}

/// Always waits.
#[derive(Debug)]
struct Lazy;

impl Scheduler for Lazy {
    fn select(&mut self, _: &ConnectionView<'_>) -> Decision {
        Decision::Wait(None)
    }
}

/// Sends on the first path with room, and counts what it is asked.
#[derive(Debug)]
struct Counting {
    whole_fragments: bool,
    asks: Arc<AtomicU64>,
}

impl Scheduler for Counting {
    fn select(&mut self, view: &ConnectionView<'_>) -> Decision {
        self.asks.fetch_add(1, Ordering::Relaxed);
        let path = view.paths.iter().find(|path| path.usable && path.has_room);
        path.map_or(Decision::Wait(None), |path| Decision::Send(path.id))
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { whole_fragments: self.whole_fragments, ..Capabilities::default() }
    }
}

/// Always sends on the second path, once that is there.
#[derive(Debug)]
struct OnSecond;

impl Scheduler for OnSecond {
    fn select(&mut self, view: &ConnectionView<'_>) -> Decision {
        let path = view.paths.last().filter(|path| path.usable && path.has_room);
        path.map_or(Decision::Wait(None), |path| Decision::Send(path.id))
    }
}

#[test]
fn both_paths_join_and_every_byte_arrives_once() {
    for mode in [Mode::V096, Mode::Upstream] {
        let mut pair = Pair::new(mode, vec![], minrtt);
        pair.server.offer(3_000_000);
        pair.run(at(5_000));
        assert_eq!(pair.client.delivered_bytes(), FIRST + 3_000_000, "{mode:?}");
        assert!(pair.sent.iter().all(|packets| *packets > 0), "{mode:?}: {:?}", pair.sent);
        assert_eq!(pair.client.duplicate_bytes(), 0, "{mode:?}: nothing came twice");
    }
}

/// Karn: with its third ACK lost a join gives the responder no RTT. `tcp_update_pacing_rate` then divides
/// by none, so the path is as good as any to the scheduler, which looks at the pacing rate.
#[test]
fn a_subflow_that_has_no_rtt_yet_carries_data() {
    let upstream = || scheduler::Algorithm::Upstream.build();
    let mut pair = Pair::opening(Mode::Upstream, vec![], upstream);
    for now in 0..900 {
        pair.run(at(now));
        pair.wire.retain(|(.., segment)| segment.kind != Kind::JoinAck);
    }
    pair.run(at(3_000)); // the repeated one came
    pair.server.offer(1_000_000);
    pair.run(at(6_000));
    assert!(pair.sent[1] > 100, "{:?}", pair.sent);
    assert_eq!(pair.client.delivered_bytes(), FIRST + 1_000_000);
}

/// `get_available_subflow` of v0.96 and `__mptcp_retrans` of upstream: a backup serves alone.
#[test]
fn what_the_rule_against_deadlocks_sends_stays_off_a_backup_path() {
    for mode in [Mode::V096, Mode::Upstream] {
        let mut pair = Pair::new(mode, vec![true, false], || Box::new(Lazy));
        pair.server.offer(20_000);
        pair.run(at(5_000));
        assert_eq!(pair.client.delivered_bytes(), FIRST + 20_000, "{mode:?}");
        assert_eq!(pair.sent[0], 0, "{mode:?}: the fast path is the backup");
    }
}

/// Each write is decided by itself (`__mptcp_push_pending`): when all is idle its head takes the first
/// subflow, and what is written behind it the other one, which has nothing queued.
#[test]
fn an_answer_with_a_head_uses_both_paths_upstream() {
    let mut pair = Pair::new(Mode::Upstream, vec![], || scheduler::Algorithm::Upstream.build());
    for answer in 1..=3 {
        pair.server.offer(8);
        pair.server.offer(10_000);
        pair.run(at(500 + answer * 1_000));
        assert_eq!(pair.sent, [answer, answer * 10_000_u64.div_ceil(1424)]);
    }
    assert_eq!(pair.client.delivered_bytes(), FIRST + 3 * 10_008);
}

/// `__subflow_push_pending`: what upstream's own scheduler says holds for a fragment of 32,728 bytes; others
/// are asked for each segment.
#[test]
fn a_decision_of_upstream_holds_for_a_fragment() {
    for (whole_fragments, asked) in [(true, 2), (false, 40)] {
        let asks = Arc::new(AtomicU64::new(0));
        let counting = || Box::new(Counting { whole_fragments, asks: Arc::clone(&asks) }) as _;
        let mut pair = Pair::new(Mode::Upstream, vec![], counting);
        asks.store(0, Ordering::Relaxed);
        pair.server.offer(40 * 1424);
        pair.run(at(1_000));
        assert_eq!(pair.client.delivered_bytes(), FIRST + 40 * 1424);
        assert_eq!(asks.load(Ordering::Relaxed), asked);
    }
}

/// A closed subflow: what it held goes on the other one, without a timeout.
#[test]
fn a_closed_subflow_leaves_its_data_to_the_other() {
    for mode in [Mode::V096, Mode::Upstream] {
        let mut pair = Pair::new(mode, vec![], || Box::new(OnSecond));
        pair.server.offer(14_000);
        pair.run(at(510));
        assert!(pair.sent[1] > 0, "{mode:?}");
        pair.dark = pair.dark.with(PathId(1));
        let now = pair.now;
        pair.client.path_down(now, PathId(1));
        pair.run(at(700));
        assert_eq!(pair.client.delivered_bytes(), FIRST + 14_000, "{mode:?}");
        assert!(pair.sent[0] > 0, "{mode:?}");
        let reinjected = pair.server_events(|kind| matches!(kind, EventKind::Reinjected(_)));
        assert_eq!(reinjected, [Some(PathId(1))], "{mode:?}");
    }
}

/// v0.96: the first timeout of a subflow makes it potentially failed, and its data go on the others;
/// when it is heard of again, it counts as before.
#[test]
fn a_dark_path_fails_reinjects_once_and_is_revived() {
    let mut pair = Pair::new(Mode::V096, vec![], minrtt);
    pair.dark = pair.dark.with(PathId(0));
    pair.server.offer(100_000);
    pair.run(at(2_000));
    assert_eq!(pair.client.delivered_bytes(), FIRST + 100_000);
    let kinds: Vec<_> =
        pair.server.take_events().into_iter().map(|event| event.kind.name()).collect();
    let count = |name: &str| kinds.iter().filter(|kind| **kind == name).count();
    assert_eq!((count("failed"), count("reinjected"), count("revived")), (1, 1, 0), "{kinds:?}");
    pair.dark = PathSet::EMPTY;
    pair.run(at(30_000));
    let revived = pair.server_events(|kind| kind == EventKind::Revived);
    assert_eq!(revived, [Some(PathId(0))]);
}

/// Upstream keeps asking a silent path: five periods of the connection's timer make it stale.
#[test]
fn upstream_calls_a_silent_subflow_stale_only_after_five_periods() {
    let mut pair = Pair::new(Mode::Upstream, vec![], minrtt);
    pair.server.offer(20_000_000);
    pair.run(at(700)); // more is on its way than five periods move, a fragment each
    pair.dark = pair.dark.with(PathId(0));
    pair.server.take_events();
    pair.run(at(30_000));
    assert_eq!(pair.client.delivered_bytes(), FIRST + 20_000_000);
    let events = pair.server.take_events();
    let stale_at = events.iter().find(|one| one.kind == EventKind::Failed).map(|one| one.at);
    let periods = events.iter().filter(|one| one.kind == EventKind::MetaTimeout);
    let before = periods.filter(|one| Some(one.at) <= stale_at).count();
    assert!(stale_at.is_some() && before >= 5, "{events:?}");
}

#[test]
fn a_receiver_that_takes_no_more_stops_the_sender_at_its_window() {
    let mut pair = Pair::new(Mode::V096, vec![], minrtt);
    pair.dark = pair.dark.with(PathId(0)).with(PathId(1));
    pair.server.offer(1 << 30);
    pair.run(at(60_000));
    assert!(pair.server.window_left_bytes() <= 1 << 20);
    let unique: u64 =
        [0, 1].map(|path| pair.client.path_stats(PathId(path)).unique_bytes).iter().sum();
    assert_eq!(unique, FIRST);
    let wait = Duration::from_secs(120);
    assert!(pair.server.poll_timeout().is_some_and(|at| at <= pair.now + wait), "it keeps trying");
}

/// `tcp_retries2`: what was in flight on a dead path came over the backup, so that the connection's timer
/// stopped, and the scheduler waits for the dead path until its subflow is given up.
#[test]
fn a_subflow_that_is_never_answered_is_given_up() {
    let sttf = || scheduler::Algorithm::Sttf.build();
    let mut pair = Pair::new(Mode::Upstream, vec![false, true], sttf);
    pair.server.offer(200_000);
    pair.run(at(505));
    pair.dark = PathSet::EMPTY.with(PathId(0));
    pair.run(at(900_000));
    let delivered = pair.client.delivered_bytes();
    assert!((FIRST + 1..FIRST + 200_000).contains(&delivered), "{delivered}: it stands still");
    pair.run(at(1_200_000));
    assert_eq!(pair.client.delivered_bytes(), FIRST + 200_000);
    let failed = pair.server_events(|kind| matches!(kind, EventKind::Failed));
    assert_eq!(failed, [Some(PathId(0))]);
}
