//! A sender that makes less while nothing may get through: the encoder of a live upload that lowers its
//! rate before a foreseen handover, and until what waited has left.

use crate::error::{WorkloadError, within};
use crate::streams::Streams;
use forecast::Probability;
use serde::{Deserialize, Serialize};
use units::{Duration, Instant};

/// Outages that are less likely than this are not heeded.
const LEAST_PROBABILITY: f64 = 0.5;

/// When a sender makes less, and how much.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ease {
    /// Share of the rate that is left, 0 to 1.
    pub share: f64,
    /// So long before a foreseen outage.
    #[serde(default)]
    pub ahead_s: f64,
    /// So long after it.
    #[serde(default)]
    pub after_s: f64,
}

impl Ease {
    /// # Errors
    /// A number out of its range.
    pub fn check(&self) -> Result<(), WorkloadError> {
        within("ease.share", self.share, (0.01, 1.0))?;
        within("ease.ahead_s", self.ahead_s, (0.0, 3600.0))?;
        within("ease.after_s", self.after_s, (0.0, 3600.0))
    }

    /// Whether less is made now: every path has a foreseen outage about this time. A path that none is
    /// foreseen of carries on.
    pub(crate) fn is_due(&self, now: Instant, streams: &dyn Streams) -> bool {
        let Some(least) = Probability::new(LEAST_PROBABILITY) else { return false };
        let [ahead, after] = [self.ahead_s, self.after_s].map(Duration::from_secs_f64);
        let paths = streams.paths();
        let is_about = |outage: forecast::Foreseen| {
            outage.window.start.saturating_sub(ahead) <= now && now < outage.window.end + after
        };
        !paths.is_empty()
            && paths.iter().all(|status| {
                let known = streams.forecast(status.path);
                known.is_some_and(|known| known.outages(least).into_iter().any(is_about))
            })
    }
}
