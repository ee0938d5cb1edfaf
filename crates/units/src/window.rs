use crate::{Duration, Instant};

/// The time from `start` up to `end`, which is no longer part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Window {
    /// First moment in it.
    pub start: Instant,
    /// First moment after it.
    pub end: Instant,
}

impl Window {
    /// From `start` up to `end`; `None` when that is empty or runs backwards.
    pub fn new(start: Instant, end: Instant) -> Option<Self> {
        (start < end).then_some(Self { start, end })
    }

    /// Whether `at` lies in it.
    pub fn contains(self, at: Instant) -> bool {
        self.start <= at && at < self.end
    }

    /// How long it lasts.
    pub fn length(self) -> Duration {
        self.end - self.start
    }

    /// What is left of it within another one.
    pub fn within(self, other: Self) -> Option<Self> {
        Self::new(self.start.max(other.start), self.end.min(other.end))
    }

    /// All moments that lie in any of the windows: in order of time, none touches the next.
    pub fn union(windows: impl IntoIterator<Item = Self>) -> Vec<Self> {
        let bare = union(windows.into_iter().map(|window| (window, ())), |(), ()| ());
        bare.into_iter().map(|(window, ())| window).collect()
    }
}

/// The one way in which windows are merged: those that overlap or touch become one, in order of
/// time, and `join` makes one value of theirs (the earlier one's first).
pub fn union<T>(
    windows: impl IntoIterator<Item = (Window, T)>,
    join: impl Fn(T, T) -> T,
) -> Vec<(Window, T)> {
    let mut sorted: Vec<(Window, T)> = windows.into_iter().collect();
    sorted.sort_by_key(|(window, _)| window.start);
    let mut merged: Vec<(Window, T)> = Vec::with_capacity(sorted.len());
    for (mut window, mut value) in sorted {
        if let Some((last, earlier)) = merged.pop_if(|(last, _)| window.start <= last.end) {
            window = Window { start: last.start, end: last.end.max(window.end) };
            value = join(earlier, value);
        }
        merged.push((window, value));
    }
    merged
}
