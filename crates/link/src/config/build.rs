//! From the description to a link: every number is checked, and floating-point seconds, milliseconds
//! and megabits become nanoseconds and bits here, once.

use super::{
    CapacityConfig, DelayConfig, InFlight, LinkConfig, LossConfig, OutageConfig, QueueConfig,
};
use crate::codel::CoDel;
use crate::delay::Delay;
use crate::loss::{Chance, Loss, LossModel};
use crate::outage::Outages;
use crate::queue::Queue;
use crate::server::{Capacity, Server};
use crate::{Link, LinkError, WireSize};
use trace::{Fault, Opportunities, Steps, TraceError, duration_from_millis, instant_from_secs};
use units::{Bitrate, Duration, Instant, Window, union};

/// One terabit per second: beyond it a packet takes less than the nanosecond that times count in.
const MAX_MBPS: f64 = 1e6;

/// The link as described; in the windows `away`, apart and in order, it drops everything.
pub(crate) fn build<P: WireSize>(
    config: &LinkConfig,
    away: &[Window],
    seed: u64,
) -> Result<Link<P>, LinkError> {
    let outages = Outages::new(with_absences(outages(&config.outages)?, away));
    let server = Server::new(capacity(&config.capacity)?, outages.holds());
    let delay = delay(&config.delay)?;
    let loss = Loss::new(loss(&config.loss)?, seed);
    Ok(Link::new(queue(&config.queue)?, server, delay, loss, outages))
}

pub(crate) fn capacity(config: &CapacityConfig) -> Result<Capacity, LinkError> {
    match config {
        CapacityConfig::Constant { mbps } => Ok(Capacity::Constant(rate("capacity.mbps", *mbps)?)),
        CapacityConfig::Steps { times_s, mbps, repeat_s } => {
            let rates = each(mbps, |mbps| rate("capacity.mbps", mbps))?;
            let series = Series { field: "capacity", times_s, repeat_s: *repeat_s };
            Ok(Capacity::from_steps(series.steps(rates)?))
        }
        CapacityConfig::Opportunities { times_ms } => {
            let opportunities = Opportunities::new(times_ms.clone())
                .map_err(|fault| LinkError::Series { field: "capacity.times_ms", fault })?;
            Ok(Capacity::from_opportunities(opportunities))
        }
    }
}

pub(crate) fn delay(config: &DelayConfig) -> Result<Delay, LinkError> {
    match config {
        DelayConfig::Constant { ms } => Ok(Delay::Constant(millis("delay.ms", *ms)?)),
        DelayConfig::Steps { times_s, ms, repeat_s } => {
            let delays = each(ms, |ms| millis("delay.ms", ms))?;
            let series = Series { field: "delay", times_s, repeat_s: *repeat_s };
            Ok(Delay::Steps(series.steps(delays)?.into_cursor()))
        }
    }
}

pub(crate) fn queue<P>(config: &QueueConfig) -> Result<Queue<P>, LinkError> {
    match config {
        QueueConfig::DropTail { bytes: None, packets: None } => Err(LinkError::NoBound),
        QueueConfig::DropTail { bytes, packets } => {
            let bytes = bytes.map(|bytes| positive("queue.bytes", bytes)).transpose()?;
            let packets = packets.map(|packets| positive("queue.packets", packets)).transpose()?;
            Ok(Queue::new(bytes, packets, None))
        }
        QueueConfig::CoDel { target_ms, interval_ms, packets } => {
            let target = millis("queue.target_ms", *target_ms)?;
            let interval = millis("queue.interval_ms", *interval_ms)?;
            if interval.is_zero() {
                let (field, allowed) = ("queue.interval_ms", "a number above 0");
                return Err(LinkError::OutOfRange { field, value: *interval_ms, allowed });
            }
            let packets = positive("queue.packets", *packets)?;
            Ok(Queue::new(None, Some(packets), Some(CoDel::new(target, interval))))
        }
        QueueConfig::Infinite => Ok(Queue::new(None, None, None)),
    }
}

pub(crate) fn loss(config: &LossConfig) -> Result<LossModel, LinkError> {
    match config {
        LossConfig::None => Ok(LossModel::None),
        LossConfig::Bernoulli { ratio } => {
            Ok(LossModel::Bernoulli(probability("loss.ratio", *ratio)?))
        }
        LossConfig::GilbertElliott { p, r, loss_good, loss_bad } => Ok(LossModel::GilbertElliott {
            to_bad: probability("loss.p", *p)?,
            to_good: probability("loss.r", *r)?,
            loss_good: probability("loss.loss_good", *loss_good)?,
            loss_bad: probability("loss.loss_bad", *loss_bad)?,
            bad: false,
        }),
        LossConfig::Steps { times_s, ratio, repeat_s } => {
            let chances = each(ratio, |ratio| probability("loss.ratio", ratio))?;
            let series = Series { field: "loss", times_s, repeat_s: *repeat_s };
            Ok(LossModel::Steps(series.steps(chances)?.into_cursor()))
        }
    }
}

