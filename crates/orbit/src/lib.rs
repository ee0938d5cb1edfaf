//! Satellites over places: orbits, views, paths through space and who serves whom when.
//!
//! Sans-IO: no file is opened, no clock is read and no global randomness is used; text, time and
//! seeds are arguments.
//!
//! * [`parse`]: a [`Constellation`] from element sets (TLE, OMM); [`built_in`]: one from the
//!   parameters of a filing ([`SHELLS`]). Either is propagated with SGP4.
//! * [`Place`], [`Site`]: look angles; [`View`]: mask and geostationary arc, [`Pass`]es.
//! * [`Grid`]: links between satellites and the shortest route over them.
//! * [`serve`]: which satellite serves a terminal over time, the round-trip times, handovers and
//!   outages, as a [`ServeConfig`] describes.
//! * [`fibre_rtt_ms`]: what the ground would take.

mod catalogue;
mod constellation;
mod error;
mod frames;
mod gso;
mod isl;
mod place;
mod satellite;
mod serve;
mod shells;
mod terrestrial;
mod time;
mod vector;
mod visibility;
mod walker;

pub use catalogue::{Format, parse};
pub use constellation::Constellation;
pub use error::{Fault, OrbitError};
pub use frames::{Earth, gmst_rad};
pub use gso::GsoArc;
pub use isl::{Grid, Limits, Route, Sky};
pub use place::{EARTH_RADIUS_KM, Look, Place, Site};
pub use satellite::{Satellite, Seat, State};
pub use serve::{Handover, Outage, Policy, Reason, Schedule, ServeConfig, ViaConfig, serve, way};
pub use shells::{SHELLS, Shell, shell_names, shells_of};
pub use terrestrial::{FIBRE_INDEX, LIGHT_KM_PER_S, fibre_rtt_ms, vacuum_rtt_ms};
pub use time::Utc;
pub use vector::Vec3;
pub use visibility::{Pass, View};
pub use walker::built_in;

#[cfg(test)]
mod tests;
