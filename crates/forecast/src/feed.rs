use crate::{Boundary, Forecast, Foreseen, Probability};
use std::collections::VecDeque;
use units::Instant;

/// What the sender on a path knows ahead: the forecast issued last. Updates may come late or twice.
#[derive(Clone, Debug, PartialEq)]
pub struct Feed {
    least: Probability,
    known: Option<Forecast>,
    /// Its outages of at least that probability that were not over at the last [`Feed::advance`].
    ahead: VecDeque<Foreseen>,
}

impl Feed {
    /// Nothing is known yet; outages below the probability `least` will not be heeded.
    pub fn new(least: Probability) -> Self {
        Self { least, known: None, ahead: VecDeque::new() }
    }

    /// Replaces what was known, all of it; false when that was issued later: the update came out of
    /// order and is of no use.
    pub fn update(&mut self, forecast: Forecast) -> bool {
        if self.known.as_ref().is_some_and(|known| forecast.issued_at < known.issued_at) {
            return false;
        }
        self.ahead = forecast.outages(self.least).into();
        self.known = Some(forecast);
        true
    }

    /// Lets go of outages that are over at `now`; true if there was one ahead before.
    pub fn advance(&mut self, now: Instant) -> bool {
        let had_one = !self.ahead.is_empty();
        while self.ahead.front().is_some_and(|one| one.window.end <= now) {
            self.ahead.pop_front();
        }
        had_one
    }

    /// The outage that was under way or came next at the last [`Feed::advance`].
    pub fn outage(&self) -> Option<Foreseen> {
        self.ahead.front().copied()
    }

    /// The boundaries of the forecast issued last, in order; however likely.
    pub fn boundaries(&self) -> Vec<Boundary> {
        self.known.as_ref().map(Forecast::boundaries).unwrap_or_default()
    }

    /// The forecast issued last.
    pub fn forecast(&self) -> Option<&Forecast> {
        self.known.as_ref()
    }
}

/// Heeds what is as likely as not.
impl Default for Feed {
    fn default() -> Self {
        Self::new(Probability::EVEN)
    }
}
