use std::collections::BTreeMap;
use std::fmt;

/// The value of one parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    Number(f64),
    Option(&'static str),
    Flag(bool),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Option(word) => f.write_str(word),
            Self::Flag(on) => write!(f, "{on}"),
        }
    }
}

/// All parameters of an algorithm with their checked values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values(BTreeMap<&'static str, Value>);

impl Values {
    pub(crate) fn new(values: BTreeMap<&'static str, Value>) -> Self {
        Self(values)
    }

    /// A number. A name that the algorithm's table does not have as a number is an error of that
    /// algorithm's code, found by the test that builds every one: it reads as NaN.
    pub fn number(&self, name: &str) -> f64 {
        match self.0.get(name) {
            Some(Value::Number(number)) => *number,
            _ => {
                debug_assert!(false, "no number '{name}' in the table");
                f64::NAN
            }
        }
    }

    /// A whole number that is not negative.
    pub fn whole(&self, name: &str) -> u64 {
        self.number(name) as u64
    }

    /// One of an algorithm's words; empty if the table has none of this name.
    pub fn option(&self, name: &str) -> &'static str {
        match self.0.get(name) {
            Some(Value::Option(word)) => word,
            _ => {
                debug_assert!(false, "no word '{name}' in the table");
                ""
            }
        }
    }

    /// A flag; false if the table has none of this name.
    pub fn flag(&self, name: &str) -> bool {
        match self.0.get(name) {
            Some(Value::Flag(on)) => *on,
            _ => {
                debug_assert!(false, "no flag '{name}' in the table");
                false
            }
        }
    }
}

/// Why a parameter was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// The algorithm has no such parameter.
    #[error("{algorithm} has no parameter '{parameter}'; known are {known}")]
    Unknown {
        /// Name of the algorithm.
        algorithm: &'static str,
        /// What was given.
        parameter: String,
        /// What there is.
        known: String,
    },
    /// The value has another type or lies outside of the range.
    #[error("{parameter} of {algorithm} is {given}; it must be {wanted}")]
    Refused {
        /// Name of the algorithm.
        algorithm: &'static str,
        /// Name of the parameter.
        parameter: &'static str,
        /// What was given.
        given: String,
        /// What may be.
        wanted: String,
    },
}
