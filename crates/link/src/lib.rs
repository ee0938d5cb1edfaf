//! One direction of one path: capacity, queue, propagation delay, random loss and outages.
//!
//! Sans-IO: no clock and no global random source are read here; `now` is an argument of every call
//! and all randomness comes from the seed that the link was built with.
//!
//! A packet given to [`Link::push`] waits in the queue, is served by the capacity, may be lost in
//! the air, travels for the propagation delay, and is handed out by [`Link::pop`].
//! [`Link::next_at`] says when to call `pop` again.
//!
//! A link cannot lie:
//! * The service of a packet starts at max(arrival, end of the previous service) and integrates the
//!   capacity over time. These moments are computed, not observed: a late call delays what it pops,
//!   and the link has lost no capacity.
//! * Rates are exact: the part of a nanosecond that rounding costs one packet is given to the next
//!   one of the same busy period, so the mean rate error is zero.
//! * Capacity 0 is an ordinary value: packets wait, and [`Link::next_at`] is `None` if no capacity
//!   will ever come.
//! * Only the packet in service has a departure time, set when its service starts. So active queue
//!   management decides at dequeue, at the exact moment.
//!
//! [`LinkConfig`] describes a link (the JSON of `python/skyweave/model/config.py`), checks it and
//! builds it; [`build_paths`] does so for the two links of each path. `Link::set_capacity` and its
//! like change a link under its packets.

mod codel;
mod config;
mod counters;
mod delay;
mod error;
mod fifo;
mod link;
mod loss;
mod outage;
mod path;
mod queue;
mod server;
mod streams;

pub use config::{CapacityConfig, DelayConfig, LinkConfig, LossConfig, OutageConfig, QueueConfig};
pub use counters::{Counters, LinkTotals};
pub use error::LinkError;
pub use link::{Dropped, Link, WireSize};
pub use outage::InFlight;
pub use path::{ForecastWord, PathConfig, PathForecast, UpWindow, build_paths, link_names};
pub use streams::stream_seed;
pub use units::Direction;

#[cfg(test)]
mod tests;
