use serde::{Deserialize, Serialize};

/// Which way data go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Server to client.
    Down,
    /// Client to server.
    Up,
}

impl Direction {
    /// Where the link with this number leads: links are counted down, up, path by path.
    pub fn of_link(index: usize) -> Self {
        if index.is_multiple_of(2) { Self::Down } else { Self::Up }
    }

    /// Number of the link of a path in this direction.
    pub fn link_index(self, path: usize) -> usize {
        2 * path + usize::from(self == Self::Up)
    }

    /// The way back.
    pub fn opposite(self) -> Self {
        match self {
            Self::Down => Self::Up,
            Self::Up => Self::Down,
        }
    }

    /// "down" or "up".
    pub fn name(self) -> &'static str {
        match self {
            Self::Down => "down",
            Self::Up => "up",
        }
    }
}
