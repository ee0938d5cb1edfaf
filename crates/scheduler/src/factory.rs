use crate::{Choice, Scheduler, build};
use std::fmt;
use std::sync::Arc;

/// What builds the schedulers of an end: a fresh one for each of its connections. Made from a
/// [`Choice`], or from a function of the caller's for a scheduler that this crate does not know.
#[derive(Clone)]
pub struct Factory(Arc<dyn Fn() -> Box<dyn Scheduler> + Send + Sync>);

impl Factory {
    /// Calls `build` for each connection.
    pub fn new(build: impl Fn() -> Box<dyn Scheduler> + Send + Sync + 'static) -> Self {
        Self(Arc::new(build))
    }

    /// A scheduler for one more connection.
    pub fn build(&self) -> Box<dyn Scheduler> {
        self.0()
    }
}

impl From<Choice> for Factory {
    fn from(choice: Choice) -> Self {
        Self::new(move || build(&choice))
    }
}

impl fmt::Debug for Factory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Factory").field(&self.build()).finish()
    }
}
