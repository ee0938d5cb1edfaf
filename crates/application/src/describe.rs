use crate::application::Application;
use crate::error::WorkloadError;
use crate::table::Column;
use std::fmt::Debug;
use units::Direction;

/// What a kind of workload says of itself.
pub trait Describe: Debug {
    /// The way that most of its data go: the record's samples are those of its sender.
    fn direction(&self) -> Direction;

    /// It ends this long after its start, finished or not.
    fn duration_s(&self) -> Option<f64>;

    /// Columns of its table in the record; none: it has no table.
    fn columns(&self) -> &'static [Column];

    /// The client's end.
    fn client(&self) -> Box<dyn Application>;

    /// The server's end.
    fn server(&self) -> Box<dyn Application>;

    /// # Errors
    /// Values that make no sense.
    fn check(&self) -> Result<(), WorkloadError>;
}
