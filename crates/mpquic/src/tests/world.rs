//! Two hosts and a network in virtual time.

use crate::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::LazyLock;
use units::{Bitrate, Duration, Instant, PathId};

/// What every stream carries: the byte at an offset says where it belongs.
static PATTERN: LazyLock<Vec<u8>> = LazyLock::new(|| {
    (0..65_521_u32 + 65_536)
        .map(|i| ((i % 65_521).wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect()
});

pub fn pattern(offset: u64, len: usize) -> &'static [u8] {
    let start = (offset % 65_521) as usize;
    &PATTERN[start..start + len.min(65_536)]
}

/// What a host sends and has received on one stream each way.
#[derive(Debug, Default)]
pub struct Bulk {
    pub to_send: u64,
    pub written: u64,
    pub finished: bool,
    pub received: u64,
    pub ended: bool,
    pub last_at: Instant,
    pub longest_stall: Duration,
    pub done_at: Option<Instant>,
}

impl Bulk {
    pub fn sending(bytes: u64) -> Self {
        Self { to_send: bytes, ..Self::default() }
    }

    pub fn take(&mut self, now: Instant, data: &[u8]) {
        let mut rest = data;
        while !rest.is_empty() {
            let expected = pattern(self.received, rest.len());
            assert_eq!(&rest[..expected.len()], expected, "at offset {}", self.received);
            self.received += expected.len() as u64;
            rest = &rest[expected.len()..];
        }
        if self.last_at > Instant::ZERO {
            self.longest_stall = self.longest_stall.max(now - self.last_at);
        }
        self.last_at = now;
    }

    pub fn end(&mut self, now: Instant) {
        self.ended = true;
        self.done_at.get_or_insert(now);
    }
}

pub trait Host {
    /// Whether a datagram that leaves on `net` is marked ECT(0).
    fn marks(&self, _net: PathId) -> bool {
        false
    }
    /// The mark of the datagram that is handled next.
    fn marked(&mut self, _ecn: Option<Ecn>) {}
    fn handle(&mut self, now: Instant, net: PathId, datagram: Vec<u8>);
    fn transmit(&mut self, now: Instant) -> Option<(PathId, Vec<u8>)>;
    fn timeout(&self) -> Option<Instant>;
    fn on_timeout(&mut self, now: Instant);
    /// The application reads and writes.
    fn work(&mut self, now: Instant);
    fn bulk(&self) -> &Bulk;
}

/// Our endpoint with its application.
pub struct Own {
    pub endpoint: Endpoint,
    pub bulk: Bulk,
    pub stream: Option<u64>,
    pub events: Vec<(Instant, Event)>,
    /// Streams are read, and hold the pattern.
    pub reads: bool,
    mark: Option<Ecn>,
}

impl Own {
    pub fn client(bytes: u64, change: impl FnOnce(&mut Config)) -> Self {
        Self::new(super::tls::client_role(), bytes, "minrtt", change)
    }

    pub fn server(bytes: u64, change: impl FnOnce(&mut Config)) -> Self {
        Self::new(super::tls::server_role(), bytes, "minrtt", change)
    }

    pub fn new(role: Role, bytes: u64, scheduler: &str, change: impl FnOnce(&mut Config)) -> Self {
        let algorithm: scheduler::Algorithm = scheduler.parse().unwrap();
        Self::with_scheduler(role, bytes, algorithm.build(), change)
    }

    pub fn with_scheduler(
        role: Role,
        bytes: u64,
        scheduler: Box<dyn scheduler::Scheduler>,
        change: impl FnOnce(&mut Config),
    ) -> Self {
        let mut config = Config::new(role);
        change(&mut config);
        let seed = if matches!(config.role, Role::Client { .. }) { 1 } else { 2 };
        let endpoint = Endpoint::new(config, scheduler, (Instant::ZERO, PathId(0)), seed);
        Self {
            endpoint: endpoint.unwrap(),
            bulk: Bulk::sending(bytes),
            stream: None,
            events: Vec::new(),
            reads: true,
            mark: None,
        }
    }

    pub fn has(&self, event: &Event) -> bool {
        self.events.iter().any(|(_, other)| other == event)
    }

    pub fn when(&self, event: &Event) -> Option<Instant> {
        self.events.iter().find(|(_, other)| other == event).map(|(at, _)| *at)
    }

    pub fn closed(&self) -> Option<&Closed> {
        self.events.iter().find_map(|(_, event)| match event {
            Event::Closed(why) => Some(why),
            _ => None,
        })
    }
}

impl Host for Own {
    fn marks(&self, net: PathId) -> bool {
        self.endpoint.marks_ecn(net)
    }

    fn marked(&mut self, ecn: Option<Ecn>) {
        self.mark = ecn;
    }

    fn handle(&mut self, now: Instant, net: PathId, datagram: Vec<u8>) {
        self.endpoint.handle(now, net, datagram, self.mark.take());
    }

    fn transmit(&mut self, now: Instant) -> Option<(PathId, Vec<u8>)> {
        self.endpoint.poll_transmit(now)
    }

    fn timeout(&self) -> Option<Instant> {
        self.endpoint.poll_timeout()
    }

    fn on_timeout(&mut self, now: Instant) {
        self.endpoint.on_timeout(now);
    }

    fn work(&mut self, now: Instant) {
        while let Some(event) = self.endpoint.poll_event() {
            if let Event::Readable(id) = event
                && self.reads
            {
                loop {
                    match self.endpoint.read(now, id, usize::MAX) {
                        Ok(Read::Data(data)) => self.bulk.take(now, &data),
                        Ok(Read::Finished) => {
                            self.bulk.end(now);
                            break;
                        }
                        _ => break,
                    }
                }
            }
            self.events.push((now, event));
        }
        if self.bulk.finished || !self.endpoint.is_connected() || self.bulk.to_send == 0 {
            return;
        }
        let stream = match self.stream {
            Some(stream) => stream,
            None => self.endpoint.open_stream(false).unwrap(),
        };
        self.stream = Some(stream);
        while self.bulk.written < self.bulk.to_send {
            let left = self.bulk.to_send - self.bulk.written;
            let data = pattern(self.bulk.written, left.min(65_536) as usize);
            let Ok(taken) = self.endpoint.write(stream, data) else { return };
            self.bulk.written += taken as u64;
            if taken < data.len() {
                return;
            }
        }
        self.bulk.finished = self.endpoint.finish(stream).is_ok();
    }

    fn bulk(&self) -> &Bulk {
        &self.bulk
    }
}

/// One direction of one path.
#[derive(Clone, Debug)]
pub struct Link {
    pub delay: Duration,
    pub rate: Bitrate,
    pub queue_bytes: u64,
    /// Chances in 1000.
    pub loss: u32,
    pub reorder: u32,
    pub duplicate: u32,
    pub corrupt: u32,
    pub truncate: u32,
    /// Marks are cleared on the way.
    pub bleaches: bool,
    /// Of a queue longer than this, marked datagrams leave marked CE.
    pub mark_bytes: u64,
    /// Longer datagrams do not pass.
    pub mtu: usize,
    /// Nothing passes then.
    pub down: Vec<(Instant, Instant)>,
    pub free_at: Instant,
    pub carried: u64,
}

impl Link {
    pub fn new(mbps: f64, delay_ms: u64) -> Self {
        let rate = Bitrate::from_mbps(mbps);
        let delay = Duration::from_millis(delay_ms);
        Self {
            delay,
            rate,
            queue_bytes: rate.bytes_in(delay * 2).max(60_000),
            loss: 0,
            reorder: 0,
            duplicate: 0,
            corrupt: 0,
            truncate: 0,
            bleaches: false,
            mark_bytes: u64::MAX,
            mtu: usize::MAX,
            down: Vec::new(),
            free_at: Instant::ZERO,
            carried: 0,
        }
    }

    pub fn is_down(&self, now: Instant) -> bool {
        self.down.iter().any(|(start, end)| *start <= now && now < *end)
    }
}

type Flying = Reverse<(Instant, u64, bool, PathId, Vec<u8>, Option<bool>)>;

pub struct World<C, S> {
    pub client: C,
    pub server: S,
    /// To the server, to the client.
    pub links: [Vec<Link>; 2],
    pub now: Instant,
    flying: BinaryHeap<Flying>,
    /// Datagrams carried.
    pub count: u64,
    rng: ChaCha8Rng,
    /// Datagrams that came by, for replay.
    pub replay: u32,
    seen: Vec<(bool, PathId, Vec<u8>)>,
}

impl<C: Host, S: Host> World<C, S> {
    pub fn new(client: C, server: S, links: Vec<Link>, seed: u64) -> Self {
        Self {
            client,
            server,
            links: [links.clone(), links],
            now: Instant::ZERO,
            flying: BinaryHeap::new(),
            count: 0,
            rng: ChaCha8Rng::seed_from_u64(seed),
            replay: 0,
            seen: Vec::new(),
        }
    }

    fn send(&mut self, up: bool, net: PathId, mut datagram: Vec<u8>) {
        let marks = if up { self.client.marks(net) } else { self.server.marks(net) };
        let rng = &mut self.rng;
        let link = &mut self.links[usize::from(!up)][net.index()];
        let mut happens = |chance: u32| rng.random_ratio(chance.min(1000), 1000);
        let len = datagram.len() as u64 + 28;
        let backlog = link.free_at - self.now;
        let full = link.rate.bytes_in(backlog) + len > link.queue_bytes;
        let fits = datagram.len() <= link.mtu;
        if link.is_down(self.now) || full || !fits || happens(link.loss) {
            return;
        }
        // CE or not, when it is marked at all.
        let queued = link.rate.bytes_in(backlog);
        let ecn = (marks && !link.bleaches).then_some(queued > link.mark_bytes);
        link.carried += len;
        link.free_at = link.free_at.max(self.now) + link.rate.time_for(len).unwrap();
        let mut at = link.free_at + link.delay;
        if happens(link.reorder) {
            at += link.delay;
        }
        let copies = if happens(link.duplicate) { 2 } else { 1 };
        if happens(link.corrupt) {
            let index = rng.random_range(0..datagram.len());
            datagram[index] ^= 1 << rng.random_range(0..8_u32);
        }
        if rng.random_ratio(link.truncate.min(1000), 1000) {
            datagram.truncate(rng.random_range(0..datagram.len()));
        }
        for _ in 0..copies {
            self.count += 1;
            self.flying.push(Reverse((at, self.count, up, net, datagram.clone(), ecn)));
        }
        if self.replay > 0 {
            if self.seen.len() < 512 {
                self.seen.push((up, net, datagram));
            }
            if rng.random_ratio(self.replay, 1000) {
                let (up, net, datagram) = self.seen[rng.random_range(0..self.seen.len())].clone();
                self.count += 1;
                self.flying.push(Reverse((at, self.count, up, net, datagram, ecn)));
            }
        }
    }

    fn flush(&mut self) {
        self.client.work(self.now);
        self.server.work(self.now);
        for _ in 0..100_000 {
            if let Some((net, datagram)) = self.client.transmit(self.now) {
                self.send(true, net, datagram);
            } else if let Some((net, datagram)) = self.server.transmit(self.now) {
                self.send(false, net, datagram);
            } else {
                return;
            }
        }
        panic!("a host sends without end at {:?}", self.now);
    }

    /// One event; false when nothing is to come before `until`.
    fn step(&mut self, until: Instant) -> bool {
        let arrives = self.flying.peek().map(|Reverse((at, ..))| *at);
        let (client, server) = (self.client.timeout(), self.server.timeout());
        let next = [arrives, client, server].into_iter().flatten().min();
        let Some(next) = next.filter(|at| *at <= until) else {
            self.now = self.now.max(until);
            return false;
        };
        self.now = self.now.max(next);
        if arrives == Some(next) {
            let Some(Reverse((_, _, up, net, datagram, ecn))) = self.flying.pop() else {
                return false;
            };
            if self.links[usize::from(!up)][net.index()].is_down(self.now) {
                return true; // lost on its way
            }
            let ecn = ecn.map(|ce| if ce { Ecn::Ce } else { Ecn::Ect0 });
            if up {
                self.server.marked(ecn);
                self.server.handle(self.now, net, datagram);
            } else {
                self.client.marked(ecn);
                self.client.handle(self.now, net, datagram);
            }
        } else if client == Some(next) {
            self.client.on_timeout(self.now);
        } else {
            self.server.on_timeout(self.now);
        }
        true
    }

    /// Runs until `done` or the time is over; whether it was done.
    pub fn run(&mut self, until: Instant, mut done: impl FnMut(&mut Self) -> bool) -> bool {
        let mut at_once = 0;
        let mut last = Instant::ZERO;
        loop {
            self.flush();
            if done(self) {
                return true;
            }
            if !self.step(until) {
                return false;
            }
            at_once = if self.now == last { at_once + 1 } else { 0 };
            last = self.now;
            let timers = (self.client.timeout(), self.server.timeout());
            assert!(at_once < 100_000, "time stands still at {:?}: {timers:?}", self.now);
        }
    }

    /// Runs until both have everything.
    pub fn transfer(&mut self, seconds: u64) -> Instant {
        let until = self.now + Duration::from_secs(seconds);
        let done = self.run(until, |world| {
            let (client, server) = (world.client.bulk(), world.server.bulk());
            server.received == client.to_send
                && client.received == server.to_send
                && (client.to_send == 0 || server.ended)
                && (server.to_send == 0 || client.ended)
        });
        let (client, server) = (self.client.bulk(), self.server.bulk());
        assert!(
            done,
            "not done at {:?}: server has {} of {}, client {} of {}",
            self.now, server.received, client.to_send, client.received, server.to_send
        );
        self.now
    }
}
