use scheduler::Scheduler;

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
