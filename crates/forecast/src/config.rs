//! Forecasts as JSON, in the seconds of a run: every number is checked here, once.

use crate::series::limit;
use crate::{Boundary, BoundaryKind, Forecast, ForecastError, Foreseen, Probability, Series};
use serde::{Deserialize, Serialize};
use units::{Duration, Instant, Window};

/// Most outages of a forecast.
const MAX_OUTAGES: usize = 1_000_000;
/// Most boundaries of a forecast.
const MAX_BOUNDARIES: usize = 1_000_000;
/// Most updates of a path in a run.
const MAX_UPDATES: usize = 100_000;

/// An outage as it is foreseen: [start, end).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForecastWindow {
    /// From here on.
    pub start_s: f64,
    /// Until here.
    pub end_s: f64,
    /// How likely it comes; certain by default.
    #[serde(default = "certain")]
    pub probability: f64,
}

fn certain() -> f64 {
    1.0
}

/// A moment at which the path may change, as it is foreseen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoundaryConfig {
    /// When.
    pub at_s: f64,
    /// At most this much earlier or later; exact by default.
    #[serde(default)]
    pub uncertainty_s: f64,
    /// Why; the edge of a slot by default.
    #[serde(default = "slot")]
    pub kind: BoundaryKind,
    /// How likely something changes; certain by default.
    #[serde(default = "certain")]
    pub probability: f64,
}

fn slot() -> BoundaryKind {
    BoundaryKind::Slot
}

/// A quantity ahead.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeriesConfig {
    /// When each row begins to hold, rising.
    pub times_s: Vec<f64>,
    /// Which quantile each column is, rising, from 0 to 1.
    pub quantiles: Vec<f64>,
    /// A row for each time.
    pub values: Vec<Vec<f64>>,
}

/// What is foreseen of a path.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ForecastConfig {
    /// When it was made; without it, when it arrives.
    pub issued_at_s: Option<f64>,
    /// Its end; without it, it has none.
    pub valid_until_s: Option<f64>,
    /// Outages, in any order.
    pub outages: Vec<ForecastWindow>,
    /// Moments at which the path may change, in any order.
    pub boundaries: Vec<BoundaryConfig>,
    /// Capacity from server to client, in Mbit/s.
    pub down_mbps: Option<SeriesConfig>,
    /// Capacity from client to server, in Mbit/s.
    pub up_mbps: Option<SeriesConfig>,
    /// Round-trip time, in ms.
    pub rtt_ms: Option<SeriesConfig>,
}

impl ForecastConfig {
    /// The forecast as it arrives at `arrives`.
    ///
    /// # Errors
    /// [`ForecastError`] with the first number that breaks a rule.
    pub fn build(&self, arrives: Instant) -> Result<Forecast, ForecastError> {
        let issued_at = match self.issued_at_s {
            Some(issued_at_s) => seconds("issued_at_s", issued_at_s)?,
            None => arrives,
        };
        let (issued_at_s, arrives_s) = (issued_at.as_secs_f64(), arrives.as_secs_f64());
        if issued_at > arrives {
            return Err(ForecastError::Early { arrives_s, issued_at_s });
        }
        let mut valid_until = Instant::FAR_FUTURE;
        if let Some(valid_until_s) = self.valid_until_s {
            valid_until = seconds("valid_until_s", valid_until_s)?;
            if valid_until <= issued_at {
                return Err(ForecastError::Expired { issued_at_s, valid_until_s });
            }
        }
        limit("outages", self.outages.len(), MAX_OUTAGES)?;
        limit("boundaries", self.boundaries.len(), MAX_BOUNDARIES)?;
        let outages = self.outages.iter().enumerate().map(|(index, one)| one.build(index));
        let boundaries = self.boundaries.iter().map(BoundaryConfig::build);
        let series =
            |config: &Option<SeriesConfig>| config.as_ref().map(SeriesConfig::build).transpose();
        Ok(Forecast {
            issued_at,
            valid_until,
            outages: outages.collect::<Result<_, _>>()?,
            boundaries: boundaries.collect::<Result<_, _>>()?,
            down_mbps: series(&self.down_mbps)?,
            up_mbps: series(&self.up_mbps)?,
            rtt_ms: series(&self.rtt_ms)?,
        })
    }
}

impl ForecastWindow {
    fn build(&self, index: usize) -> Result<Foreseen, ForecastError> {
        let Self { start_s, end_s, probability } = *self;
        let start = seconds("outages.start_s", start_s)?;
        let end = seconds("outages.end_s", end_s)?;
        let window = Window::new(start, end);
        let window = window.ok_or(ForecastError::Outage { index, start_s, end_s })?;
        let probability = Probability::checked("outages.probability", probability)?;
        Ok(Foreseen { window, probability })
    }
}

impl BoundaryConfig {
    fn build(&self) -> Result<Boundary, ForecastError> {
        let uncertainty = seconds("boundaries.uncertainty_s", self.uncertainty_s)?;
        Ok(Boundary {
            at: seconds("boundaries.at_s", self.at_s)?,
            uncertainty: uncertainty - Instant::ZERO,
            kind: self.kind,
            probability: Probability::checked("boundaries.probability", self.probability)?,
        })
    }
}

impl SeriesConfig {
    fn build(&self) -> Result<Series, ForecastError> {
        let times = self.times_s.iter().map(|time_s| seconds("times_s", *time_s));
        let quantiles = self.quantiles.iter().map(|one| Probability::checked("quantiles", *one));
        Series::new(
            times.collect::<Result<_, _>>()?,
            quantiles.collect::<Result<_, _>>()?,
            &self.values,
        )
    }
}

/// A forecast that arrives during a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpdateConfig {
    /// When the sender gets it.
    pub arrives_s: f64,
    /// What it says; it replaces everything that was known of the path.
    pub forecast: ForecastConfig,
}

/// A forecast, and when it arrives.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    /// When the sender gets it.
    pub arrives: Instant,
    /// What it says.
    pub forecast: Forecast,
}

impl Update {
    /// The same for a run that began so much later.
    #[must_use]
    pub fn later_by(self, shift: Duration) -> Self {
        Self { arrives: self.arrives + shift, forecast: self.forecast.later_by(shift) }
    }
}

/// The updates of a path in the order in which they arrive.
///
/// # Errors
/// [`ForecastError`] with the first number that breaks a rule.
pub fn updates(configs: &[UpdateConfig]) -> Result<Vec<Update>, ForecastError> {
    limit("updates", configs.len(), MAX_UPDATES)?;
    let update = |config: &UpdateConfig| {
        let arrives = seconds("arrives_s", config.arrives_s)?;
        Ok(Update { arrives, forecast: config.forecast.build(arrives)? })
    };
    let mut built: Vec<Update> = configs.iter().map(update).collect::<Result<_, _>>()?;
    built.sort_by_key(|update| update.arrives);
    Ok(built)
}

/// Seconds of a run as an instant, to the nearest nanosecond.
fn seconds(field: &'static str, value: f64) -> Result<Instant, ForecastError> {
    if (0.0..=1e9).contains(&value) {
        return Ok(Instant::from_nanos((value * 1e9).round() as u64));
    }
    Err(ForecastError::OutOfRange { field, value, allowed: "seconds from 0 to 1e9" })
}
