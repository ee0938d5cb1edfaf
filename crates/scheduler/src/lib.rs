//! Packet schedulers: which path carries the next segment.
//!
//! Sans-IO: a scheduler sees a [`ConnectionView`] and answers with a [`Decision`]; time comes with
//! the view. One file per algorithm; [`Algorithm`] names every implementation and builds it.
//! See CONTRIBUTING.md, "Adding a scheduler".

mod alcs;
mod algorithm;
mod backup;
mod blest;
mod budget;
mod daps;
mod decision;
mod default_pick;
mod delivery;
mod dispatch;
mod ecf;
mod factory;
mod linucb;
mod minrtt;
mod path_set;
mod peekaboo;
mod redundant;
mod roundrobin;
mod scheduler;
mod stms;
mod sttf;
mod upstream;
mod view;
mod weave;

pub use algorithm::{Algorithm, Choice, build};
pub use budget::Budget;
pub use decision::{Decision, Gap, Rescue};
pub use delivery::Delivery;
pub use dispatch::{Dispatch, Order, able};
pub use factory::Factory;
pub use path_set::PathSet;
pub use scheduler::{Capabilities, PathEvent, Scheduler};
pub use view::{ConnectionView, PathView};

#[cfg(test)]
mod tests;
