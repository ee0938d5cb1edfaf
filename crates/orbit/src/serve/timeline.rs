//! What came of a run.

use super::config::ServeConfig;
use super::fleet::Fleet;
use super::ticks::Tick;

/// Why nothing gets through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// No satellite serves the terminal.
    NoSatellite,
    /// Satellites are in view, but no gateway sees one of them.
    NoGateway,
    /// Satellites are in view, but none has a route to the far end.
    NoRoute,
    /// The gap after a handover.
    Handover,
}

impl Reason {
    /// As Python knows it.
    pub fn name(self) -> &'static str {
        match self {
            Self::NoSatellite => "no-satellite",
            Self::NoGateway => "no-gateway",
            Self::NoRoute => "no-route",
            Self::Handover => "handover",
        }
    }
}

/// One satellite followed another, at once or after an outage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Handover {
    /// When the new one began.
    pub time_s: f64,
    /// The one that served last.
    pub before: usize,
    /// The new one.
    pub after: usize,
}

/// Nothing gets through in [start, end).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outage {
    /// First moment.
    pub start_s: f64,
    /// It is over, or the run is.
    pub end_s: f64,
    /// Why.
    pub reason: Reason,
}

/// A run as it went; satellites are places in their constellation.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// Times of the series.
    pub times_s: Vec<f64>,
    /// Round-trip times, NaN where there is no path. Within a gap it is that of the new satellite.
    pub rtt_ms: Vec<f64>,
    /// With slots: second 0 and each slot edge. Without: when the satellite changed.
    pub serving_times_s: Vec<f64>,
    /// The satellite from then on.
    pub serving: Vec<Option<usize>>,
    /// In order.
    pub handovers: Vec<Handover>,
    /// In order, without overlap.
    pub outages: Vec<Outage>,
    /// Satellites whose elements are older than the limit for a warning.
    pub stale: usize,
    /// Satellites left out because their elements are too old.
    pub too_old: usize,
    /// Satellites left out because they have decayed.
    pub decayed: usize,
}

/// Writes a schedule step by step.
pub(super) struct Timeline {
    schedule: Schedule,
    last: Option<usize>,
    slots: bool,
    down: Option<(f64, Reason)>,
    gap_s: f64,
    duration_s: f64,
}

impl Timeline {
    pub(super) fn new(config: &ServeConfig, fleet: &Fleet) -> Self {
        let schedule = Schedule {
            times_s: Vec::new(),
            rtt_ms: Vec::new(),
            serving_times_s: Vec::new(),
            serving: Vec::new(),
            handovers: Vec::new(),
            outages: Vec::new(),
            stale: fleet.stale,
            too_old: fleet.too_old,
            decayed: fleet.decayed,
        };
        Self {
            schedule,
            last: None,
            slots: config.slot_s.is_some(),
            down: None,
            gap_s: config.gap_s,
            duration_s: config.duration_s,
        }
    }

    /// A satellite was chosen, or none.
    pub(super) fn serve(&mut self, time_s: f64, satellite: Option<usize>) {
        let schedule = &mut self.schedule;
        if self.slots || schedule.serving.last() != Some(&satellite) {
            schedule.serving_times_s.push(time_s);
            schedule.serving.push(satellite);
        }
        let Some(after) = satellite else { return };
        match self.last.replace(after) {
            Some(before) if before != after => {
                schedule.handovers.push(Handover { time_s, before, after });
            }
            _ => {}
        }
    }

    /// What is true from this moment to the next.
    pub(super) fn note(&mut self, tick: &Tick, rtt_ms: Result<f64, Reason>) {
        if tick.samples {
            self.schedule.times_s.push(tick.time_s);
            self.schedule.rtt_ms.push(rtt_ms.unwrap_or(f64::NAN));
        }
        let reason = rtt_ms.err();
        if self.down.map(|(_, reason)| reason) != reason {
            self.close(tick.time_s);
            self.down = reason.map(|reason| (tick.time_s, reason));
        }
    }

    fn close(&mut self, end_s: f64) {
        if let Some((start_s, reason)) = self.down.take() {
            self.schedule.outages.push(Outage { start_s, end_s, reason });
        }
    }

    pub(super) fn finish(mut self) -> Schedule {
        self.close(self.duration_s);
        if self.gap_s > 0.0 {
            self.add_gaps();
        }
        self.schedule
    }

    /// Puts the gaps after handovers where nothing else keeps packets from getting through.
    fn add_gaps(&mut self) {
        let handovers = &self.schedule.handovers;
        let ends = handovers.iter().skip(1).map(|next| next.time_s);
        let ends = ends.chain(std::iter::once(self.duration_s));
        let mut gaps = Vec::new();
        let mut others = self.schedule.outages.iter().peekable();
        for (handover, limit_s) in handovers.iter().zip(ends) {
            let mut start_s = handover.time_s;
            let end_s = (start_s + self.gap_s).min(limit_s);
            while others.next_if(|other| other.end_s <= start_s).is_some() {}
            let mut within = others.clone().take_while(|other| other.start_s < end_s).peekable();
            while start_s < end_s {
                let next = within.next();
                let stop_s = next.map_or(end_s, |other| other.start_s.max(start_s));
                if stop_s > start_s {
                    gaps.push(Outage { start_s, end_s: stop_s, reason: Reason::Handover });
                }
                start_s = next.map_or(end_s, |other| other.end_s);
            }
        }
        self.schedule.outages.append(&mut gaps);
        self.schedule.outages.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
    }
}
