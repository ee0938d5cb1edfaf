//! Random runs with faults: every transport, scheduler and congestion control, over paths that come and
//! go, lose, reorder, repeat and corrupt until a known moment, and are healthy from then on.
//!
//! A [`FaultRun`] follows from its seed and size alone. [`FaultRun::play`] runs it and says whether every
//! byte arrived once and in its place; [`Tally`] adds verdicts up, in any order. `make faults` runs them
//! (`examples/faults.rs`).

mod channel;
mod content;
mod draw;
mod paths;
mod tally;
#[cfg(test)]
mod tests;

pub use channel::Channel;
pub(crate) use channel::InChannel;
pub(crate) use content::Contents;
pub use content::Transfer;
pub use tally::Tally;

use crate::run::World;
use crate::{Outcome, RunConfig};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;

/// How much a run transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// At most 200 kB, faults for at most half a minute.
    Short,
    /// 1 to 20 MB, faults for at most five minutes.
    Long,
}

/// One run with faults.
#[derive(Clone, Debug)]
pub struct FaultRun {
    /// Everything else follows from it and the size.
    pub seed: u64,
    /// Paths and the connection; `stop_after_s` is the moment at which an unfinished run counts as hung.
    pub config: RunConfig,
    /// What happens to packets beyond what links do.
    pub channel: Channel,
    /// What is transferred.
    pub transfer: Transfer,
}

/// What became of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every byte arrived once and in its place.
    Finished,
    /// Something else arrived: what.
    Lost(String),
    /// The virtual deadline passed before everything had arrived: what had.
    Hung(String),
    /// The code panicked, or refused the run: its words.
    Broken(String),
}

impl FaultRun {
    /// The run of a seed.
    pub fn new(seed: u64, size: Size) -> Self {
        draw::run(seed, size)
    }

    /// Plays it: the verdict, and a number that two runs share only if all their totals agree.
    pub fn play(&self) -> (Verdict, u64) {
        let played = catch_unwind(AssertUnwindSafe(|| self.outcome()));
        let (verdict, words) = match played {
            Ok(Ok((verdict, outcome))) => (verdict, format!("{:?}", outcome.totals)),
            Ok(Err(error)) => (Verdict::Broken(error.to_string()), String::new()),
            Err(panic) => (Verdict::Broken(message(&*panic)), String::new()),
        };
        let digest = tally::hash(&format!("{} {verdict:?} {words}", self.seed));
        (verdict, digest)
    }

    /// Plays it for a closer look.
    ///
    /// # Errors
    /// [`crate::SimError`], if the run was drawn wrongly.
    pub fn outcome(&self) -> Result<(Verdict, Outcome), crate::SimError> {
        let mut world = World::new(&self.config, Default::default())?;
        let contents = Contents::new(&self.transfer);
        world.disturb(InChannel::new(&self.channel, self.seed), &contents);
        let outcome = world.run(&AtomicBool::new(false));
        Ok((contents.verdict(), outcome))
    }
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".into())
}
