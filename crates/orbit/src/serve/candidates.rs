//! The satellites in view and the choice among them.

use super::carrier::Carrier;
use super::config::{Policy, ServeConfig};
use crate::isl::Sky;
use crate::time::Utc;
use crate::visibility::{Pass, View};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// A satellite in view.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) pass: Pass,
    range_km: f64,
    sin_elevation: f64,
}

/// All passes of a run, walked through in time.
pub(super) struct Candidates {
    passes: Vec<Pass>,
    next: usize,
    up: Vec<Pass>,
    policy: Policy,
    rng: ChaCha8Rng,
}

impl Candidates {
    /// `passes` in order of their rise.
    pub(super) fn new(passes: Vec<Pass>, config: &ServeConfig) -> Self {
        let rng = ChaCha8Rng::seed_from_u64(config.seed);
        Self { passes, next: 0, up: Vec::new(), policy: config.policy, rng }
    }

    /// Who is in view now; moments must not go back.
    pub(super) fn at(&mut self, now: Utc, sky: &Sky<'_>, view: &View) -> Vec<Seen> {
        while self.passes.get(self.next).is_some_and(|pass| pass.rise <= now) {
            self.up.push(self.passes[self.next]);
            self.next += 1;
        }
        self.up.retain(|pass| pass.set > now);
        let seen = self.up.iter().filter_map(|pass| {
            let (range_km, sin_elevation) = view.site.sight(sky.ecef_km(pass.satellite)?);
            Some(Seen { pass: *pass, range_km, sin_elevation })
        });
        seen.collect()
    }

    /// The first by the policy that has a way to the other end.
    pub(super) fn pick(&mut self, seen: &[Seen], carrier: &Carrier, sky: &Sky<'_>) -> Option<Pass> {
        let mut seen = seen.to_vec();
        match self.policy {
            Policy::HighestElevation => {
                seen.sort_by(|a, b| b.sin_elevation.total_cmp(&a.sin_elevation));
            }
            Policy::LongestVisibility => seen.sort_by_key(|seen| std::cmp::Reverse(seen.pass.set)),
            Policy::Random => seen.shuffle(&mut self.rng),
            Policy::ShortestPath => {
                let first: Vec<_> =
                    seen.iter().map(|seen| (seen.pass.satellite, seen.range_km)).collect();
                let nearest = carrier.nearest(sky, &first)?;
                seen.retain(|seen| seen.pass.satellite == nearest);
            }
        }
        let carries = |seen: &Seen| carrier.onward_km(sky, seen.pass.satellite).is_some();
        seen.into_iter().find(carries).map(|seen| seen.pass)
    }
}
