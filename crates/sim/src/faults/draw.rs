//! A run out of a seed.
//!
//! Transports, schedulers and congestion controls take turns, so that every combination comes equally
//! often; everything else is random.

use super::paths::{Span, any_path};
use super::{Channel, FaultRun, Size, Transfer};
use crate::{ConnectionConfig, RunConfig, Transport};
use application::Bulk;
use link::{Direction, PathConfig, UpWindow};
use mpquic::{AckPath, PacingTimer, QuicConfig, Reinject};
use mptcp::Mode;
use parameters::{Catalogue, Choice, Given, Kind, Named, Parameter};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What each transport is called, and in which mode.
const TRANSPORTS: [(Transport, Mode); 4] = [
    (Transport::Tcp, Mode::Tcp),
    (Transport::Mptcp, Mode::V096),
    (Transport::Mptcp, Mode::Upstream),
    (Transport::Mpquic, Mode::V096),
];

/// A transport that has waited through an outage as long as all faults tries again within two minutes
/// (TCP_RTO_MAX of Linux), and may lose some rounds more: what is not over by then never will be.
const GRACE_S: f64 = 1200.0;

pub(super) fn run(seed: u64, size: Size) -> FaultRun {
    let random = &mut ChaCha8Rng::seed_from_u64(seed);
    let longest_s = if size == Size::Short { 30.0 } else { 300.0 };
    let span = Span { faults_s: log_uniform(random, 0.1, longest_s), fast: size == Size::Long };
    let turn = seed as usize;
    let (transport, mode) = TRANSPORTS[turn % 4];
    let schedulers = scheduler::Algorithm::ALL;
    let controls = congestion::Algorithm::ALL;
    let scheduler = schedulers[turn / 4 % schedulers.len()];
    let control = controls[turn / 4 / schedulers.len() % controls.len()];
    let transfer = transfer(random, transport, size);
    let connection = ConnectionConfig {
        paths: Vec::new(),
        transport,
        quic: quic(random),
        subflows_per_path: if random.random_bool(0.8) { 1 } else { 2 },
        mode,
        scheduler: with_parameters(random, scheduler),
        congestion: with_parameters(random, control),
        workload: Bulk { direction: way(&transfer), bytes: Some(1), duration_s: None }.into(),
        start_s: if random.random_bool(0.7) {
            0.0
        } else {
            random.random_range(0.0..span.faults_s)
        },
        after: None,
        until: None,
        send_buffer_bytes: log_uniform(random, 3e3, 3e6) as u64,
        receive_buffer_bytes: log_uniform(random, 3e3, 3e6) as u64,
        autotune: random.random_bool(0.5),
    };
    let slowest_s = if size == Size::Long { slowest_s(&transfer, &connection) } else { 0.0 };
    let config = RunConfig {
        paths: paths(random, &span, (transport, connection.start_s)),
        connections: vec![connection],
        seed,
        stop_after_s: span.faults_s + GRACE_S + slowest_s,
        sample_interval_ms: 1000,
    };
    FaultRun { seed, config, channel: channel(random, &span), transfer }
}

/// What a healthy transfer takes at most: a window each round trip, and a second for that, which is more than any path
/// drawn here takes, three times over.
fn slowest_s(transfer: &Transfer, connection: &ConnectionConfig) -> f64 {
    let bytes: u64 = transfer.down_bytes.iter().chain(&transfer.up_bytes).sum();
    let window = connection.send_buffer_bytes.min(connection.receive_buffer_bytes);
    3.0 * bytes as f64 / window as f64
}

/// One to four; the interface of one may go for good. It is never the only one of a transport that
/// cannot leave it: TCP uses the first alone, and QUIC's handshake ends where it began (RFC 9000 §9).
fn paths(
    random: &mut ChaCha8Rng,
    span: &Span,
    (transport, start_s): (Transport, f64),
) -> Vec<PathConfig> {
    let count = random.random_range(1..=4);
    let mut paths: Vec<PathConfig> = (0..count).map(|at| any_path(random, at, span)).collect();
    let gone = random.random_range(0..count);
    let end_s = random.random_range(0.0..span.faults_s) + 1e-3;
    let earlier = paths[..gone].iter().any(|path| is_present(path, start_s));
    let is_first = start_s < end_s && !earlier;
    let leaves = match transport {
        Transport::Tcp => false,
        Transport::Mptcp => count > 1,
        Transport::Mpquic => count > 1 && !is_first,
    };
    if leaves && random.random_bool(0.25) {
        paths[gone].present = vec![UpWindow { start_s: 0.0, end_s: Some(end_s) }];
    }
    paths
}

