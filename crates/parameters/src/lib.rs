//! Named parameters of algorithms: what each means, its unit, default and range.
//!
//! Sans-IO, and nothing but data: an algorithm describes itself in an [`Info`]; a study file names it
//! ([`Named`]), [`Info::resolve`] checks what was given and fills in the rest, and the algorithm is
//! built from the [`Values`]. The same table is what `skyweave algorithms` prints.

mod catalogue;
mod choice;
mod info;
mod named;
mod values;

pub use choice::{Catalogue, Choice, ChoiceError, find};
pub use info::{Info, Kind, Parameter, flag, integer, number, option};
pub use named::{Given, Named};
pub use values::{ParameterError, Values};

#[cfg(test)]
mod tests;
