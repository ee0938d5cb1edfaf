//! Paths with faults in [0, `faults_s`), healthy afterwards.

use super::draw::{log_uniform, one_of};
use forecast::ForecastWindow;
use link::{
    CapacityConfig, DelayConfig, ForecastWord, InFlight, LinkConfig, LossConfig, OutageConfig,
    PathConfig, PathForecast, QueueConfig, UpWindow,
};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// When faults happen, and how fast links are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    /// Faults end here.
    pub faults_s: f64,
    /// Links carry megabytes within minutes.
    pub fast: bool,
}

/// Longest outages and absences leave a part of the span.
const LONGEST_SHARE: f64 = 0.5;

pub(super) fn any_path(random: &mut ChaCha8Rng, at: usize, span: &Span) -> PathConfig {
    let mut path = PathConfig {
        name: format!("path {at}"),
        down: any_link(random, span),
        up: any_link(random, span),
        backup: random.random_bool(0.2),
        present: any_presence(random, span),
        forecast: PathForecast::default(),
        forecast_updates: Vec::new(),
    };
    if random.random_bool(0.3) {
        path.up.outages = path.down.outages.clone();
    }
    path.forecast = any_forecast(random, span);
    path
}

fn any_link(random: &mut ChaCha8Rng, span: &Span) -> LinkConfig {
    LinkConfig {
        capacity: any_capacity(random, span),
        delay: any_delay(random, span),
        queue: any_queue(random),
        loss: any_loss(random, span),
        outages: any_outages(random, span),
    }
}

/// Rising times within the span, the first one 0 and the last one its end: the value there holds for good.
fn times(random: &mut ChaCha8Rng, span: &Span) -> Vec<f64> {
    let count = random.random_range(1..=8);
    let mut times: Vec<f64> =
        (0..count).map(|_| random.random_range(1e-3..1.0) * span.faults_s).collect();
    times.extend([0.0, span.faults_s]);
    times.sort_by(f64::total_cmp);
    times.dedup();
    times
}

fn any_mbps(random: &mut ChaCha8Rng, span: &Span) -> f64 {
    if span.fast { log_uniform(random, 2.0, 100.0) } else { log_uniform(random, 0.1, 50.0) }
}

fn any_capacity(random: &mut ChaCha8Rng, span: &Span) -> CapacityConfig {
    let last = any_mbps(random, span);
    if random.random_bool(0.5) {
        return CapacityConfig::Constant { mbps: last };
    }
    let times_s = times(random, span);
    let mut mbps: Vec<f64> = (1..times_s.len())
        .map(|_| if random.random_bool(0.3) { 0.0 } else { any_mbps(random, span) })
        .collect();
    mbps.push(last);
    CapacityConfig::Steps { times_s, mbps, repeat_s: None }
}

fn any_delay(random: &mut ChaCha8Rng, span: &Span) -> DelayConfig {
    if random.random_bool(0.6) {
        return DelayConfig::Constant { ms: log_uniform(random, 0.5, 300.0) };
    }
    let times_s = times(random, span);
    let ms = times_s.iter().map(|_| log_uniform(random, 0.5, 300.0)).collect();
    DelayConfig::Steps { times_s, ms, repeat_s: None }
}

fn any_queue(random: &mut ChaCha8Rng) -> QueueConfig {
    match random.random_range(0..4) {
        0 => QueueConfig::Infinite,
        1 => QueueConfig::CoDel { target_ms: 5.0, interval_ms: 100.0, packets: 200 },
        2 => {
            let bytes = log_uniform(random, 5e3, 1e6) as u64;
            QueueConfig::DropTail { bytes: Some(bytes), packets: None }
        }
        _ => {
            let packets = log_uniform(random, 3.0, 500.0) as u64;
            QueueConfig::DropTail { bytes: None, packets: Some(packets) }
        }
    }
}

/// A burst model stays for good, at a ratio that every transport withstands.
fn any_loss(random: &mut ChaCha8Rng, span: &Span) -> LossConfig {
    match random.random_range(0..10) {
        0..5 => LossConfig::None,
        5..9 => {
            let times_s = times(random, span);
            let mut ratio: Vec<f64> =
                (1..times_s.len()).map(|_| log_uniform(random, 1e-3, 0.6)).collect();
            ratio.push(0.0);
            LossConfig::Steps { times_s, ratio, repeat_s: None }
        }
        _ => LossConfig::GilbertElliott { p: 0.01, r: 0.3, loss_good: 0.0, loss_bad: 0.5 },
    }
}

/// Rising windows within the span that do not touch.
fn windows(random: &mut ChaCha8Rng, span: &Span, most: usize) -> Vec<(f64, f64)> {
    let count = random.random_range(0..=most);
    let mut windows = Vec::new();
    let mut free_from = 0.0;
    for _ in 0..count {
        let start_s = free_from + random.random_range(0.0..=LONGEST_SHARE) * span.faults_s;
        let end_s = start_s + 1e-3 + random.random_range(0.0..=LONGEST_SHARE) * span.faults_s;
        if end_s >= span.faults_s {
            break;
        }
        windows.push((start_s, end_s));
        free_from = end_s + 1e-3;
    }
    windows
}

fn any_outages(random: &mut ChaCha8Rng, span: &Span) -> Vec<OutageConfig> {
    let windows = windows(random, span, 3).into_iter();
    let in_flight = one_of(random, &[InFlight::Drop, InFlight::Drop, InFlight::Hold]);
    windows.map(|(start_s, end_s)| OutageConfig { start_s, end_s, in_flight }).collect()
}

/// An interface that comes back has another address.
fn any_presence(random: &mut ChaCha8Rng, span: &Span) -> Vec<UpWindow> {
    let absences = if random.random_bool(0.5) { Vec::new() } else { windows(random, span, 3) };
    let mut present = Vec::new();
    let mut start_s = 0.0;
    for (gone_s, back_s) in absences {
        if gone_s > start_s {
            present.push(UpWindow { start_s, end_s: Some(gone_s) });
        }
        start_s = back_s;
    }
    present.push(UpWindow { start_s, end_s: None });
    present
}

/// Nothing, the truth, or outages that never come.
fn any_forecast(random: &mut ChaCha8Rng, span: &Span) -> PathForecast {
    match random.random_range(0..4) {
        0 => PathForecast::Word(ForecastWord::Outages),
        1 => {
            let probability = random.random_range(0.0..=1.0);
            let window = |(start_s, end_s)| ForecastWindow { start_s, end_s, probability };
            PathForecast::Outages(windows(random, span, 3).into_iter().map(window).collect())
        }
        _ => PathForecast::default(),
    }
}
