use serde::{Deserialize, Serialize};
use units::{Instant, Window};

/// What an outage does to the packets that the link holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InFlight {
    /// All that arrives, waits, is served or is in flight during the window is lost.
    #[default]
    Drop,
    /// Packets wait; those in flight arrive later by the length of the window, in order.
    Hold,
}

/// Windows without service in order, and how far the link has come through them.
#[derive(Debug)]
pub(crate) struct Outages {
    windows: Vec<(Window, InFlight)>,
    entered: usize,
    next_start: Instant,
    closed_until: Instant,
}

impl Outages {
    /// `windows` are sorted and do not overlap.
    pub(crate) fn new(windows: Vec<(Window, InFlight)>) -> Self {
        let next_start = windows.first().map_or(Instant::FAR_FUTURE, |(first, _)| first.start);
        Self { windows, entered: 0, next_start, closed_until: Instant::ZERO }
    }

    /// When the next window starts.
    pub(crate) fn next_start(&self) -> Instant {
        self.next_start
    }

    /// Whether what arrives at `now` is lost. Windows up to `now` have been entered.
    pub(crate) fn is_closed(&self, now: Instant) -> bool {
        now < self.closed_until
    }

    /// Enters the window at [`Outages::next_start`].
    pub(crate) fn enter(&mut self) -> Option<(Window, InFlight)> {
        let (window, in_flight) = self.windows.get(self.entered).copied()?;
        self.entered += 1;
        self.next_start =
            self.windows.get(self.entered).map_or(Instant::FAR_FUTURE, |(next, _)| next.start);
        if in_flight == InFlight::Drop {
            self.closed_until = window.end;
        }
        Some((window, in_flight))
    }

    /// The windows in which service stands still and the packets stay.
    pub(crate) fn holds(&self) -> Vec<Window> {
        let held = self.windows.iter().filter(|(_, in_flight)| *in_flight == InFlight::Hold);
        held.map(|(window, _)| *window).collect()
    }
}
