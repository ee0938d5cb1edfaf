//! Paths that rest before and during foreseen outages.

use super::{Path, Paths};
use scheduler::Dispatch;
use units::Instant;

/// What a look at the forecasts found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Rest {
    /// Paths whose outage has begun.
    pub hit: Vec<u32>,
    /// Paths that rest from now on.
    pub resting: Vec<u32>,
}

impl Paths {
    /// Puts paths to rest, and wakes them.
    pub fn update_rest(&mut self, now: Instant, packet_bytes: u64, dispatch: &Dispatch) -> Rest {
        let mut rest = Rest::default();
        let foretold = |path: &Path| path.feed.outage().is_some() || path.rest_until.is_some();
        if !self.values().any(foretold) {
            return rest;
        }
        for path in self.values_mut() {
            path.feed.advance(now);
            let outage = path.feed.outage().map(|outage| outage.window);
            let under_way = outage.filter(|outage| outage.start <= now);
            let until = match (outage, under_way) {
                (_, Some(outage)) => Some(outage.end),
                (Some(_), None) => dispatch.rests_until(now, &path.view(now, packet_bytes)),
                (None, None) => None,
            };
            let was = std::mem::replace(&mut path.rest_until, until);
            if under_way.is_some() && !path.outage_noted {
                rest.hit.push(path.id);
            }
            path.outage_noted = under_way.is_some();
            if was.is_none() && until.is_some() {
                rest.resting.push(path.id);
            }
            if was.is_some() && until.is_none() && path.is_open() {
                path.space.last_eliciting_at = now;
                path.silent_since = None;
                path.probes = 1; // shows at once whether it is back, and what was lost
            }
        }
        rest
    }
}
