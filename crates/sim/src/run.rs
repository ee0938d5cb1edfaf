//! The event loop.

use crate::SimError;
use crate::agenda::Agenda;
use crate::config::{RunConfig, instant};
use crate::connection::{Connection, Phase, Side};
use crate::exposure::Exposure;
use crate::faults::{Contents, InChannel};
use crate::following::Following;
use crate::outcome::{Outcome, SampleRow, Totals};
use crate::own::Own;
use crate::script::{Action, write};
use crate::wire::Wire;
use application::{Adaptive, Workload};
use forecast::Update;
use link::{Direction, Link, build_paths, link_names, stream_seed};
use std::sync::atomic::{AtomicBool, Ordering};
use units::{Duration, Instant, PathId};

const MAX_PATHS: usize = 64;
const MAX_CONNECTIONS: usize = 1 << 15;

/// Runs a configuration to its end.
///
/// # Errors
/// [`SimError`] when the configuration makes no sense; nothing has run then.
pub fn simulate(config: &RunConfig) -> Result<Outcome, SimError> {
    simulate_with(config, Own::default(), &AtomicBool::new(false))
}

/// Runs a configuration with algorithms of the caller's for some connections, instead of those that
/// the configuration names. The run ends early, with what it has so far, once `cancelled` is set.
///
/// # Errors
/// As [`simulate`].
#[inline(never)] // whole in every build: `scripts/count-instructions` counts what happens inside
pub fn simulate_with(
    config: &RunConfig,
    own: impl Into<Own>,
    cancelled: &AtomicBool,
) -> Result<Outcome, SimError> {
    Ok(World::new(config, own.into())?.run(cancelled))
}

/// Both ends of all connections and all links, with the time at which each wants attention.
#[derive(Debug)]
pub(crate) struct World {
    path_names: Vec<String>,
    links: Vec<Link<Wire>>,
    pub(crate) connections: Vec<Connection>,
    script: Vec<(Instant, Action)>,
    script_next: usize,
    pub(crate) following: Following,
    /// Forecasts that reach the senders on each path during the run.
    updates: Vec<Vec<Update>>,
    /// What else happens to packets; nothing, except in runs with faults.
    channel: Option<InChannel>,
    /// Due times: links first, then client and server of each connection, then the channel.
    agenda: Agenda,
    /// All connections before this one are over: looked at when somebody asks what is due.
    first_open: usize,
    sample_interval: Duration,
    next_sample: Instant,
    stop_at: Instant,
    outcome: Outcome,
}

impl World {
    pub(crate) fn new(config: &RunConfig, mut own: Own) -> Result<Self, SimError> {
        check_size("paths", config.paths.len(), MAX_PATHS)?;
        check_size("connections", config.connections.len(), MAX_CONNECTIONS)?;
        if config.sample_interval_ms == 0 {
            return Err(SimError::SampleInterval);
        }
        let links = build_paths(&config.paths, config.seed)?;
        let mut connections = Vec::with_capacity(config.connections.len());
        let mut paths_of = Vec::with_capacity(config.connections.len());
        for (place, one) in config.connections.iter().enumerate() {
            check_connection(place, one)?;
            let paths = one.path_indices(place, &config.paths)?;
            let backup = paths.iter().map(|path| config.paths[*path].backup).collect();
            let seed = stream_seed(config.seed, &format!("connection {place}"), "controllers");
            let scheduler =
                own.schedulers.remove(&place).unwrap_or_else(|| (&one.scheduler).into());
            check_size("subflows of a connection", paths.len(), MAX_PATHS)?;
            let outages = paths.iter().map(|path| config.paths[*path].true_outages());
            let exposure = Exposure::new(outages.collect::<Result<_, _>>()?);
            let mut built =
                Connection::new(one, (paths.clone(), backup), seed, scheduler, exposure)?;
            for (local, path) in paths.iter().enumerate() {
                let known = config.paths[*path].known()?;
                built.set_forecast(PathId(local as u8), &known);
            }
            if let Some(abr) = own.abrs.remove(&place) {
                built.client.application = adaptive(place, one)?.client_with(abr);
            }
            connections.push(built);
            paths_of.push(paths);
        }
        let sample_interval = Duration::from_millis(config.sample_interval_ms);
        let updates = config.paths.iter().map(|path| path.updates());
        let updates: Vec<Vec<Update>> = updates.collect::<Result<_, _>>()?;
        Ok(Self {
            path_names: config.paths.iter().map(|path| path.name.clone()).collect(),
            agenda: Agenda::new(links.len() + 2 * connections.len() + 1),
            first_open: 0,
            channel: None,
            links,
            connections,
            script: write(config, &paths_of, &updates)?,
            script_next: 0,
            following: Following::new(config)?,
            updates,
            sample_interval,
            next_sample: Instant::ZERO + sample_interval,
            stop_at: instant("stop_after_s", config.stop_after_s)?,
            outcome: Outcome::default(),
        })
    }

