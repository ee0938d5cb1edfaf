//! Progressive players: one file, played while it comes.
//!
//! A player is driven by arrivals alone: how many bytes of the file are there in order, and when. What
//! happens between two arrivals follows from them, so a player needs no timer; [`Player::pass`] says
//! how far time has come.

mod clock;
mod discard;
pub(crate) mod lateness;
mod log;
mod wait;

pub use discard::Discard;
pub use log::{Counts, Event, Log, Row};
pub use wait::Wait;

use crate::{FrameTable, VideoError};
use recovery::BlockedTime;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use units::{Duration, Instant};

/// Which player.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Its clock runs on and it drops what comes late, as VLC does.
    #[default]
    Discard,
    /// It waits for what is missing, as mpv and browsers do.
    Wait,
}

impl Kind {
    /// A player that asks for the film at `now`.
    ///
    /// # Errors
    /// [`VideoError::Range`] for settings of no player.
    pub fn start(
        self,
        film: &FrameTable,
        settings: &Settings,
        now: Instant,
    ) -> Result<Box<dyn Player>, VideoError> {
        settings.check()?;
        Ok(match self {
            Self::Discard => Box::new(Discard::new(film, settings, now)),
            Self::Wait => Box::new(Wait::new(film, settings, now)),
        })
    }
}

/// What is set of a player; `None`: what its program does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Media that must be there for the start: 1.0 s for `discard` (VLC's `network-caching`), 1.5 s for
    /// `wait`.
    pub start_s: Option<f64>,
    /// Media that must be there after an underflow: 1.25 s, `wait` only (mpv's `cache-pause-wait` of 1 s
    /// and what mpv's demultiplexer needs on top).
    pub resume_s: Option<f64>,
    /// Pictures that the decoder holds back: 3 for `discard` (threads − 1 and the depth of reordering),
    /// none for `wait`.
    pub held_pictures: Option<u32>,
}

impl Settings {
    /// # Errors
    /// [`VideoError::Range`].
    pub fn check(&self) -> Result<(), VideoError> {
        for (field, given) in [("start_s", self.start_s), ("resume_s", self.resume_s)] {
            if let Some(value) = given {
                crate::error::within(field, value, (0.05, 600.0))?;
            }
        }
        let held = f64::from(self.held_pictures.unwrap_or(0));
        crate::error::within("held_pictures", held, (0.0, 64.0))
    }

    fn held(&self, default: u32) -> usize {
        self.held_pictures.unwrap_or(default) as usize
    }
}

/// A progressive player.
pub trait Player: Debug + Send {
    /// The first `received_bytes` of the file have arrived. A smaller number than before changes nothing.
    fn on_bytes(&mut self, now: Instant, received_bytes: u64);

    /// What comes now filled a hole: until then something had waited for it for so long. Called before
    /// [`Player::on_bytes`].
    fn on_blocked(&mut self, now: Instant, blocked: BlockedTime);

    /// Nothing more came until `now`.
    fn pass(&mut self, now: Instant);

    /// The player after its session, which is over at `end`, or when the film is if all of it is there:
    /// the last row says how things stand.
    fn closed(&self, end: Instant) -> Box<dyn Player>;

    /// What it plays.
    fn film(&self) -> &FrameTable;

    /// What was seen so far.
    fn log(&self) -> &Log;

    /// Totals so far.
    fn counts(&self) -> Counts;

    /// From the request to the first picture.
    fn startup(&self) -> Option<Duration>;

    /// When the last picture has been shown, if nothing more is missing.
    fn ends_at(&self) -> Option<Instant>;
}
