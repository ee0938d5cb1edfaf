use crate::InFlight;
use units::Instant;

/// No service in [start, end).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) start: Instant,
    pub(crate) end: Instant,
    pub(crate) in_flight: InFlight,
}

/// Outage windows in order, and how far the link has come through them.
#[derive(Debug)]
pub(crate) struct Outages {
    windows: Vec<Window>,
    entered: usize,
    next_start: Instant,
    closed_until: Instant,
}

impl Outages {
    /// `windows` are sorted and do not overlap.
    pub(crate) fn new(windows: Vec<Window>) -> Self {
        let next_start = windows.first().map_or(Instant::FAR_FUTURE, |window| window.start);
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
    pub(crate) fn enter(&mut self) -> Option<Window> {
        let window = self.windows.get(self.entered).copied()?;
        self.entered += 1;
        self.next_start =
            self.windows.get(self.entered).map_or(Instant::FAR_FUTURE, |next| next.start);
        if window.in_flight == InFlight::Drop {
            self.closed_until = window.end;
        }
        Some(window)
    }

    /// The windows in which service stands still and the packets stay.
    pub(crate) fn holds(&self) -> Vec<(Instant, Instant)> {
        let held = |window: &&Window| window.in_flight == InFlight::Hold;
        self.windows.iter().filter(held).map(|window| (window.start, window.end)).collect()
    }
}