    /// Lets faults happen, and another application run over the first connection.
    pub(crate) fn disturb(&mut self, channel: InChannel, contents: &Contents) {
        self.channel = Some(channel);
        self.connections[0].client.application = contents.end(Direction::Up);
        self.connections[0].server.application = contents.end(Direction::Down);
    }

    pub(crate) fn run(mut self, cancelled: &AtomicBool) -> Outcome {
        let mut now = Instant::ZERO;
        while let Some((at, source)) = self.earliest() {
            if at > self.stop_at || cancelled.load(Ordering::Relaxed) {
                now = self.stop_at.min(at);
                break;
            }
            now = now.max(at);
            match source {
                Source::Script => self.act(now),
                Source::Sample => self.sample(now),
                Source::Link(index) => self.deliver(now, index),
                Source::Channel => self.release(now),
                Source::Endpoint(place, end) => {
                    self.side(place, end).on_timeout(now);
                    self.flush(now, place, end);
                    self.note_delivered(now, place);
                }
            }
        }
        self.finish(now)
    }

    /// What is due first. A tie goes to the script, then to samples, links, endpoints, in order:
    /// what the script says about a moment holds for everything else in it. `None` when all is
    /// over.
    fn earliest(&mut self) -> Option<(Instant, Source)> {
        let scripted = self.script.get(self.script_next).map_or(Instant::FAR_FUTURE, |next| next.0);
        // What the script still says of paths concerns nobody when every connection is over.
        while self.connections.get(self.first_open)?.phase == Phase::Over {
            self.first_open += 1;
        }
        let (index, first) = self.agenda.first();
        if scripted <= self.next_sample && scripted <= first {
            return Some((scripted, Source::Script));
        }
        if self.next_sample <= first {
            return Some((self.next_sample, Source::Sample));
        }
        let source = match index.checked_sub(self.links.len()) {
            None => Source::Link(index),
            Some(endpoint) if endpoint == 2 * self.connections.len() => Source::Channel,
            Some(endpoint) => Source::Endpoint(endpoint / 2, Direction::of_link(endpoint)),
        };
        Some((first, source))
    }

    /// The end that data in this direction reach: down leads to the client.
    fn side(&mut self, place: usize, end: Direction) -> &mut Side {
        let connection = &mut self.connections[place];
        match end {
            Direction::Down => &mut connection.client,
            Direction::Up => &mut connection.server,
        }
    }

