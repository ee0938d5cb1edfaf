//! What is known about the future of a path: one type for schedulers, players and triggers, wherever
//! it comes from (orbits, slots, files, predictors).
//!
//! Sans-IO: `now` is an argument. A [`Forecast`] is what was foreseen at one moment; it is made from
//! a [`ForecastConfig`], the JSON that crosses from Python. A [`Feed`] is what a path's sender knows:
//! the forecast issued last, which an [`Update`] during the run replaces.

mod boundary;
mod config;
mod error;
mod feed;
mod forecast;
mod probability;
mod series;

pub use boundary::{Boundary, BoundaryKind};
pub use config::{
    BoundaryConfig, ForecastConfig, ForecastWindow, SeriesConfig, Update, UpdateConfig, updates,
};
pub use error::ForecastError;
pub use feed::Feed;
pub use forecast::{Forecast, Foreseen};
pub use probability::Probability;
pub use series::{MAX_QUANTILES, MAX_VALUES, Series};

#[cfg(test)]
mod tests;
