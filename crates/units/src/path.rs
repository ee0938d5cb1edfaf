use serde::{Deserialize, Serialize};
use std::fmt;

/// Which path of a connection: 0 is the first one, the others follow in the order of the study file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PathId(pub u8);

impl PathId {
    /// The path's place in a slice of paths.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for PathId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "path {}", self.0)
    }
}