pub(crate) fn outages(config: &[OutageConfig]) -> Result<Vec<(Window, InFlight)>, LinkError> {
    let mut windows: Vec<(Window, InFlight)> = Vec::with_capacity(config.len());
    for (index, outage) in config.iter().enumerate() {
        let start = seconds("outages.start_s", outage.start_s)?;
        let end = seconds("outages.end_s", outage.end_s)?;
        let Some(window) = Window::new(start, end) else {
            let (start_s, end_s) = (outage.start_s, outage.end_s);
            return Err(LinkError::EmptyOutage { index, start_s, end_s });
        };
        if windows.last().is_some_and(|(previous, _)| start < previous.end) {
            return Err(LinkError::OverlappingOutages { index, start_s: outage.start_s });
        }
        windows.push((window, outage.in_flight));
    }
    Ok(windows)
}

/// Outages and absences as one list; where they meet, what is in flight is dropped.
fn with_absences(outages: Vec<(Window, InFlight)>, away: &[Window]) -> Vec<(Window, InFlight)> {
    if away.is_empty() {
        return outages; // those that touch stay apart: one may hold and the next one drop
    }
    let away = away.iter().map(|window| (*window, InFlight::Drop));
    union(outages.into_iter().chain(away), |a, b| if a == b { a } else { InFlight::Drop })
}

/// The parts of a description that turn values into [`Steps`].
struct Series<'a> {
    field: &'static str,
    times_s: &'a [f64],
    repeat_s: Option<f64>,
}

impl Series<'_> {
    fn steps<T: Copy>(&self, values: Vec<T>) -> Result<Steps<T>, LinkError> {
        let at = |index, fault| self.refuse(TraceError::Entry { index, fault });
        let mut times = Vec::with_capacity(self.times_s.len());
        for (index, &time_s) in self.times_s.iter().enumerate() {
            times.push(instant_from_secs(time_s).map_err(|fault| at(index, fault))?);
        }
        let last = self.times_s.len().saturating_sub(1);
        let repeat = self.repeat_s.map(instant_from_secs).transpose();
        let period = repeat.map_err(|fault: Fault| at(last, fault))?;
        let period = period.map(|period| period - Instant::ZERO);
        Steps::new(times, values, period).map_err(|fault| self.refuse(fault))
    }

    fn refuse(&self, fault: TraceError) -> LinkError {
        LinkError::Series { field: self.field, fault }
    }
}

fn each<T>(
    values: &[f64],
    convert: impl Fn(f64) -> Result<T, LinkError>,
) -> Result<Vec<T>, LinkError> {
    values.iter().map(|&value| convert(value)).collect()
}

fn rate(field: &'static str, mbps: f64) -> Result<Bitrate, LinkError> {
    if (0.0..=MAX_MBPS).contains(&mbps) {
        return Ok(Bitrate::from_mbps(mbps));
    }
    let allowed = "a number from 0 to 1000000 (megabits per second)";
    Err(LinkError::OutOfRange { field, value: mbps, allowed })
}

fn millis(field: &'static str, ms: f64) -> Result<Duration, LinkError> {
    let allowed = "a finite number of at least 0 (milliseconds)";
    duration_from_millis(ms).map_err(|_| LinkError::OutOfRange { field, value: ms, allowed })
}

pub(crate) fn seconds(field: &'static str, secs: f64) -> Result<Instant, LinkError> {
    let allowed = "a finite number of at least 0 (seconds)";
    instant_from_secs(secs).map_err(|_| LinkError::OutOfRange { field, value: secs, allowed })
}

fn probability(field: &'static str, ratio: f64) -> Result<Chance, LinkError> {
    if (0.0..=1.0).contains(&ratio) {
        return Ok(Chance::new(ratio));
    }
    Err(LinkError::OutOfRange { field, value: ratio, allowed: "a probability from 0 to 1" })
}

fn positive(field: &'static str, count: u64) -> Result<u64, LinkError> {
    if count > 0 {
        return Ok(count);
    }
    Err(LinkError::OutOfRange { field, value: 0.0, allowed: "a whole number above 0" })
}
