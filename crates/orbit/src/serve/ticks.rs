//! The moments of a run at which something is looked at.

use super::config::ServeConfig;
use crate::time::Utc;

const NANOS_PER_S: f64 = 1e9;

/// A moment of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tick {
    /// Seconds of the run.
    pub(super) time_s: f64,
    /// The series has a value here.
    pub(super) samples: bool,
    /// A satellite is chosen here.
    pub(super) chooses: bool,
    /// When one is chosen next, if that is known.
    pub(super) next_choice_s: Option<f64>,
}

/// All steps and slot edges of a run in order, as whole nanoseconds so that equal times meet.
pub(super) fn ticks(config: &ServeConfig, start: Utc) -> Vec<Tick> {
    let end = nanos(config.duration_s);
    let steps = multiples(0, nanos(config.step_s), end);
    let edges: Vec<i64> = match config.slot_s {
        None => vec![0],
        Some(slot_s) => {
            let slot = nanos(slot_s);
            let since_edge = (start.nanos() - nanos(config.slot_offset_s)).rem_euclid(slot);
            let first = if since_edge == 0 { slot } else { slot - since_edge };
            // One more than the run has: it ends the last slot.
            std::iter::once(0).chain(multiples(first, slot, end + slot)).collect()
        }
    };
    let mut times: Vec<i64> = steps.clone().chain(edges.iter().copied()).collect();
    times.sort_unstable();
    times.dedup();
    let mut samples = steps.peekable();
    let mut choices = edges.into_iter().peekable();
    let within = times.into_iter().filter(|time| *time < end);
    let tick = |time| Tick {
        time_s: time as f64 / NANOS_PER_S,
        samples: samples.next_if_eq(&time).is_some(),
        chooses: choices.next_if_eq(&time).is_some(),
        next_choice_s: choices.peek().map(|next| *next as f64 / NANOS_PER_S),
    };
    within.map(tick).collect()
}

fn nanos(secs: f64) -> i64 {
    (secs * NANOS_PER_S).round() as i64
}

fn multiples(first: i64, spacing: i64, end: i64) -> impl Iterator<Item = i64> + Clone {
    (0..).map(move |count: i64| first + count * spacing).take_while(move |time| *time < end)
}