fn is_present(path: &PathConfig, at_s: f64) -> bool {
    let covers =
        |window: &UpWindow| window.start_s <= at_s && window.end_s.is_none_or(|end_s| at_s < end_s);
    path.present.iter().any(covers)
}

/// TCP has one stream each way.
fn transfer(random: &mut ChaCha8Rng, transport: Transport, size: Size) -> Transfer {
    let total = match size {
        Size::Short => log_uniform(random, 100.0, 200_000.0) as u64,
        Size::Long => random.random_range(1_000_000..=20_000_000),
    };
    let both_ways = random.random_bool(0.25);
    let down = if both_ways { total / 2 } else { total * u64::from(random.random_bool(0.6)) };
    let mut streams = |bytes: u64| {
        let most = if transport == Transport::Mpquic { 4.min(bytes) } else { 1.min(bytes) };
        let count = if most == 0 { 0 } else { random.random_range(1..=most) };
        (0..count).map(|at| bytes / count + u64::from(at < bytes % count)).collect()
    };
    let (down_bytes, up_bytes) = (streams(down), streams(total - down));
    let pause_ms = if random.random_bool(0.7) { 0 } else { random.random_range(1..5000) };
    Transfer { down_bytes, up_bytes, pause_ms }
}

/// The way that most of the data go.
fn way(transfer: &Transfer) -> Direction {
    let sum = |bytes: &[u64]| bytes.iter().sum::<u64>();
    if sum(&transfer.down_bytes) >= sum(&transfer.up_bytes) {
        Direction::Down
    } else {
        Direction::Up
    }
}

fn quic(random: &mut ChaCha8Rng) -> QuicConfig {
    let ack_paths = [AckPath::Same, AckPath::Fastest, AckPath::Scheduled, AckPath::Duplicated];
    let reinjections = [Reinject::None, Reinject::Failure, Reinject::Tail, Reinject::All];
    let mut quic = QuicConfig {
        ack_path: one_of(random, &ack_paths),
        reinjection: one_of(random, &reinjections),
        datagram_bytes: random.random_range(1200..=1472),
        ..QuicConfig::default()
    };
    // Of what was drawn already: seeds keep their meaning.
    if quic.datagram_bytes.is_multiple_of(8) {
        quic.pacing_timer = PacingTimer::Last;
    }
    quic
}

fn channel(random: &mut ChaCha8Rng, span: &Span) -> Channel {
    let mut sometimes = |most: f64| {
        if random.random_bool(0.4) { log_uniform(random, 1e-3, most) } else { 0.0 }
    };
    let (late, twice, damaged) = (sometimes(0.5), sometimes(0.2), sometimes(0.2));
    let late_ms = log_uniform(random, 1.0, 500.0) as u64;
    Channel { late, late_ms, twice, damaged, until_s: span.faults_s }
}

/// The defaults, or in one run of three any value of each parameter within its range.
fn with_parameters<A: Catalogue>(random: &mut ChaCha8Rng, algorithm: A) -> Choice<A> {
    if random.random_bool(2.0 / 3.0) {
        return algorithm.into();
    }
    let info = algorithm.description();
    let parameters = info.parameters.iter().map(|one| (one.name.to_owned(), value(random, one)));
    let named = Named::With { name: info.name.to_owned(), parameters: parameters.collect() };
    named.try_into().unwrap_or_else(|_| algorithm.into())
}

fn value(random: &mut ChaCha8Rng, parameter: &Parameter) -> Given {
    match parameter.kind {
        Kind::Number { min, max, integer, .. } => {
            let number: f64 = random.random_range(min..=max);
            Given::Number(if integer { number.round() } else { number })
        }
        Kind::Option { options, .. } => Given::Text(one_of(random, options).to_owned()),
        Kind::Flag { .. } => Given::Flag(random.random()),
    }
}

pub(super) fn one_of<T: Copy>(random: &mut ChaCha8Rng, all: &[T]) -> T {
    all[random.random_range(0..all.len())]
}

/// Each power of ten as likely as the next.
pub(super) fn log_uniform(random: &mut ChaCha8Rng, least: f64, most: f64) -> f64 {
    least * (most / least).powf(random.random_range(0.0..=1.0))
}
