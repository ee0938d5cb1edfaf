//! Connections that open, and close, when another one has come so far.
//!
//! A player opens a connection for the index of a film, leaves it when it has that, and plays over
//! the next one: when each opens depends on what the ones before brought.

use crate::config::{RunConfig, instant};
use crate::run::World;
use crate::{After, SimError};
use units::{Instant, PathId};

/// When an interface is there: until the second moment.
type Windows = Vec<(Instant, Instant)>;

/// What each connection of a run waits for.
#[derive(Debug, Default)]
pub(crate) struct Following {
    waiting: Vec<(usize, After)>,
    /// Who ends when who opens.
    ends_with: Vec<(usize, usize)>,
    /// Of each path of the run.
    present: Vec<Windows>,
}

impl Following {
    pub fn new(config: &RunConfig) -> Result<Self, SimError> {
        let mut found = Self::default();
        for (connection, one) in config.connections.iter().enumerate() {
            let other = |field, other| match other < config.connections.len() && other != connection
            {
                true => Ok(other),
                false => Err(SimError::Follows { connection, field, other }),
            };
            if let Some(after) = one.after {
                other("after", after.connection)?;
                found.waiting.push((connection, after));
            }
            if let Some(until) = one.until {
                found.ends_with.push((connection, other("until", until)?));
            }
        }
        if !found.waiting.is_empty() {
            found.present = config.paths.iter().map(windows).collect::<Result<_, _>>()?;
        }
        Ok(found)
    }

    /// Whether a connection has not been opened yet: what happens to its interfaces does not concern it.
    pub fn awaits(&self, connection: usize) -> bool {
        self.waiting.iter().any(|(one, _)| *one == connection)
    }

    /// Who opens now that a connection has delivered so much.
    fn take_next(&mut self, connection: usize, delivered_bytes: u64) -> Option<usize> {
        let is_due = |(_, after): &(usize, After)| {
            after.connection == connection && after.bytes <= delivered_bytes
        };
        let place = self.waiting.iter().position(is_due)?;
        Some(self.waiting.remove(place).0)
    }

    fn is_present(&self, path: usize, now: Instant) -> bool {
        self.present[path].iter().any(|(up, down)| *up <= now && now < *down)
    }
}

fn windows(path: &link::PathConfig) -> Result<Windows, SimError> {
    let window = |one: &link::UpWindow| {
        let down = one.end_s.map(|end_s| instant("present.end_s", end_s)).transpose()?;
        Ok((instant("present.start_s", one.start_s)?, down.unwrap_or(Instant::FAR_FUTURE)))
    };
    path.present.iter().map(window).collect()
}

impl World {
    /// Opens what waited for what a connection has delivered by now.
    pub(crate) fn follow(&mut self, now: Instant, place: usize) {
        if self.following.waiting.is_empty() {
            return;
        }
        let delivered_bytes = self.connections[place].receiver().delivered_bytes();
        while let Some(next) = self.following.take_next(place, delivered_bytes) {
            self.open(now, next);
            for (local, path) in self.connections[next].paths.clone().into_iter().enumerate() {
                if self.following.is_present(path, now) {
                    self.connections[next].client.end.path_up(now, PathId(local as u8));
                }
            }
            self.attend(now, next);
            let ended = self.following.ends_with.iter().filter(|(_, by)| *by == next);
            for one in ended.map(|(one, _)| *one).collect::<Vec<_>>() {
                self.close(now, one);
            }
        }
    }
}
