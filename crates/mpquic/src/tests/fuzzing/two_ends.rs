//! Two endpoints and a network that the input drives.

use super::{Input, client, drain, server};
use crate::wire::{Kind, parse};
use crate::*;
use forecast::Forecast;
use units::{Duration, Instant, PathId, Window};

/// Ways through the network.
const NETS: u8 = 4;
/// What each end may write in all.
const MAX_WRITTEN: u64 = 200_000;

/// What is later than this is lost: no RTT of hours.
const LIFETIME: Duration = Duration::from_secs(1);

/// The byte at an offset of what `from` sends.
fn byte(from: usize, offset: u64) -> u8 {
    (offset ^ offset >> 8 ^ offset >> 16 ^ (from as u64) << 7) as u8
}

#[derive(Default)]
struct Application {
    stream: Option<u64>,
    incoming: Option<u64>,
    written: u64,
    finished: bool,
    received: u64,
    ended: bool,
    established: usize,
    closed: Option<Closed>,
}

/// On its way.
#[derive(Clone)]
struct Datagram {
    to: usize,
    net: PathId,
    bytes: Vec<u8>,
    sent_at: Instant,
}

struct Arena {
    now: Instant,
    /// The client and the server.
    ends: [Endpoint; 2],
    apps: [Application; 2],
    flying: Vec<Datagram>,
    /// Some that arrived, for replay.
    seen: Vec<Datagram>,
    paths_added: usize,
    /// Who gives paths up: when both do, the last one may go.
    abandoner: usize,
    abandons: bool,
    closes: bool,
}

impl Arena {
    fn new(abandoner: usize) -> Self {
        Self {
            now: Instant::ZERO,
            ends: [client(), server()],
            apps: Default::default(),
            flying: Vec::new(),
            seen: Vec::new(),
            paths_added: 0,
            abandoner,
            abandons: false,
            closes: false,
        }
    }

    /// Both ends say what they have to say, and their applications read.
    fn settle(&mut self) {
        for end in 0..2 {
            self.work(end);
            for (net, bytes) in drain(self.now, &mut self.ends[end]) {
                self.flying.push(Datagram { to: 1 - end, net, bytes, sent_at: self.now });
            }
        }
    }

    fn work(&mut self, end: usize) {
        let app = &mut self.apps[end];
        for event in self.ends[end].take_events() {
            match event {
                Event::Closed(why) => app.closed = app.closed.take().or(Some(why)),
                Event::StreamOpened(id) => app.incoming = Some(id),
                Event::PathEstablished(_) => app.established += 1,
                _ => {}
            }
        }
        let Some(id) = app.incoming.filter(|_| !app.ended) else { return };
        loop {
            match self.ends[end].read(self.now, id, 10_000) {
                Ok(Read::Data(data)) => {
                    for found in data {
                        assert_eq!(found, byte(1 - end, app.received), "at {}", app.received);
                        app.received += 1;
                    }
                }
                Ok(Read::Finished) => app.ended = true,
                _ => break,
            }
            if app.ended {
                break;
            }
        }
        let sent = self.apps[1 - end].written;
        assert!(self.apps[end].received <= sent, "more than was written");
    }

    fn write(&mut self, end: usize, len: u64) {
        let app = &mut self.apps[end];
        if app.stream.is_none() {
            app.stream = self.ends[end].open_stream(false).ok();
        }
        let Some(stream) = app.stream.filter(|_| !app.finished) else { return };
        let len = len.min(MAX_WRITTEN - app.written);
        let data: Vec<u8> = (0..len).map(|at| byte(end, app.written + at)).collect();
        app.written += self.ends[end].write(stream, &data).unwrap_or(0) as u64;
    }

    fn finish(&mut self, end: usize) {
        let app = &mut self.apps[end];
        if app.stream.is_none() {
            app.stream = self.ends[end].open_stream(false).ok();
        }
        if let Some(stream) = app.stream {
            app.finished |= self.ends[end].finish(stream).is_ok();
        }
    }

    fn deliver(&mut self, datagram: Datagram) {
        if self.now - datagram.sent_at > LIFETIME {
            return;
        }
        if self.seen.len() < 64 {
            let later = Datagram { sent_at: Instant::FAR_FUTURE, ..datagram.clone() };
            self.seen.push(later);
        }
        self.ends[datagram.to].handle(self.now, datagram.net, datagram.bytes, None);
    }

    fn take(&mut self, input: &mut Input<'_>) -> Option<Datagram> {
        let index = input.below(self.flying.len().max(1));
        (index < self.flying.len()).then(|| self.flying.remove(index))
    }

    /// A datagram comes changed. A 1-RTT packet is refused without a trace.
    fn deliver_changed(&mut self, input: &mut Input<'_>) {
        let Some(mut datagram) = self.take(input) else { return };
        let is_short = parse(&datagram.bytes, 8).is_ok_and(|header| header.kind == Kind::Short);
        let at = input.below(datagram.bytes.len());
        let (flip, cuts) = (input.u8(), input.u8() & 1 == 1);
        datagram.bytes[at] ^= flip;
        if cuts {
            datagram.bytes.truncate(at);
        } else if flip == 0 {
            return;
        }
        self.settle();
        let end = &mut self.ends[datagram.to];
        let before = end.totals();
        end.handle(self.now, datagram.net, datagram.bytes, None);
        if is_short {
            let events = end.take_events();
            assert!(events.is_empty(), "a changed packet did {events:?}");
            assert_eq!(before.duplicate_packets, end.totals().duplicate_packets);
        }
    }

