//! Adaptive bitrate algorithms: which quality the next chunk is asked for in, and when.
//!
//! A new one is one file here, which describes itself in an `INFO`, and one line in `algorithm.rs`.

mod algorithm;
mod bba;
mod bola;
mod bola_e;
mod dynamic;
mod dynamic_dash;
mod errors;
mod estimate;
mod fixed;
mod foreseen;
mod mpc;
mod mpc_forecast;
mod mpc_handovers;
mod mpc_oracle;
mod plan;
mod robust_mpc;
mod throughput;

pub use algorithm::{Algorithm, Choice, build};
pub use estimate::{Estimate, Estimator};

use crate::{Ladder, Qoe};
use forecast::Forecast;
use std::fmt::Debug;
use units::Instant;

/// What an algorithm sees when it decides. Times are in seconds, rates in megabits per second.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The moment.
    pub now: Instant,
    /// Media there and not played.
    pub buffer_s: f64,
    /// Media that the player keeps at most.
    pub most_buffer_s: f64,
    /// The chunk that comes next, from 0.
    pub chunk: usize,
    /// Qualities and sizes of all chunks.
    pub ladder: &'a Ladder,
    /// What a session is judged by.
    pub qoe: &'a Qoe,
    /// Chunks that came whole, at most [`HISTORY`] of them, the last one last.
    pub past: &'a [Download],
    /// Moving averages over all of them; `None` before the first.
    pub estimate: Option<Estimate>,
    /// What is foreseen of the rate, if anything is.
    pub forecast: Option<&'a Forecast>,
}

/// How many past chunks an algorithm sees.
pub const HISTORY: usize = 32;

/// A chunk on its way, or there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Download {
    /// Its quality.
    pub quality: usize,
    /// Its size.
    pub bytes: u64,
    /// What of it has come.
    pub received_bytes: u64,
    /// From the request to the first byte.
    pub latency_s: f64,
    /// From the request to the last byte, or until now.
    pub elapsed_s: f64,
}

impl Download {
    /// Rate from the first byte on.
    pub fn mbps(&self) -> f64 {
        self.received_bytes as f64 * 8e-6 / (self.elapsed_s - self.latency_s).max(1e-9)
    }

    /// Rate with the wait for the first byte.
    pub fn mbps_with_latency(&self) -> f64 {
        self.received_bytes as f64 * 8e-6 / self.elapsed_s.max(1e-9)
    }
}

/// What an algorithm wants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wanted {
    /// Quality of the next chunk.
    pub quality: usize,
    /// Time to wait before the request.
    pub wait_s: f64,
}

impl Wanted {
    /// A quality, at once.
    pub fn now(quality: usize) -> Self {
        Self { quality, wait_s: 0.0 }
    }
}

/// An adaptive bitrate algorithm.
///
/// Contract: the player asks for the first chunk in [`Abr::first`], for each one after it as
/// [`Abr::choose`] says; a quality beyond the ladder is its best one.
pub trait Abr: Debug + Send {
    /// Quality of the first chunk.
    fn first(&mut self, _view: &View<'_>) -> usize {
        0
    }

    /// Quality of chunk `view.chunk`.
    fn choose(&mut self, view: &View<'_>) -> Wanted;

    /// A chunk is on its way: `Some(quality)` gives it up, and its rest is not wanted. The next
    /// [`Abr::choose`] is for the same chunk. `view.buffer_s` counts what was there at the request, less
    /// what was played since.
    fn give_up(&mut self, _download: &Download, _view: &View<'_>) -> Option<usize> {
        None
    }

    /// The player waited for room in its buffer.
    fn on_full(&mut self, _waited_s: f64) {}

    /// A chunk is there (`abandoned` is `None`), or was given up for that quality. `view.past` does not
    /// have it yet.
    fn on_chunk(&mut self, _download: &Download, _abandoned: Option<usize>, _view: &View<'_>) {}
}

/// The best quality whose chunks come as fast as they are played at this rate, latency included
/// (Sabre: `quality_from_throughput`).
pub(crate) fn sustained(view: &View<'_>, mbps: f64, latency_s: f64) -> usize {
    let chunk_s = view.ladder.chunk_s();
    let fits = |quality: &usize| latency_s + chunk_s * view.ladder.mbps(*quality) / mbps <= chunk_s;
    (1..view.ladder.qualities()).take_while(fits).last().unwrap_or(0)
}
