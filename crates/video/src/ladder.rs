//! Ladders: the qualities of a film in chunks, and the bytes of each.

use crate::VideoError;
use crate::error::within;

/// Most qualities of a ladder.
pub const MAX_QUALITIES: usize = 20;
/// Most chunks of a film.
pub const MAX_CHUNKS: usize = 50_000;
const MAX_MBPS: f64 = 10_000.0;

/// A film in chunks of equal length, each in several qualities.
#[derive(Clone, Debug, PartialEq)]
pub struct Ladder {
    chunk_s: f64,
    bitrates_mbps: Vec<f64>,
    /// Of each chunk in each quality.
    bytes: Vec<Vec<u64>>,
}

impl Ladder {
    /// Chunks with the sizes that a manifest gives.
    ///
    /// # Errors
    /// [`VideoError`] for bitrates that do not rise, a chunk without a size, or more than the limits.
    pub fn new(
        chunk_s: f64,
        bitrates_mbps: Vec<f64>,
        bytes: Vec<Vec<u64>>,
    ) -> Result<Self, VideoError> {
        within("chunk_s", chunk_s, (0.1, 60.0))?;
        let within_range = bitrates_mbps.iter().all(|rate| (1e-6..=MAX_MBPS).contains(rate));
        let rises = bitrates_mbps.windows(2).all(|pair| pair[0] < pair[1]);
        if bitrates_mbps.is_empty() || !within_range || !rises {
            return Err(VideoError::Ladder { most_mbps: MAX_MBPS });
        }
        if bitrates_mbps.len() > MAX_QUALITIES {
            return Err(VideoError::TooMany { what: "qualities of a ladder", most: MAX_QUALITIES });
        }
        within("the number of chunks", bytes.len() as f64, (1.0, MAX_CHUNKS as f64))?;
        let qualities = bitrates_mbps.len();
        let hole = |sizes: &Vec<u64>| sizes.len() != qualities || sizes.contains(&0);
        if let Some(chunk) = bytes.iter().position(hole) {
            return Err(VideoError::Hole { chunk, qualities });
        }
        Ok(Self { chunk_s, bitrates_mbps, bytes })
    }

    /// Chunks whose sizes are exactly their bitrates.
    ///
    /// # Errors
    /// As [`Ladder::new`].
    pub fn constant(
        chunk_s: f64,
        bitrates_mbps: Vec<f64>,
        chunks: usize,
    ) -> Result<Self, VideoError> {
        within("the number of chunks", chunks as f64, (1.0, MAX_CHUNKS as f64))?;
        let size = |rate: &f64| (rate * chunk_s * 125_000.0).round().max(1.0) as u64;
        let sizes: Vec<u64> = bitrates_mbps.iter().take(MAX_QUALITIES + 1).map(size).collect();
        Self::new(chunk_s, bitrates_mbps, vec![sizes; chunks])
    }

    /// Media in a chunk.
    pub fn chunk_s(&self) -> f64 {
        self.chunk_s
    }

    /// How many chunks the film has.
    pub fn chunks(&self) -> usize {
        self.bytes.len()
    }

    /// How many qualities each chunk has.
    pub fn qualities(&self) -> usize {
        self.bitrates_mbps.len()
    }

    /// The best quality.
    pub fn top(&self) -> usize {
        self.qualities() - 1
    }

    /// Nominal bitrate of a quality; of the best one if there is none such.
    pub fn mbps(&self, quality: usize) -> f64 {
        self.bitrates_mbps[quality.min(self.top())]
    }

    /// All of them, rising.
    pub fn bitrates_mbps(&self) -> &[f64] {
        &self.bitrates_mbps
    }

    /// Size of a chunk in a quality; 0 beyond the end of the film.
    pub fn bytes(&self, chunk: usize, quality: usize) -> u64 {
        self.bytes.get(chunk).map_or(0, |sizes| sizes[quality.min(sizes.len() - 1)])
    }

    /// The same in megabits.
    pub fn megabits(&self, chunk: usize, quality: usize) -> f64 {
        self.bytes(chunk, quality) as f64 * 8e-6
    }

    /// The largest object that can be asked for.
    pub fn largest_bytes(&self) -> u64 {
        self.bytes.iter().flatten().copied().max().unwrap_or(0)
    }
}