    fn one_step(&mut self, input: &mut Input<'_>) {
        let operation = input.u8() % 32;
        let end = usize::from(operation & 1);
        match operation {
            0..=7 if !self.flying.is_empty() => {
                let first = self.flying.remove(0);
                self.deliver(first);
            }
            8 | 9 => {
                if let Some(any) = self.take(input) {
                    self.deliver(any); // reordered
                }
            }
            10 => drop(self.take(input)),
            11 => self.flying.clear(),
            12 | 13 => {
                if let Some(any) = self.take(input) {
                    self.deliver(any.clone());
                    self.deliver(any);
                }
            }
            14 | 15 => self.deliver_changed(input),
            16 if !self.seen.is_empty() => {
                let replayed = self.seen[input.below(self.seen.len())].clone();
                self.deliver(replayed);
            }
            17 => {
                // Another way than it was sent: the sender's address changed, or was forged.
                if let Some(datagram) = self.take(input) {
                    let net = PathId(input.u8() % NETS);
                    self.deliver(Datagram { net, ..datagram });
                }
            }
            18 | 19 => self.next_timer(),
            20 => self.now += Duration::from_micros(1 << input.below(23)),
            21 => {
                let added = self.ends[0].add_path(self.now, PathId(input.u8() % NETS));
                self.paths_added += usize::from(added.is_ok());
            }
            22 | 23 => {
                let net = PathId(input.u8() % NETS);
                self.abandons |= self.ends[self.abandoner].abandon_path(self.now, net).is_ok();
            }
            24..=27 => self.write(end, u64::from(input.u16())),
            28 | 29 => drop(self.ends[end].update_keys(self.now)),
            30 => self.something_rare(input),
            _ => self.next_timer(),
        }
    }

    fn something_rare(&mut self, input: &mut Input<'_>) {
        let end = usize::from(input.u8() & 1);
        let net = PathId(input.u8() % NETS);
        match input.u8() % 16 {
            0..=4 => self.finish(end),
            5..=8 => drop(self.ends[end].set_path_status(net, input.u8() & 1 == 1)),
            9..=14 => {
                let start = self.now + Duration::from_millis(u64::from(input.u8()));
                let end_at = start + Duration::from_millis(u64::from(input.u16()));
                let outage = Window { start, end: end_at };
                self.ends[end].set_forecast(net, Forecast::certain([outage]));
            }
            _ => {
                self.ends[end].close(self.now, 9, b"enough");
                self.closes = true;
            }
        }
    }

    /// Time goes on to the next timer of either end.
    fn next_timer(&mut self) {
        if let Some(at) = self.ends.iter().filter_map(Endpoint::poll_timeout).min() {
            assert!(at > self.now, "a timer that was due: {at:?} at {:?}", self.now);
            self.now = at;
        }
    }

    fn check(&mut self) {
        // One end may give a path up while the other finds that the last one does not answer.
        let gone = |app: &Application| match &app.closed {
            Some(Closed::Error(error)) => error.code == Code::NoViablePath,
            _ => false,
        };
        self.closes |= self.abandons && self.apps.iter().any(gone);
        for (end, app) in self.ends.iter().zip(&self.apps) {
            if !self.closes {
                assert_eq!(app.closed, None, "{end:?}");
            }
            assert!(app.established <= self.paths_added + 1, "a path that nobody added");
        }
    }

    /// The network is good from now on: everything arrives.
    fn recover(&mut self) {
        self.settle();
        let deadline = self.now + Duration::from_secs(50_000);
        let connected = |arena: &Self| arena.ends.iter().all(Endpoint::is_connected);
        for _ in 0..20_000 {
            self.settle();
            if connected(self) {
                (0..2)
                    .filter(|end| !self.apps[*end].finished)
                    .collect::<Vec<_>>()
                    .into_iter()
                    .for_each(|end| self.finish(end));
                self.settle();
            }
            self.check();
            if self.closes || self.apps.iter().all(|app| app.ended) {
                break;
            }
            // Each has given up what the other keeps, and word of it was lost: the idle timeout,
            // which these endpoints do not have, ends that.
            let [client, server] = [0, 1].map(|end: usize| self.ends[end].path_ids());
            self.closes |= self.abandons && client.iter().all(|id| !server.contains(id));
            if self.flying.is_empty() {
                self.next_timer();
            } else {
                // 10 ms each way, on every net.
                self.now += Duration::from_millis(10);
                for datagram in std::mem::take(&mut self.flying) {
                    self.deliver(datagram);
                }
            }
            assert!(self.now < deadline, "stuck for hours: {self:?}");
        }
        if !self.closes {
            assert!(self.apps.iter().all(|app| app.ended), "not through: {self:?}");
            assert_eq!(self.apps[0].received, self.apps[1].written);
            assert_eq!(self.apps[1].received, self.apps[0].written);
        }
    }
}

impl std::fmt::Debug for Arena {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "at {:?}, {} flying", self.now, self.flying.len())?;
        for (app, end) in self.apps.iter().zip(&self.ends) {
            let Application { written, finished, received, ended, .. } = app;
            writeln!(f, "{end:?}: {written} written ({finished}), {received} received ({ended})")?;
            writeln!(f, "{}", end.timers())?;
        }
        Ok(())
    }
}

/// What is delivered is a prefix of what was written; what was changed or replayed does nothing,
/// closes nothing and adds no path; memory is bounded; time goes on; and when the network is good
/// again, everything arrives.
pub fn two_ends(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let choice = input.u8();
    let mut arena = Arena::new(usize::from(choice >> 1 & 1));
    if choice & 1 == 1 {
        for _ in 0..12 {
            arena.settle();
            arena.now += Duration::from_millis(10);
            for datagram in std::mem::take(&mut arena.flying) {
                arena.deliver(datagram);
            }
        }
    }
    while !input.is_empty() {
        arena.settle();
        arena.one_step(&mut input);
        arena.settle();
        arena.check();
    }
    arena.recover();
}
