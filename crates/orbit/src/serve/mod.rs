//! Who serves a terminal, when, and how far away the other end is through it.

mod candidates;
mod carrier;
mod config;
mod fleet;
mod ticks;
mod timeline;

pub use config::{Policy, ServeConfig, ViaConfig};
pub use timeline::{Handover, Outage, Reason, Schedule};

use crate::constellation::Constellation;
use crate::error::OrbitError;
use crate::isl::Sky;
use crate::terrestrial::vacuum_rtt_ms;
use crate::time::Utc;
use crate::visibility::{Pass, View};
use candidates::{Candidates, Seen};
use carrier::Carrier;
use fleet::Fleet;
use ticks::{Tick, ticks};
use timeline::Timeline;

/// Seconds of geometry beyond the end that show how long a satellite would still have been seen.
const FORESIGHT_S: f64 = 1800.0;

/// Follows a terminal through a run.
///
/// With slots, a satellite is chosen at each edge (and at second 0) among those that can serve from
/// this edge to the next; if there is none, among those that can serve now. Without slots the
/// choice stands until the satellite is lost. Outage edges lie on steps and slot edges.
///
/// # Errors
/// [`OrbitError`] for a description that makes no sense, and if no element set is usable.
pub fn serve(constellation: &Constellation, config: &ServeConfig) -> Result<Schedule, OrbitError> {
    config.check()?;
    let start = Utc::from_unix_s(config.start_unix_s);
    let end = start.plus_s(config.duration_s * config.acceleration);
    let view = View::new(&config.terminal, config.min_elevation_deg, config.gso_avoidance_deg)?;
    let carrier = Carrier::new(&config.via, constellation, start)?;
    let fleet = Fleet::sort_out(constellation, config, (start, end))?;
    let span = (start, end.plus_s(FORESIGHT_S));
    let passes = constellation.passes_of(&view, span, |index| fleet.usable[index]);
    let mut run = Run {
        config,
        carrier,
        candidates: Candidates::new(passes, config),
        sky: Sky::new(constellation, fleet.usable.clone(), start),
        view,
        start,
        serving: Err(Reason::NoSatellite),
    };
    let mut timeline = Timeline::new(config, &fleet);
    for tick in ticks(config, start) {
        run.step(&tick, &mut timeline);
    }
    Ok(timeline.finish())
}

/// The satellites between a terminal and the other end at a second of a run, if `first` serves it;
/// empty where `first` has no way on. Links are laid as they are for [`serve`].
///
/// # Errors
/// As [`serve`].
pub fn way(
    constellation: &Constellation,
    config: &ServeConfig,
    first: usize,
    time_s: f64,
) -> Result<Vec<usize>, OrbitError> {
    config.check()?;
    let start = Utc::from_unix_s(config.start_unix_s);
    let end = start.plus_s(config.duration_s * config.acceleration);
    let carrier = Carrier::new(&config.via, constellation, start)?;
    let fleet = Fleet::sort_out(constellation, config, (start, end))?;
    let sky = Sky::new(constellation, fleet.usable, start.plus_s(time_s * config.acceleration));
    if first >= constellation.satellites().len() {
        return Ok(Vec::new());
    }
    Ok(carrier.way(&sky, first).unwrap_or_default())
}

struct Run<'a> {
    config: &'a ServeConfig,
    carrier: Carrier,
    candidates: Candidates,
    sky: Sky<'a>,
    view: View,
    start: Utc,
    /// The pass in use, or why there is none.
    serving: Result<Pass, Reason>,
}

impl Run<'_> {
    fn step(&mut self, tick: &Tick, timeline: &mut Timeline) {
        let now = self.geometry(tick.time_s);
        self.sky.turn_to(now);
        let mut state = self.state(now);
        let free_and_lost = self.config.slot_s.is_none() && state.is_err();
        if tick.chooses || free_and_lost {
            let until = tick.next_choice_s.map(|time_s| self.geometry(time_s));
            state = self.choose(now, until);
            timeline.serve(tick.time_s, self.serving.ok().map(|pass| pass.satellite));
        }
        timeline.note(tick, state.map(|km| vacuum_rtt_ms(km) + self.config.extra_rtt_ms));
    }

    /// Where the satellites are at a second of the run.
    fn geometry(&self, time_s: f64) -> Utc {
        self.start.plus_s(time_s * self.config.acceleration)
    }

    /// The length of the way through the serving satellite, or why there is none.
    fn state(&self, now: Utc) -> Result<f64, Reason> {
        let serving = self.serving?;
        if serving.set <= now {
            return Err(Reason::NoSatellite);
        }
        let position = self.sky.ecef_km(serving.satellite).ok_or(Reason::NoSatellite)?;
        let (up_km, _) = self.view.site.sight(position);
        let onward = self.carrier.onward_km(&self.sky, serving.satellite);
        onward.map(|km| up_km + km).ok_or(self.carrier.reason())
    }

    fn choose(&mut self, now: Utc, until: Option<Utc>) -> Result<f64, Reason> {
        let visible = self.candidates.at(now, &self.sky, &self.view);
        if visible.is_empty() {
            self.serving = Err(Reason::NoSatellite);
            return Err(Reason::NoSatellite);
        }
        let lasts = |seen: &Seen| until.is_none_or(|until| seen.pass.set >= until);
        let (mut lasting, mut brief): (Vec<_>, Vec<_>) = visible.into_iter().partition(lasts);
        // What is behind the satellite must last too; that is asked of one pick after the other,
        // since routes take long to find.
        let mut picked = self.candidates.pick(&lasting, &self.carrier, &self.sky);
        while let (Some(pick), Some(until)) = (picked, until) {
            self.sky.turn_to(until);
            let carries = self.carrier.onward_km(&self.sky, pick.satellite).is_some();
            self.sky.turn_to(now);
            if carries {
                break;
            }
            brief.extend(lasting.extract_if(.., |seen| seen.pass.satellite == pick.satellite));
            picked = self.candidates.pick(&lasting, &self.carrier, &self.sky);
        }
        let picked = picked.or_else(|| self.candidates.pick(&brief, &self.carrier, &self.sky));
        self.serving = picked.ok_or(self.carrier.reason());
        self.state(now)
    }
}
