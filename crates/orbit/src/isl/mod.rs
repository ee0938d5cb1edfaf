//! Links between satellites.

mod grid;
mod planes;
mod route;

pub use grid::Grid;
pub use route::{Limits, Route, Sky};
