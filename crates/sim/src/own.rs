use application::Abr;
use scheduler::Scheduler;
use std::collections::BTreeMap;

/// Algorithms of the caller's, each by the place of its connection in the run.
#[derive(Debug, Default)]
pub struct Own {
    /// In place of the schedulers that the configuration names.
    pub schedulers: BTreeMap<usize, OwnScheduler>,
    /// What chooses the qualities of adaptive films, in place of what their workloads name.
    pub abrs: BTreeMap<usize, Box<dyn Abr>>,
}

impl From<BTreeMap<usize, OwnScheduler>> for Own {
    fn from(schedulers: BTreeMap<usize, OwnScheduler>) -> Self {
        Self { schedulers, ..Self::default() }
    }
}

/// A scheduler of the caller's, in place of the one that a connection's configuration names.
#[derive(Debug)]
pub struct OwnScheduler {
    /// What the record calls it.
    pub name: String,
    /// It decides at the end that sends most.
    pub scheduler: Box<dyn Scheduler>,
}

impl From<&scheduler::Choice> for OwnScheduler {
    fn from(choice: &scheduler::Choice) -> Self {
        Self { name: choice.algorithm().name().to_owned(), scheduler: scheduler::build(choice) }
    }
}