    fn act(&mut self, now: Instant) {
        let (_, action) = self.script[self.script_next];
        self.script_next += 1;
        let place = match action {
            Action::Forecast { connection, path, update } => {
                let update = &self.updates[self.connections[connection].paths[path]][update];
                self.connections[connection].set_forecast(PathId(path as u8), &update.forecast);
                connection
            }
            Action::Open { connection } => {
                self.open(now, connection);
                connection
            }
            Action::End { connection } => {
                // A sample at this very moment still belongs to the connection.
                if now == self.next_sample {
                    self.sample(now);
                }
                self.close(now, connection);
                return;
            }
            Action::PathUp { connection, .. } | Action::PathDown { connection, .. }
                if self.following.awaits(connection) =>
            {
                return;
            }
            Action::PathUp { connection, path } => {
                self.connections[connection].client.end.path_up(now, PathId(path as u8));
                connection
            }
            Action::PathDown { connection, path } => {
                self.connections[connection].client.end.path_down(now, PathId(path as u8));
                connection
            }
        };
        if self.connections[place].is_running() {
            self.attend(now, place);
        }
    }

    /// The client of a connection opens it.
    pub(crate) fn open(&mut self, now: Instant, place: usize) {
        self.connections[place].open(now);
        self.first_open = self.first_open.min(place);
    }

    /// Lets both ends of a connection act on what happened to it.
    pub(crate) fn attend(&mut self, now: Instant, place: usize) {
        for end in [Direction::Down, Direction::Up] {
            self.side(place, end).serve(now);
            self.flush(now, place, end);
        }
    }

    /// A connection is over at both ends; what is on its way reaches nobody.
    pub(crate) fn close(&mut self, now: Instant, place: usize) {
        self.connections[place].end(now);
        forget(&mut self.agenda, self.links.len() + 2 * place);
    }

    /// Hands over what has arrived at the far end of a link.
    fn deliver(&mut self, now: Instant, index: usize) {
        while let Some(wire) = self.links[index].pop(now) {
            match &mut self.channel {
                None => self.hand_over(now, index, wire),
                Some(channel) => {
                    if let Some(wire) = channel.pass(now, index, wire) {
                        self.hand_over(now, index, wire);
                    }
                    self.plan_release();
                }
            }
        }
        self.agenda.set(index, self.links[index].next_at());
    }

    /// Hands over what the channel has held up.
    fn release(&mut self, now: Instant) {
        while let Some((index, wire)) = self.channel.as_mut().and_then(|one| one.release(now)) {
            self.hand_over(now, index, wire);
        }
        self.plan_release();
    }

    fn plan_release(&mut self) {
        let slot = self.links.len() + 2 * self.connections.len();
        self.agenda.set(slot, self.channel.as_ref().map(InChannel::next_at));
    }

    fn hand_over(&mut self, now: Instant, index: usize, wire: Wire) {
        let end = Direction::of_link(index);
        let place = usize::from(wire.connection);
        if !self.connections[place].is_running() {
            return;
        }
        if let Some(memory) = self.side(place, end).end.handle(now, wire.path, wire.packet) {
            self.side(place, end.opposite()).end.reuse(memory);
        }
        self.side(place, end).serve(now);
        self.flush(now, place, end);
        self.note_delivered(now, place);
    }

    fn note_delivered(&mut self, now: Instant, place: usize) {
        self.connections[place].note_delivered(now);
        self.follow(now, place);
    }

    /// Puts everything that an endpoint has to send on its links.
    fn flush(&mut self, now: Instant, place: usize, end: Direction) {
        let toward = end.opposite();
        while let Some((path, packet)) = self.side(place, end).end.poll_transmit(now) {
            let index = toward.link_index(self.connections[place].paths[path.index()]);
            self.connections[place].note_sent(now, end, path, &packet);
            let wire = Wire { connection: place as u16, path, packet };
            // A packet that the link refuses is lost; its counters know why.
            let _refused = self.links[index].push(now, wire);
            self.agenda.set(index, self.links[index].next_at());
        }
        let timer = self.side(place, end).poll_timeout();
        let slot = self.links.len() + 2 * place + usize::from(end == Direction::Up);
        self.agenda.set(slot, timer);
    }

