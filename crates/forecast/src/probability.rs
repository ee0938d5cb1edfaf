use crate::ForecastError;

/// A probability: a number from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Probability(f64);

/// It is never NaN.
impl Eq for Probability {}

impl Probability {
    /// It does not happen.
    pub const NEVER: Self = Self(0.0);
    /// As likely as not: by default a foreseen outage counts from here on.
    pub const EVEN: Self = Self(0.5);
    /// It happens.
    pub const CERTAIN: Self = Self(1.0);

    /// The probability `value`; `None` below 0, above 1 and for NaN.
    pub fn new(value: f64) -> Option<Self> {
        (0.0..=1.0).contains(&value).then_some(Self(value))
    }

    /// As a number.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// The larger one.
    pub fn max(self, other: Self) -> Self {
        Self(self.0.max(other.0))
    }

    pub(crate) fn checked(field: &'static str, value: f64) -> Result<Self, ForecastError> {
        let allowed = "a probability from 0 to 1";
        Self::new(value).ok_or(ForecastError::OutOfRange { field, value, allowed })
    }
}
