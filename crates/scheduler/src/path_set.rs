use units::PathId;

/// A set of at most 64 paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathSet(u64);

impl PathSet {
    /// The empty set.
    pub const EMPTY: Self = Self(0);

    /// This set and `path`.
    #[must_use]
    pub const fn with(self, path: PathId) -> Self {
        Self(self.0 | 1 << path.0)
    }

    /// This set without `path`.
    #[must_use]
    pub const fn without(self, path: PathId) -> Self {
        Self(self.0 & !(1 << path.0))
    }

    /// The paths in either set.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The paths in one of the sets alone.
    #[must_use]
    pub const fn symmetric_difference(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }

    /// The paths in both sets.
    #[must_use]
    pub const fn common(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether `path` is in the set.
    pub const fn contains(self, path: PathId) -> bool {
        self.0 & (1 << path.0) != 0
    }

    /// The paths, lowest id first.
    pub fn iter(self) -> impl Iterator<Item = PathId> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let lowest = (left != 0).then(|| PathId(left.trailing_zeros() as u8));
            left &= left.wrapping_sub(1);
            lowest
        })
    }
}