    fn sample(&mut self, now: Instant) {
        self.next_sample = now + self.sample_interval;
        for (place, connection) in self.connections.iter_mut().enumerate() {
            if !connection.is_sampled(now) {
                continue;
            }
            let direction = connection.direction;
            let links = &mut self.links;
            let queues: Vec<u64> = (connection.paths.iter())
                .map(|path| {
                    let link = &mut links[direction.link_index(*path)];
                    link.advance(now);
                    link.queued_bytes()
                })
                .collect();
            let row = SampleRow {
                time_s: now.as_secs_f64(),
                interval_s: self.sample_interval.as_secs_f64(),
                connection: place,
                ..SampleRow::default()
            };
            connection.sample(&row, &queues, &mut self.outcome.samples);
            connection.take_events(place, &mut self.outcome.events);
            if connection.phase == Phase::Complete {
                connection.end(now);
                forget(&mut self.agenda, self.links.len() + 2 * place);
            }
        }
    }

    fn finish(mut self, now: Instant) -> Outcome {
        for (place, connection) in self.connections.iter_mut().enumerate() {
            connection.take_events(place, &mut self.outcome.events);
        }
        self.outcome
            .events
            .sort_by(|a, b| a.time_s.total_cmp(&b.time_s).then(a.connection.cmp(&b.connection)));
        let mut totals = Totals { simulated_s: now.as_secs_f64(), ..Totals::default() };
        for (place, connection) in self.connections.iter().enumerate() {
            note_application(place, connection, now, &mut self.outcome);
            totals.connections.push(connection.totals(&self.path_names, now));
        }
        for (name, link) in link_names(&self.path_names).into_iter().zip(&self.links) {
            totals.link_packets += link.counters().delivered_packets;
            totals.links.insert(name, link.counters().into());
        }
        self.outcome.totals = totals;
        self.outcome.path_names = self.path_names;
        self.outcome
    }
}

/// Nothing is due any more at both ends of a connection, the first of which has this place.
fn forget(agenda: &mut Agenda, client: usize) {
    agenda.set(client, None);
    agenda.set(client + 1, None);
}

/// The rows that the applications of a connection have for the record, in the table of their kind.
fn note_application(place: usize, connection: &Connection, now: Instant, outcome: &mut Outcome) {
    let workload = &connection.config.workload;
    let columns = workload.describe().columns();
    if columns.is_empty() {
        return;
    }
    let table = outcome.applications.entry(workload.kind()).or_default();
    table.columns = columns;
    let rows = connection.application_rows(now);
    table.rows.extend(rows.into_iter().map(|row| (place, row)));
}

/// Who is due.
#[derive(Clone, Copy, Debug)]
enum Source {
    Script,
    Sample,
    Link(usize),
    Channel,
    Endpoint(usize, Direction),
}

fn adaptive(place: usize, config: &crate::ConnectionConfig) -> Result<&Adaptive, SimError> {
    match &config.workload {
        Workload::Adaptive(film) => Ok(film),
        other => Err(SimError::NotAdaptive { connection: place, workload: other.kind() }),
    }
}

fn check_size(what: &'static str, count: usize, limit: usize) -> Result<(), SimError> {
    match count {
        0 => Err(SimError::Empty(what)),
        _ if count > limit => Err(SimError::TooMany { what, count, limit }),
        _ => Ok(()),
    }
}

fn check_connection(place: usize, config: &crate::ConnectionConfig) -> Result<(), SimError> {
    let reasoned = |reason| SimError::Workload { connection: place, reason };
    config.workload.describe().check().map_err(reasoned)?;
    if !config.quic.is_possible() {
        return Err(SimError::Datagram { connection: place, bytes: config.quic.datagram_bytes });
    }
    let buffers = [
        ("send_buffer_bytes", config.send_buffer_bytes),
        ("receive_buffer_bytes", config.receive_buffer_bytes),
    ];
    match buffers.into_iter().find(|(_, bytes)| *bytes < 1500) {
        Some((field, bytes)) => Err(SimError::Buffer { connection: place, field, bytes }),
        None => Ok(()),
    }
}
